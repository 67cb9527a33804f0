/// Keys may have any text in them: it becomes that of literals and comments, and never code.
extension KeyFunctions {
    static func cLiteral(_ text: String) -> String {
        literal(text) { "\\" + String(repeating: "0", count: 3 - String($0, radix: 8).count) + String($0, radix: 8) }
    }
    static func swiftLiteral(_ text: String) -> String { literal(text) { "\\u{\(String($0, radix: 16))}" } }
    static func pythonLiteral(_ text: String) -> String {
        literal(text) { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    }

    /// In quotes; control characters as `escaped` writes their number.
    private static func literal(_ text: String, _ escaped: (UInt32) -> String) -> String {
        var made = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": made += "\\\""
            case "\\": made += "\\\\"
            case _ where isControl(scalar): made += escaped(scalar.value)
            default: made.unicodeScalars.append(scalar)
            }
        }
        return made + "\""
    }

    /// On one line, and without what ends a comment.
    static func comment(_ text: String) -> String {
        var made = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                made += " "
            } else {
                if scalar == "/" && made.hasSuffix("*") || scalar == "*" && made.hasSuffix("/") { made += " " }
                made.unicodeScalars.append(scalar)
            }
        }
        return made
    }
    /// The same inside of a string that documents something.
    static func documentation(_ text: String) -> String { String(pythonLiteral(comment(text)).dropFirst().dropLast()) }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 32 || scalar.value == 127 }
}
