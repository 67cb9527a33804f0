public import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// The described members of a type, copied.
public struct TypeMembers: Sendable {
    public let supertypes: [String]
    public let properties: [(name: String, kind: ValueKind)]
    public let methods: [(name: String, parameters: [Signature.Parameter], result: ValueKind)]
    /// Whether the type has nothing but a block, which is read through views.
    public let isBlockOnly: Bool

    public init(
        supertypes: [String] = [], properties: [(name: String, kind: ValueKind)] = [],
        methods: [(name: String, parameters: [Signature.Parameter], result: ValueKind)] = [], isBlockOnly: Bool = false
    ) {
        self.supertypes = supertypes
        self.properties = properties
        self.methods = methods
        self.isBlockOnly = isBlockOnly
    }

    init(_ type: TypeDescription) {
        // Names with a colon belong to a language binding; no language can write them.
        self.init(
            supertypes: type.supertypes,
            properties: type.properties.filter { !$0.name.contains(":") }.map { ($0.name, $0.kind) },
            methods: type.methods.filter { !$0.name.contains(":") }.map {
                ($0.name, $0.signature.parameters, $0.result)
            },
            isBlockOnly: type.isBlockOnly && type.blockSize > 0)
    }
}
