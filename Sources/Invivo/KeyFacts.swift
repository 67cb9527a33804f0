internal import CInvivo

/// The definition that is in force for a key.
public struct KeyFacts {
    /// A runtime argument.
    public struct Parameter {
        public let name: String
        public let kind: InvivoKind
        /// The name of the type of an object; nil for anything else.
        public let type: String?
        public let isOptional: Bool
        /// The default value; nil if the argument has none.
        public let defaultValue: InvivoValue?
    }

    /// The type of its objects, or one of its supertypes; nil for a choice that declares none.
    public let type: TypeReference?
    /// `initializer`, `factory`, `method`, `constant`, `choice`, `block`, `abstract` or `dormant`.
    public let making: String
    /// The scope; nil for a host scope, whose name is `scopeName`.
    public let scope: Scope?
    /// The name of its scope where the host has registered that, or of its kind of contexts.
    public let scopeName: String?
    /// The source location of the declaration: the file, or empty, and the line, or 0.
    public let file: String, line: Int
    /// The runtime arguments.
    public let parameters: [Parameter]

    init(_ facts: [String: InvivoValue]) throws(InvivoError) {
        func text(_ name: String) -> String? { if case .string(let text)? = facts[name] { text } else { nil } }
        type = if case .type(let type)? = facts["type"] { type } else { nil }
        making = text("making") ?? ""
        scopeName = text("scope_name")
        scope = Scope(code: try facts["scope"]?.get(UInt32.self) ?? 0, kind: scopeName)
        file = text("file") ?? ""
        line = try facts["line"]?.get(Int.self) ?? 0
        var found: [Parameter] = []
        for entry in try facts["parameters"]?.get([InvivoValue].self) ?? [] {
            let fields = try entry.get([String: InvivoValue].self)
            let type: String? = if case .string(let name)? = fields["type"] { name } else { nil }
            found.append(
                Parameter(
                    name: try fields["name"]?.get(String.self) ?? "",
                    kind: InvivoKind(rawValue: try fields["kind"]?.get(UInt32.self) ?? 0) ?? .any, type: type,
                    isOptional: try fields["optional"]?.get(Bool.self) ?? false, defaultValue: fields["default"]))
        }
        parameters = found
    }
}

extension Runtime {
    /// Describes the definition that is in force for a key. Overrides and replacements apply.
    public func describe(_ key: String) throws(InvivoError) -> KeyFacts {
        var handle = invivo_key()
        try core.call(naming: key) { $0.pointee.key_find(core.handle, $1, &handle, $2) }
        var raw = invivo_value()
        let found = handle
        try core.call { $0.pointee.key_describe(core.handle, found, &raw, $1) }
        return try KeyFacts(try InvivoValue(taking: &raw, core).get([String: InvivoValue].self))
    }
}
