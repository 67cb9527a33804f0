internal import InvivoBase
internal import InvivoReload

extension KeyFunctions {
    /// A Python module: a class for each assembly, whose methods mypy checks.
    public var python: String {
        var text = """
            \"""Written by `invivo keys`; do not edit. A class for each assembly, with a method for each key.\"""

            from __future__ import annotations

            from typing import TYPE_CHECKING, Any

            import invivo

            if TYPE_CHECKING:

            """
        let known = Dictionary(types.map { ($0.name, $0.members) }, uniquingKeysWith: { a, _ in a })
        // Base classes come before classes derived from them.
        var written: Set<String> = []
        var remaining = typeNames
        while !remaining.isEmpty {
            let ready = remaining.filter { name in
                (known[name]?.supertypes ?? []).allSatisfy { $0 == name || written.contains($0) }
            }
            // Types whose supertypes form a cycle have no such order.
            for name in ready.isEmpty ? remaining : ready {
                let bases = known[name]?.supertypes.filter { $0 != name && written.contains($0) } ?? []
                text += python(name, Self.withoutRepetition(bases, known), known[name])
                written.insert(name)
            }
            remaining.removeAll { written.contains($0) }
        }
        if typeNames.isEmpty { text += "    pass\n" }
        for (assembly, functions) in Dictionary(grouping: functions, by: \.assembly).sorted(by: { $0.key < $1.key }) {
            text += """


                class \(assembly.isEmpty ? "RootKeys" : Self.pythonClass(assembly) + "Keys"):
                    def __init__(self, runtime: invivo.Runtime) -> None:
                        self._runtime = runtime

                """
            for function in functions { text += "\n" + python(function) }
        }
        return text
    }

    /// Removes bases that other bases derive from: Python could not linearize them.
    private static func withoutRepetition(_ bases: [String], _ known: [String: TypeMembers]) -> [String] {
        bases.filter { base in !bases.contains { $0 != base && known[$0]?.supertypes.contains(base) == true } }
    }

    private func python(_ name: String, _ bases: [String], _ members: TypeMembers?) -> String {
        // Not a subclass of invivo.Object, whose dynamic attributes would hide misspelled members.
        let from = bases.isEmpty ? "" : "(\(bases.map(Self.pythonClass).joined(separator: ", ")))"
        var text = "\n    class \(Self.pythonClass(name))\(from):"
        let properties = members?.properties ?? []
        let methods = members?.methods ?? []
        guard !properties.isEmpty || !methods.isEmpty else { return text + " ...\n" }
        text += "\n"
        for property in properties {
            text += "        \(Self.pythonName(property.name)): \(Self.pythonType(property.kind))\n"
        }
        for method in methods {
            let result = method.result == .null ? "None" : Self.pythonType(method.result)
            let parameters = Self.pythonParameters(method.parameters).map(\.declared)
            text +=
                "        def \(Self.pythonName(method.name))(\((["self"] + parameters).joined(separator: ", "))) -> \(result): ...\n"
        }
        return text
    }

    private func python(_ function: Function) -> String {
        let parameters = Self.pythonParameters(function.parameters)
        let arguments = ([Self.pythonLiteral(function.key)] + parameters.map(\.name)).joined(separator: ", ")
        let object = function.type.isEmpty ? "Any" : Self.pythonClass(function.type)
        let result = function.isNullable && object != "Any" ? "\(object) | None" : object
        return """
                def \(Self.pythonName(function.member))(\((["self"] + parameters.map(\.declared)).joined(separator: ", "))) -> \(result):
                    \"""`\(Self.documentation(function.key))`: \(Self.documentation(function.summary)).\"""
                    found: \(result) = self._runtime.\(function.isNullable ? "resolve_optional" : "resolve")(\(arguments))
                    return found

            """
    }

    private static func pythonParameters(_ parameters: [Signature.Parameter]) -> [(name: String, declared: String)] {
        // The caller passes a default value that has no literal, and all parameters before it.
        let required = parameters.lastIndex { $0.defaultValue != nil && !isLiteral($0) } ?? -1
        return zip(names(parameters, reserved: pythonKeywords.union(["self"])), parameters).enumerated().map {
            index, pair in
            let (name, parameter) = pair
            let type =
                parameter.kind == .object ? parameter.typeName.map(pythonClass) ?? "Any" : pythonType(parameter.kind)
            let optional = type == "Any" ? "Any" : "\(type) | None"
            let declared = parameter.isOptional ? optional : type
            guard parameter.mayBeLeftOut, index > required else { return (name, "\(name): \(declared)") }
            return (name, "\(name): \(declared) = \(pythonDefault(parameter.defaultValue))")
        }
    }

    private static func pythonDefault(_ value: Value?) -> String {
        switch value {
        case nil: "None"
        case .bool(let boolean)?: boolean ? "True" : "False"
        case .string(let text)?: pythonLiteral(text)
        case .some(let value): number(value)
        }
    }

    private static func pythonType(_ kind: ValueKind) -> String {
        switch kind {
        case .bool: "bool"
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: "int"
        case .float, .double: "float"
        case .string: "str"
        case .bytes: "bytes"
        case .list: "list[Any]"
        case .map: "dict[str, Any]"
        default: "Any"
        }
    }

    private static func pythonName(_ name: String) -> String {
        let name = identifier(name)
        return pythonKeywords.contains(name) ? name + "_" : name
    }

    /// The name of a class: "camelot" becomes "Camelot", "Thing" stays "Thing".
    private static func pythonClass(_ name: String) -> String {
        let id = identifier(name)
        let name = id.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return name == "Any" ? "Any_" : name.isEmpty ? "_" : name
    }

    private static let pythonKeywords: Set<String> = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif",
        "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
        "or",
        "pass", "raise", "return", "try", "while", "with", "yield",
    ]
}
