internal import HashTreeCollections
internal import InvivoBase

/// The trait types of the host in one generation, by name. A value: a copy shares what does not change.
public struct TraitTypes: Sendable {
    private var types: TreeDictionary<Name, TraitType> = [:]

    public init() {}

    public var isEmpty: Bool { types.isEmpty }
    public var names: [String] { types.keys.map(\.text) }
    public subscript(name: String) -> TraitType? { types[Name(name)] }

    public mutating func insert(_ type: TraitType) { types[Name(type.name)] = type }
    public mutating func remove(_ name: String) { types[Name(name)] = nil }
}
