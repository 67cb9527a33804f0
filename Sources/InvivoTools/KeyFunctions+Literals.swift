/// Escapes keys for literals and comments. Keys may contain any character, and must never become code.
extension KeyFunctions {
    static func cLiteral(_ text: String) -> String {
        literal(text) { "\\" + String(repeating: "0", count: 3 - String($0, radix: 8).count) + String($0, radix: 8) }
    }
    static func swiftLiteral(_ text: String) -> String { literal(text) { "\\u{\(String($0, radix: 16))}" } }
    static func pythonLiteral(_ text: String) -> String {
        literal(text) { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    }

    /// A quoted literal, in which `escaped` writes the control characters.
    private static func literal(_ text: String, _ escaped: (UInt32) -> String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case _ where isControl(scalar): literal += escaped(scalar.value)
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// The text on one line, without anything that begins or ends a comment.
    static func comment(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                line += " "
            } else {
                if scalar == "/" && line.hasSuffix("*") || scalar == "*" && line.hasSuffix("/") { line += " " }
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
    /// `comment` inside a Python documentation string.
    static func documentation(_ text: String) -> String { String(pythonLiteral(comment(text)).dropFirst().dropLast()) }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 32 || scalar.value == 127 }
}
