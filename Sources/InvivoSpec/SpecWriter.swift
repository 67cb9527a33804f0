public import InvivoBase

/// Writes a tree as text. Reading the text returns an equal tree, except for source locations.
public enum SpecWriter {
    /// Block style, two blanks a level, a line break at the end.
    public static func yaml(_ node: SpecNode) -> String {
        var writer = YamlWriter()
        writer.root(node)
        return writer.out
    }

    /// On one line, without blanks. Fails with `.range` for infinities and NaN, which JSON cannot say.
    public static func json(_ node: SpecNode) throws(Failure) -> String {
        var out = ""
        try json(node, SpecPath(), &out)
        return out
    }

    private static func json(_ node: SpecNode, _ path: SpecPath, _ out: inout String) throws(Failure) {
        switch node.content {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += String(value)
        case .unsigned(let value): out += String(value)
        case .number(let value):
            guard value.isFinite else {
                throw Failure(.range, "JSON cannot say the number \(value)", path: path.text, at: node.location)
            }
            out += value.description
        case .text(let text):
            guard node.form == nil else {
                throw Failure(
                    .unsupported,
                    "JSON cannot say \(quoted(text)) without quotes: its value may be a number; write YAML, or put the value in "
                        + "quotes",
                    path: path.text, at: node.location)
            }
            out += doubleQuoted(text)
        case .list(let items):
            out += "["
            for (index, item) in items.enumerated() {
                if index > 0 { out += "," }
                try json(item, path.item(index), &out)
            }
            out += "]"
        case .map(let entries):
            out += "{"
            for (index, entry) in entries.enumerated() {
                if index > 0 { out += "," }
                out += doubleQuoted(entry.key) + ":"
                try json(entry.value, path.key(entry.key), &out)
            }
            out += "}"
        }
    }

    /// In double quotes, in a form that JSON and YAML read alike.
    public static func doubleQuoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            // Controls, the separators that YAML 1.1 took for line ends, the byte order mark and what libyaml refuses.
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{FFFE}", "\u{FFFF}":
                out += "\\u" + hexadecimal(scalar.value, digits: 4)
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}

/// The block style of YAML.
private struct YamlWriter {
    var out = ""

    mutating func root(_ node: SpecNode) {
        if isBlock(node) { block(node, indent: 0) } else { out += flow(node) + "\n" }
    }

    private func isBlock(_ node: SpecNode) -> Bool {
        switch node.content {
        case .list(let items): !items.isEmpty
        case .map(let entries): !entries.isEmpty
        default: false
        }
    }

    private mutating func block(_ node: SpecNode, indent: Int) {
        let margin = String(repeating: " ", count: indent)
        for item in node.items ?? [] {
            out += margin + "-"
            after(item, indent: indent)
        }
        for entry in node.entries ?? [] {
            let key = scalar(entry.key)
            // A key of more than 1024 scalars must be announced.
            let isLong = key.utf8.count > 1000
            out += isLong ? "\(margin)? \(key)\n\(margin):" : "\(margin)\(key):"
            after(entry.value, indent: indent)
        }
    }

    private mutating func after(_ node: SpecNode, indent: Int) {
        if isBlock(node) {
            out += "\n"
            block(node, indent: indent + 2)
        } else {
            out += " " + flow(node, indent: indent) + "\n"
        }
    }

    private func flow(_ node: SpecNode, indent: Int = 0) -> String {
        switch node.content {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): number(value)
        case .text(let text): written(text, node.form, indent: indent)
        case .list: "[]"
        case .map: "{}"
        }
    }

    private func written(_ text: String, _ form: ValueForm?, indent: Int) -> String {
        switch form {
        case nil: scalar(text)
        case .plain?: plain(text, indent: indent)
        case .tagged(let tag)?: "!!\(tag) \(SpecWriter.doubleQuoted(text))"
        }
    }

    /// A plain scalar as it was. A group of line breaks has one more than its value, because a single one is read as a blank.
    private func plain(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent + 2)
        var out = ""
        var isAfterBreak = false
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                out += isAfterBreak ? "\n" : "\n\n"
            } else {
                if isAfterBreak { out += margin }
                out.unicodeScalars.append(scalar)
            }
            isAfterBreak = scalar == "\n"
        }
        return out
    }

    private func number(_ value: Double) -> String {
        if value.isNaN { return ".nan" }
        if value.isInfinite { return value < 0 ? "-.inf" : ".inf" }
        return value.description
    }

    /// Returns a plain scalar if no reader can take it for another value, otherwise one in double quotes.
    private func scalar(_ text: String) -> String {
        var text = text
        let isPlain = text.withUTF8 { bytes in
            guard let first = bytes.first, isLetter(first) else { return false }
            guard bytes.allSatisfy({ isLetter($0) || NumberText.isDigit($0) || $0 == 0x2E || $0 == 0x2D }) else {
                return false
            }
            if case .text = CoreSchema.resolve(bytes) { return true }
            return false
        }
        if ["y", "n", "yes", "no", "on", "off"].contains(text.lowercased()) { return SpecWriter.doubleQuoted(text) }
        return isPlain ? text : SpecWriter.doubleQuoted(text)
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: byte == UInt8(ascii: "_")
        }
    }
}
