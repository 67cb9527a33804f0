import ArgumentParser
import Invivo
import InvivoSpec
import Synchronization

/// The errors that a command has found, and their output: as lines, or as JSON.
struct Findings {
    /// The version of the JSON form. Members are only added to it; any other change has another number.
    static let version = 1

    let output: Output
    /// Whether one JSON object on standard output replaces all lines.
    let asJson: Bool
    /// Nil for commands that report errors alone.
    var warnings: Warnings?

    /// Reports an entry of the log: as a line at once, or in the JSON object.
    func report(_ entry: LogEntry) {
        if asJson {
            warnings?.add(entry.json)
        } else {
            output.problem(entry.diagnostic)
        }
    }

    /// Reports errors. Returns the status of the process.
    func report(_ error: InvivoError) -> ExitCode {
        if asJson {
            output.line(json(error.errors.map(\.json)))
        } else {
            output.problem(error)
        }
        return ExitCode(2)
    }

    /// Reports a generated file that is out of date. Returns the status of the process.
    func report(outdated file: String, _ remedy: String) -> ExitCode {
        if asJson {
            let stale = InvivoError(.stale, "the file is out of date: \(remedy)", file: file)
            output.line(json([stale.json]))
        } else {
            output.problem("\(file): error: the file is out of date: \(remedy)")
        }
        return ExitCode(1)
    }

    /// Reports that there is no error. The lines of `text` are shown without JSON.
    func report(success text: [String] = [], unread: [UnreadValue]? = nil) {
        if asJson {
            output.line(json([], unread: unread))
        } else {
            for line in text { output.line(line) }
        }
    }

    private func json(_ errors: [String], unread: [UnreadValue]? = nil) -> String {
        var members = [("version", "\(Self.version)"), ("errors", jsonList(errors))]
        if let warnings { members.append(("warnings", jsonList(warnings.all))) }
        if let unread { members.append(("unread", jsonList(unread.map(\.json)))) }
        return jsonObject(members)
    }
}

/// The warnings of a check as JSON objects, in the order in which they were logged.
final class Warnings: Sendable {
    private let found = Mutex<[String]>([])

    func add(_ warning: String) { found.withLock { $0.append(warning) } }
    var all: [String] { found.withLock { $0 } }
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

extension LogEntry {
    /// `FILE:LINE:COLUMN: warning: MESSAGE`, or `invivo: warning: MESSAGE` without a file.
    fileprivate var diagnostic: String {
        let (place, rest) = parts
        return place.isEmpty ? "invivo: \(self)" : "\(place)\(level): \(rest)"
    }

    fileprivate var json: String {
        jsonObject([
            ("file", jsonText(file)), ("line", jsonNumber(number("line"))), ("column", jsonNumber(number("column"))),
            ("message", jsonText(parts.rest)),
        ])
    }

    /// The source location with ": " at its end, and the rest of the message.
    private var parts: (place: String, rest: String) {
        let numbers = [number("line"), number("column")].prefix { $0 > 0 }.map { "\($0):" }.joined()
        let place = file.isEmpty ? "" : "\(file):\(numbers) "
        return message.hasPrefix(place) ? (place, String(message.dropFirst(place.count))) : ("", message)
    }

    private var file: String { if case .string(let name)? = fields["file"] { name } else { "" } }
    private func number(_ name: String) -> Int { if case .int64(let number)? = fields[name] { Int(number) } else { 0 } }
}

private func jsonObject(_ members: [(name: String, value: String)]) -> String {
    "{" + members.map { "\"\($0.name)\": \($0.value)" }.joined(separator: ", ") + "}"
}

private func jsonList(_ items: [String]) -> String { "[\(items.joined(separator: ", "))]" }

/// null stands for a number that is unknown.
private func jsonNumber(_ number: Int) -> String { number > 0 ? "\(number)" : "null" }

/// null stands for a string that is missing.
private func jsonText(_ text: some StringProtocol) -> String {
    text.isEmpty ? "null" : SpecWriter.doubleQuoted(String(text))
}
