import Glibc

/// A case file: lines of words, nested by indentation. Tests/Cases/README.md describes the format.
struct Script {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// A word: text, "quoted text", or call(items, ...); optionally with a label: label=word.
    struct Word {
        var label: String?
        var text: String
        var isQuoted = false
        /// Of a call.
        var items: [Word]?
    }

    final class Line: Sendable {
        let number: Int
        /// Of "name = statement".
        let result: String?
        let words: [Word]
        /// Of "| text".
        let raw: String?
        let below: [Line]

        init(_ number: Int, _ result: String?, _ words: [Word], _ raw: String?, _ below: [Line]) {
            (self.number, self.result, self.words, self.raw, self.below) = (number, result, words, raw, below)
        }

        var verb: String { words.first.flatMap { $0.isQuoted ? nil : $0.text } ?? "" }
    }

    let lines: [Line]

    init(path: String) throws {
        let all = try Self.texts(of: path)
        let parts = all.enumerated().compactMap { index, text -> (number: Int, indent: Int, text: String)? in
            let rest = text.drop { $0 == " " }
            return rest.isEmpty || rest.first == "#" ? nil : (index + 1, text.count - rest.count, String(rest))
        }
        var at = 0
        lines = try Self.block(parts, &at, 0, path)
        guard at == parts.count else {
            throw Problem(description: "\(path):\(parts[at].number): lines are indented by four spaces")
        }
    }

    /// The lines of a file.
    static func texts(of path: String) throws -> [Substring] {
        guard let file = fopen(path, "r") else { throw Problem(description: "\(path) cannot be read") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func block(
        _ parts: [(number: Int, indent: Int, text: String)], _ at: inout Int, _ indent: Int, _ path: String
    ) throws -> [Line] {
        var lines: [Line] = []
        while at < parts.count, parts[at].indent == indent {
            let (number, _, text) = parts[at]
            at += 1
            do {
                var scanner = Scanner(text)
                let (result, words, raw) = try scanner.line()
                lines.append(Line(number, result, words, raw, try block(parts, &at, indent + 4, path)))
            } catch let problem as Problem where !problem.description.hasPrefix(path) {
                throw Problem(description: "\(path):\(number): \(problem)")
            }
        }
        return lines
    }
}

/// Reads one line.
private struct Scanner {
    private let text: [Character]
    private var at = 0

    init(_ text: String) { self.text = Array(text) }

    private var here: Character? { at < text.count ? text[at] : nil }

    mutating func line() throws -> (result: String?, words: [Script.Word], raw: String?) {
        if here == "|" {
            return (
                nil, [],
                String(
                    text.dropFirst().drop { $0 == " " }.count == text.count - 1
                        ? text.dropFirst() : text.dropFirst(2))
            )
        }
        var result: String?
        var words: [Script.Word] = []
        while let letter = here, letter != "#" {
            if letter == "=", words.count == 1, result == nil {
                result = words.removeFirst().text
                at += 1
            } else {
                words.append(try word())
            }
            guard here == nil || here == " " else { throw wrong("a space is wanted") }
            skip()
        }
        return (result, words, nil)
    }

    private mutating func skip() { while here == " " { at += 1 } }

    private func wrong(_ what: String) -> Script.Problem {
        Script.Problem(description: "\(what): \(String(text[min(at, text.count)...]))")
    }

    private mutating func word() throws -> Script.Word {
        if here == "\"" { return try quoted() }
        let start = at
        while let letter = here, !" \t(),\"=".contains(letter) { at += 1 }
        guard at > start else { throw wrong("a word is wanted") }
        let text = String(text[start..<at])
        if here == "=", at + 1 < self.text.count, self.text[at + 1] != " " {
            at += 1
            var word = try word()
            word.label = text
            return word
        }
        guard here == "(" else { return Script.Word(text: text) }
        at += 1
        skip()
        var items: [Script.Word] = []
        while here != ")" {
            items.append(try word())
            skip()
            if here == "," {
                at += 1
                skip()
            } else if here != ")" {
                throw wrong("',' or ')' is wanted")
            }
        }
        at += 1
        return Script.Word(text: text, items: items)
    }

    private mutating func quoted() throws -> Script.Word {
        var word = Script.Word(text: "", isQuoted: true)
        at += 1
        while let letter = here, letter != "\"" {
            at += 1
            if letter == "\\", let next = here {
                word.text.append(next == "n" ? "\n" : next)
                at += 1
            } else {
                word.text.append(letter)
            }
        }
        guard here != nil else { throw wrong("a quoted text ends on its line") }
        at += 1
        return word
    }
}

extension Script.Line {
    /// The text after the labels' "=", or nil.
    func labelled(_ label: String) -> String? { words.first { $0.label == label }?.text }

    func says(_ word: String, from first: Int) -> Bool {
        words.dropFirst(first).contains { $0.label == nil && $0.text == word }
    }

    /// The lines "| text" below, joined.
    var text: String { below.compactMap(\.raw).map { $0 + "\n" }.joined() }
}
