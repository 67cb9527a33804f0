internal import InvivoBase
internal import InvivoReload

extension KeyFunctions {
    /// A Swift source file.
    public var swift: String {
        var text = "// Written by `invivo keys`; do not edit. A function for each key, by assembly.\n\nimport Invivo\n"
        for name in typeNames {
            let members = types.first { $0.name == name }?.members
            text += """

                /// An object of the type \(Self.comment(name)).
                public struct \(Self.handle(name)): Sendable {
                    public let object: Object
                    public init(object: Object) { self.object = object }

                """
            for other in members?.supertypes ?? [] where other != name {
                text += "    public var as\(Self.upper(other)): \(Self.handle(other)) { .init(object: object) }\n"
            }
            text += "}\n"
        }
        var types: Set = ["RootKeys"]
        for (assembly, functions) in Dictionary(grouping: functions, by: \.assembly).sorted(by: { $0.key < $1.key }) {
            var type = assembly.isEmpty ? "RootKeys" : "\(Self.type(assembly))Keys"
            var name = assembly.isEmpty ? "rootKeys" : "\(Self.camel(assembly))Keys"
            if !assembly.isEmpty && !types.insert(type).inserted {
                // The names of two assemblies differ only in their underscores.
                type = Self.identifier(assembly) + "_Keys"
                name = Self.identifier(assembly) + "_keys"
            }
            var members: Set<String> = []
            let named = functions.map { function -> (function: Function, member: String) in
                let member = Self.camel(function.member)
                let isTaken = !members.insert(member).inserted
                return (function, Self.quoted(isTaken ? Self.identifier(function.member) : member))
            }
            text += """

                extension Runtime {
                    /// \(assembly.isEmpty ? "Keys without an assembly." : "The keys of the assembly \(Self.comment(assembly)).")
                    public var \(name): \(type) { \(type)(runtime: self) }
                }

                public struct \(type): Sendable {
                    let runtime: Runtime

                    private enum Known {

                """
            for (function, member) in named {
                text += "        static let \(member) = WrittenKey(\(Self.swiftLiteral(function.key)))\n"
            }
            text += "    }\n"
            for (function, member) in named { text += "\n" + swift(function, member) }
            text += "}\n"
        }
        return text
    }

    private func swift(_ function: Function, _ member: String) -> String {
        let names = Self.names(function.parameters, reserved: ["runtime"])
        let parameters = zip(names, function.parameters).map { name, parameter in
            "\(Self.quoted(name)): \(Self.swiftType(parameter))\(parameter.isOptional ? "?" : "")\(Self.swiftDefault(parameter))"
        }
        let values = zip(names, function.parameters).map { name, parameter in
            let name = Self.quoted(name)
            guard parameter.kind == .object, parameter.typeName != nil else { return name }
            return parameter.isOptional ? "\(name)?.object" : "\(name).object"
        }
        let result = function.type.isEmpty ? "Object" : Self.handle(function.type)
        let call =
            "runtime.\(function.isNullable ? "objectIfAny" : "object")(Known.\(member), with: [\(values.joined(separator: ", "))])"
        let body =
            switch (function.type.isEmpty, function.isNullable) {
            case (true, _): "try \(call)"
            case (false, false): "\(result)(object: try \(call))"
            case (false, true): "try \(call).map(\(result).init)"
            }
        return """
                /// `\(Self.comment(function.key))`: \(Self.comment(function.summary)).
                public func \(member)(\(parameters.joined(separator: ", "))) throws(InvivoError)
                    -> \(result)\(function.isNullable ? "?" : "")
                {
                    \(body)
                }

            """
    }

    /// The default value of a parameter, such as " = 60". Empty if it has no literal: the caller then passes the value.
    private static func swiftDefault(_ parameter: Signature.Parameter) -> String {
        guard let value = parameter.defaultValue else { return parameter.isOptional ? " = nil" : "" }
        guard isLiteral(parameter) else { return "" }
        return switch value {
        case .bool(let boolean): " = \(boolean)"
        case .string(let text): " = \(swiftLiteral(text))"
        default: " = \(number(value))"
        }
    }

    private static func swiftType(_ parameter: Signature.Parameter) -> String {
        switch parameter.kind {
        case .bool: "Bool"
        case .int8: "Int8"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int64"
        case .uint8: "UInt8"
        case .uint16: "UInt16"
        case .uint32: "UInt32"
        case .uint64: "UInt64"
        case .float: "Float"
        case .double: "Double"
        case .string: "String"
        case .object: parameter.typeName.map(handle) ?? "Object"
        case .type: "TypeReference"
        case .callable: "Callable"
        default: "InvivoValue"
        }
    }

    private static func handle(_ type: String) -> String { "\(Self.type(type))Handle" }

    /// The name; in backticks if it is a keyword.
    private static func quoted(_ name: String) -> String { swiftKeywords.contains(name) ? "`\(name)`" : name }

    /// `left.voice_one` as `leftVoiceOne`.
    private static func camel(_ name: String) -> String {
        let parts = identifier(name).split(separator: "_")
        guard let first = parts.first else { return identifier(name) + "_" }
        return withoutLeadingDigit(
            first.prefix(1).lowercased() + first.dropFirst() + parts.dropFirst().map { upper(String($0)) }.joined())
    }

    /// `left.voice_one` as `LeftVoiceOne`.
    private static func type(_ name: String) -> String {
        let type = upper(name)
        return type.isEmpty ? identifier(name) : withoutLeadingDigit(type)
    }

    private static func upper(_ name: String) -> String {
        identifier(name).split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The name; with an underscore in front if it begins with a digit.
    private static func withoutLeadingDigit(_ name: String) -> String {
        name.first?.isNumber == true ? "_" + name : name
    }

    private static let swiftKeywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "init",
        "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat",
        "rethrows", "return", "self", "Self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
        "true", "try", "typealias", "var", "where", "while",
    ]
}
