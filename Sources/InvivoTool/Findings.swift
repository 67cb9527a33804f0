import ArgumentParser
import Invivo

/// The errors that a command has found, and their output: as lines, or as JSON.
struct Findings {
    /// The version of the JSON form. Members are only added to it; any other change has another number.
    static let version = 1

    let output: Output
    /// Whether one JSON object on standard output replaces all lines.
    let asJson: Bool

    /// Reports errors. Returns the status of the process.
    func report(_ error: InvivoError) -> ExitCode {
        if asJson {
            output.line(Self.json(error.errors.map(\.json)))
        } else {
            output.problem(error)
        }
        return ExitCode(2)
    }

    /// Reports a generated file that is out of date. Returns the status of the process.
    func report(outdated file: String, _ remedy: String) -> ExitCode {
        if asJson {
            let stale = InvivoError(.stale, "the file is out of date: \(remedy)", file: file)
            output.line(Self.json([stale.json]))
        } else {
            output.problem("\(file): error: the file is out of date: \(remedy)")
        }
        return ExitCode(1)
    }

    /// Reports that there is no error. The lines of `text` are shown without JSON.
    func report(success text: [String] = [], unread: [UnreadValue]? = nil) {
        if asJson {
            output.line(Self.json([], unread: unread))
        } else {
            for line in text { output.line(line) }
        }
    }

    private static func json(_ errors: [String], unread: [UnreadValue]? = nil) -> String {
        let values = unread.map { ", \"unread\": [\($0.map(\.json).joined(separator: ", "))]" } ?? ""
        return "{\"version\": \(version), \"errors\": [\(errors.joined(separator: ", "))]\(values)}"
    }
}

/// A value of the configuration that nothing reads: a line "FILE:LINE:COLUMN: PATH".
struct UnreadValue {
    private let file: Substring
    private let numbers: [Int]
    private let path: Substring

    init(_ line: Substring) {
        if let match = line.firstMatch(of: #/:([0-9]+):([0-9]+): /#) {
            file = line[..<match.range.lowerBound]
            numbers = [match.1, match.2].compactMap { Int($0) }
            path = line[match.range.upperBound...]
        } else if let match = line.firstMatch(of: #/: /#) {
            (file, numbers, path) = (line[..<match.range.lowerBound], [], line[match.range.upperBound...])
        } else {
            (file, numbers, path) = ("", [], line)
        }
    }

    fileprivate var json: String {
        jsonObject([
            ("file", jsonText(file)), ("line", jsonNumber(numbers.first ?? 0)),
            ("column", jsonNumber(numbers.last ?? 0)), ("path", jsonText(path)),
        ])
    }
}

extension InvivoError {
    /// One line as compilers write it: `FILE:LINE:COLUMN: error: PATH: MESSAGE [RULE]`, or `invivo: error: ...` without a file.
    var diagnostic: String {
        let (place, rest) = parts
        return "\(place.isEmpty ? "invivo: " : place)error: \(rest)" + (rule.isEmpty ? "" : " [\(rule)]")
    }

    /// The source location with ": " at its end, and the rest of the text.
    private var parts: (place: String, rest: String) {
        var place = file.isEmpty ? "" : "\(file): "
        if !file.isEmpty && line > 0 { place = column > 0 ? "\(file):\(line):\(column): " : "\(file):\(line): " }
        let text = description
        return text.hasPrefix(place) ? (place, String(text.dropFirst(place.count))) : ("", text)
    }

    fileprivate var json: String {
        let rest = parts.rest
        let prefix = path.isEmpty ? "" : "\(path): "
        return jsonObject([
            ("file", jsonText(file)), ("line", jsonNumber(line)), ("column", jsonNumber(column)),
            ("path", jsonText(path)), ("code", jsonText(codeName)), ("rule", jsonText(rule)),
            ("message", jsonText(rest.hasPrefix(prefix) ? String(rest.dropFirst(prefix.count)) : rest)),
        ])
    }

    /// The name of the status without its prefix, such as `not_found`.
    private var codeName: String {
        code.description.reduce(into: "") { name, letter in
            name += letter.isUppercase ? "_\(letter.lowercased())" : String(letter)
        }
    }
}

private func jsonObject(_ members: [(name: String, value: String)]) -> String {
    "{" + members.map { "\"\($0.name)\": \($0.value)" }.joined(separator: ", ") + "}"
}

/// null stands for a number that is unknown.
private func jsonNumber(_ number: Int) -> String { number > 0 ? "\(number)" : "null" }

/// null stands for a text that is missing.
private func jsonText(_ text: some StringProtocol) -> String {
    guard !text.isEmpty else { return "null" }
    var written = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": written += "\\\""
        case "\\": written += "\\\\"
        case "\n": written += "\\n"
        case "\r": written += "\\r"
        case "\t": written += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16)
            written += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: written.unicodeScalars.append(scalar)
        }
    }
    return written + "\""
}
