internal import InvivoBase

/// Regular expressions for strings that stand for values. ECMAScript and Python interpret them in the same way.
enum SchemaPatterns {
    /// Strings whose value depends on an environment variable, or on another file.
    static let open = #"(?:^|[^$])\$\{|^file:(?!:|//)"#

    private static let number = #"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"#
    private static let blanks = #"[ \t]*"#

    static let percent = "^\(number)\(blanks)%$"
    static let decibel = "^(?:\(number)\(blanks)dB|-inf ?dB)$"
    static let base64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
    static let plainNumber = "^(?:\(number)|0x[0-9a-fA-F]+|0o[0-7]+)$"
    static let plainInteger = #"^(?:[-+]?[0-9]+(?:\.0*)?|0x[0-9a-fA-F]+|0o[0-7]+)$"#
    static let bool = "^(?:true|false)$"
    static let size = "^\(blanks)\(number)\(blanks)[xX\u{D7}]\(blanks)\(number)\(blanks)$"
    static let point = "^\(blanks)\(number)\(blanks),\(blanks)\(number)\(blanks)$"
    /// A path of the configuration.
    static let path = #"^[^.]+(?:\.[^.]+)*$"#
    /// A path of the configuration with at most 64 names.
    static let configKey = #"^[^.]+(?:\.[^.]+){0,63}$"#

    /// Numbers with units of time, in descending order of the units.
    static let duration: String = {
        let parts = ["d", "h", "min", "s", "ms", "(?:us|\u{B5}s|\u{3BC}s)", "ns"]
        return "^\(blanks)(?=[-+.0-9])(?!.*[dhns][ \\t]*-)"
            + parts.map { "(?:\(number)\(blanks)\($0)\(blanks))?" }.joined() + "$"
    }()

    /// A number with a unit, which may have a prefix such as k.
    static func quantity(_ unit: String) -> String { "^\(number)\(blanks)[pnu\u{B5}\u{3BC}mkMGT]?\(escaped(unit))$" }

    /// Numbers with a unit, as properties accept them.
    static func quantities(_ unit: String) -> [String] {
        unit.isEmpty ? [] : PropertyCodec.seconds(in: unit) == nil ? [quantity(unit)] : [quantity(unit), duration]
    }

    static func color(hasAlpha: Bool) -> String {
        let digit = "[0-9a-fA-F]"
        let forms =
            hasAlpha
            ? "\(digit){3,4}|\(digit){6}|\(digit){8}" : "\(digit){3}|\(digit){3}[fF]|\(digit){6}|\(digit){6}[fF]{2}"
        let names = colors.map { name in
            name.map { "[\($0)\($0.uppercased())]" }.joined()
        }
        return "^(?:#(?:\(forms))|\(names.joined(separator: "|")))$"
    }

    private static let colors = [
        "black", "silver", "gray", "white", "maroon", "red", "purple", "fuchsia", "green", "lime", "olive", "yellow",
        "navy", "blue", "teal", "aqua",
    ]

    /// An expression that matches exactly this text.
    static func escaped(_ text: String) -> String {
        text.map { #"\^$.|?*+()[]{}/"#.contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    /// An expression that matches if one of these does.
    static func any(_ patterns: [String]) -> String { patterns.joined(separator: "|") }
}
