internal import InvivoBase

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
        // What is derived from comes first.
        var written: Set<String> = []
        var waiting = typeNames
        while !waiting.isEmpty {
            let ready = waiting.filter { name in
                (known[name]?.supertypes ?? []).allSatisfy { $0 == name || written.contains($0) }
            }
            // Types that say that they are each other: as they come.
            for name in ready.isEmpty ? waiting : ready {
                let bases = known[name]?.supertypes.filter { $0 != name && written.contains($0) } ?? []
                text += python(name, Self.withoutRepetition(bases, known), known[name])
                written.insert(name)
            }
            waiting.removeAll { written.contains($0) }
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

    /// Bases that others of them have already would leave Python without an order.
    private static func withoutRepetition(_ bases: [String], _ known: [String: TypeMembers]) -> [String] {
        bases.filter { base in !bases.contains { $0 != base && known[$0]?.supertypes.contains(base) == true } }
    }

    private func python(_ name: String, _ bases: [String], _ members: TypeMembers?) -> String {
        // Not an invivo.Object, which has any attribute: so that what the type does not say is told.
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
        let given = ([Self.pythonLiteral(function.key)] + parameters.map(\.name)).joined(separator: ", ")
        let made = function.type.isEmpty ? "Any" : Self.pythonClass(function.type)
        let result = function.isNullable && made != "Any" ? "\(made) | None" : made
        return """
                def \(Self.pythonName(function.member))(\((["self"] + parameters.map(\.declared)).joined(separator: ", "))) -> \(result):
                    \"""`\(Self.documentation(function.key))`: \(Self.documentation(function.what)).\"""
                    found: \(result) = self._runtime.\(function.isNullable ? "resolve_optional" : "resolve")(\(given))
                    return found

            """
    }

    private static func pythonParameters(_ parameters: [Parameter]) -> [(name: String, declared: String)] {
        // A default that Python cannot write is given by the caller, and so is what stands before it.
        let given = parameters.lastIndex { $0.defaultValue != nil && !isLiteral($0) } ?? -1
        return zip(names(parameters, reserved: pythonKeywords.union(["self"])), parameters).enumerated().map {
            index, pair in
            let (name, parameter) = pair
            let type =
                parameter.kind == .object ? parameter.typeName.map(pythonClass) ?? "Any" : pythonType(parameter.kind)
            let said = type == "Any" ? "Any" : "\(type) | None"
            let wanted = parameter.isOptional ? said : type
            guard parameter.mayBeLeftOut, index > given else { return (name, "\(name): \(wanted)") }
            return (name, "\(name): \(wanted) = \(pythonDefault(parameter.defaultValue))")
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

    /// "camelot" as "Camelot"; a type's name stays what it is.
    private static func pythonClass(_ name: String) -> String {
        let id = identifier(name)
        let made = id.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return made == "Any" ? "Any_" : made.isEmpty ? "_" : made
    }

    private static let pythonKeywords: Set<String> = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif",
        "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
        "or",
        "pass", "raise", "return", "try", "while", "with", "yield",
    ]
}
