/// The id of a key, as a key of a hash table.
///
/// Ids are dense numbers that the runtime itself gives out, so they need no secret hash. The hash keeps 64 consecutive ids side by side:
/// keys that were created together are read together, in the order of their objects in memory. It spreads the blocks of 64, so that
/// regular gaps between ids cost at most one block of probes.
///
/// This file is inlinable, as that of `Name`.
@frozen
public struct KeyID: Hashable, Sendable {
    public let number: UInt32

    @inlinable
    public init(_ number: UInt32) { self.number = number }

    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

    @inlinable
    public func _rawHashValue(seed: Int) -> Int {
        let block = UInt64(number >> 6) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: (block >> 32) << 6 | UInt64(number & 63))
    }
}

/// A dictionary whose keys are ids of keys.
@frozen
public struct IDTable<Content>: Sequence, ExpressibleByDictionaryLiteral {
    @usableFromInline
    var table: [KeyID: Content] = [:]

    @inlinable
    public init() {}

    @usableFromInline
    init(table: [KeyID: Content]) { self.table = table }

    @inlinable
    public init(dictionaryLiteral elements: (UInt32, Content)...) {
        for (id, content) in elements { table[KeyID(id)] = content }
    }

    @inlinable
    public subscript(id: UInt32) -> Content? {
        get { table[KeyID(id)] }
        _modify { yield &table[KeyID(id)] }
    }

    @inlinable
    public var isEmpty: Bool { table.isEmpty }
    @inlinable
    public var count: Int { table.count }
    /// The ids, in no particular order.
    @inlinable
    public var keys: LazyMapCollection<Dictionary<KeyID, Content>.Keys, UInt32> { table.keys.lazy.map(\.number) }
    @inlinable
    public var values: Dictionary<KeyID, Content>.Values { table.values }

    @inlinable
    public func contains(_ id: UInt32) -> Bool { table.index(forKey: KeyID(id)) != nil }

    @inlinable
    public mutating func reserveCapacity(_ count: Int) { table.reserveCapacity(count) }

    @inlinable
    @discardableResult
    public mutating func removeValue(forKey id: UInt32) -> Content? { table.removeValue(forKey: KeyID(id)) }

    @inlinable
    public func filter(_ isKept: (UInt32, Content) throws -> Bool) rethrows -> IDTable {
        IDTable(table: try table.filter { try isKept($0.key.number, $0.value) })
    }

    @inlinable
    public func makeIterator() -> Iterator { Iterator(table: table.makeIterator()) }

    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline
        var table: Dictionary<KeyID, Content>.Iterator

        @usableFromInline
        init(table: Dictionary<KeyID, Content>.Iterator) { self.table = table }

        @inlinable
        public mutating func next() -> (key: UInt32, value: Content)? {
            table.next().map { (key: $0.key.number, value: $0.value) }
        }
    }
}

extension IDTable: Sendable where Content: Sendable {}

/// A set of ids of keys.
@frozen
public struct IDSet: Sequence, Sendable, ExpressibleByArrayLiteral {
    @usableFromInline
    var ids: Set<KeyID> = []

    @inlinable
    public init() {}

    @inlinable
    public init(_ ids: some Sequence<UInt32>) { for id in ids { self.ids.insert(KeyID(id)) } }

    @inlinable
    public init(arrayLiteral elements: UInt32...) { self.init(elements) }

    @inlinable
    public var isEmpty: Bool { ids.isEmpty }
    @inlinable
    public var count: Int { ids.count }

    @inlinable
    public func contains(_ id: UInt32) -> Bool { ids.contains(KeyID(id)) }

    @inlinable
    public mutating func reserveCapacity(_ count: Int) { ids.reserveCapacity(count) }

    /// Adds an id. Returns false if the set had it already.
    @inlinable
    @discardableResult
    public mutating func insert(_ id: UInt32) -> Bool { ids.insert(KeyID(id)).inserted }

    @inlinable
    public mutating func remove(_ id: UInt32) { ids.remove(KeyID(id)) }

    @inlinable
    public mutating func formUnion(_ others: some Sequence<UInt32>) { for id in others { ids.insert(KeyID(id)) } }

    @inlinable
    public func union(_ others: some Sequence<UInt32>) -> IDSet {
        var all = self
        all.formUnion(others)
        return all
    }

    @inlinable
    public func makeIterator() -> Iterator { Iterator(ids: ids.makeIterator()) }

    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline
        var ids: Set<KeyID>.Iterator

        @usableFromInline
        init(ids: Set<KeyID>.Iterator) { self.ids = ids }

        @inlinable
        public mutating func next() -> UInt32? { ids.next()?.number }
    }
}
