/// Definitions in their order, in as little memory as possible. Its elements are created on demand. Immutable.
public struct DefinitionList: RandomAccessCollection, Sendable {
    private let entries: ContiguousArray<PackedDefinition>

    /// Must not be called with the lock of the key table held.
    init(_ definitions: [Definition]) {
        entries = ContiguousArray(definitions.map { PackedDefinition($0) ?? PackedDefinition(unpacked: $0) })
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { entries.count }
    public subscript(index: Int) -> Definition { Self.unpacked(entries[index]) ?? entries[index].definition }

    /// The definitions that have parts of the host's, such as user data, among others.
    public var unpacked: [Definition] { entries.compactMap(Self.unpacked) }

    private static func unpacked(_ entry: PackedDefinition) -> Definition? {
        entry.unpacked.map { unsafeDowncast($0, to: Definition.self) }
    }
}
