public import Glibc

/// A name, compared by its bytes, as keys are interned. `String` treats canonically equivalent Unicode strings as equal; two such
/// names are different.
///
/// This file is inlinable: a generic type of another module that is not specialized costs a metadata lookup for each use.
@frozen
public struct Name: Hashable, Sendable {
    public let text: String

    @inlinable
    public init(_ text: String) { self.text = text }

    @inlinable
    public static func == (one: Name, other: Name) -> Bool { one.text.isSameName(as: other.text) }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xff))
    }
}

extension String {
    /// Whether its bytes precede those of the other string.
    public func hasLowerBytes(than other: String) -> Bool {
        var (one, other) = (self, other)
        return one.withUTF8 { bytes in
            other.withUTF8 { others in
                guard let start = bytes.baseAddress, let other = others.baseAddress else {
                    return bytes.count < others.count
                }
                let order = memcmp(start, other, min(bytes.count, others.count))
                return order == 0 ? bytes.count < others.count : order < 0
            }
        }
    }

    /// Whether both strings have the same bytes.
    @inlinable
    public func isSameName(as other: String) -> Bool {
        var (one, other) = (self, other)
        return one.withUTF8 { bytes in
            other.withUTF8 { others in
                guard bytes.count == others.count else { return false }
                guard let start = bytes.baseAddress, let other = others.baseAddress else { return true }
                return memcmp(start, other, bytes.count) == 0
            }
        }
    }
}

extension String {
    /// Returns the part after `prefix`, compared by bytes; nil if the string does not begin with it.
    public func rest(after prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// Whether the string contains a byte.
    public func contains(byte: UInt8) -> Bool {
        var text = self
        return text.withUTF8 { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        }
    }

    /// Whether the bytes of the string end with those of `suffix`.
    public func endsWithName(_ suffix: String) -> Bool { utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }
}

extension String? {
    /// Whether both strings are the same name, or both are nil.
    @inlinable
    public func isSameName(as other: String?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isSameName(as: other)
    }
}

/// A dictionary whose keys are names.
@frozen
public struct NameTable<Content>: Sequence {
    @usableFromInline
    var table: [Name: Content]

    @usableFromInline
    init(table: [Name: Content]) { self.table = table }

    @inlinable
    public init() { table = [:] }

    /// Creates a table from pairs. The first of several pairs with one name is kept.
    @inlinable
    public init(_ pairs: some Sequence<(String, Content)>) {
        table = Dictionary(pairs.lazy.map { (Name($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    @inlinable
    public subscript(name: String) -> Content? {
        get { table[Name(name)] }
        _modify { yield &table[Name(name)] }
    }

    @inlinable
    public subscript(name: String, default other: @autoclosure () -> Content) -> Content {
        get { table[Name(name), default: other()] }
        _modify { yield &table[Name(name), default: other()] }
    }

    @inlinable
    public var isEmpty: Bool { table.isEmpty }
    @inlinable
    public var count: Int { table.count }
    /// The names, in no particular order.
    @inlinable
    public var keys: [String] { table.keys.map(\.text) }
    @inlinable
    public var values: Dictionary<Name, Content>.Values { table.values }

    @inlinable
    public mutating func removeAll() { table.removeAll() }

    @inlinable
    @discardableResult
    public mutating func removeValue(forKey name: String) -> Content? { table.removeValue(forKey: Name(name)) }

    @inlinable
    @discardableResult
    public mutating func updateValue(_ value: Content, forKey name: String) -> Content? {
        table.updateValue(value, forKey: Name(name))
    }

    @inlinable
    public func filter(_ isKept: ((key: String, value: Content)) throws -> Bool) rethrows -> NameTable {
        NameTable(table: try table.filter { try isKept(($0.key.text, $0.value)) })
    }

    @inlinable
    public func mapValues<Other>(_ change: (Content) throws -> Other) rethrows -> NameTable<Other> {
        NameTable<Other>(table: try table.mapValues(change))
    }

    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline
        var pairs: Dictionary<Name, Content>.Iterator

        @usableFromInline
        init(_ pairs: Dictionary<Name, Content>.Iterator) { self.pairs = pairs }

        @inlinable
        public mutating func next() -> (key: String, value: Content)? { pairs.next().map { ($0.key.text, $0.value) } }
    }

    @inlinable
    public func makeIterator() -> Iterator { Iterator(table.makeIterator()) }
}

extension NameTable: Sendable where Content: Sendable {}
extension NameTable: Equatable where Content: Equatable {}

extension NameTable: ExpressibleByDictionaryLiteral {
    @inlinable
    public init(dictionaryLiteral elements: (String, Content)...) {
        if elements.isEmpty { self.init() } else { self.init(elements) }
    }
}

/// A set of names.
@frozen
public struct NameSet: Sequence, Sendable, ExpressibleByArrayLiteral {
    @usableFromInline
    var names: Set<Name>

    @inlinable
    public init() { names = [] }
    @inlinable
    public init(_ names: some Sequence<String>) { self.names = Set(names.lazy.map(Name.init)) }
    @inlinable
    public init(arrayLiteral elements: String...) {
        if elements.isEmpty { self.init() } else { self.init(elements) }
    }

    @inlinable
    public var isEmpty: Bool { names.isEmpty }

    @inlinable
    public func contains(_ name: String) -> Bool { names.contains(Name(name)) }

    @inlinable
    @discardableResult
    public mutating func insert(_ name: String) -> (inserted: Bool, memberAfterInsert: Name) {
        names.insert(Name(name))
    }

    @inlinable
    @discardableResult
    public mutating func remove(_ name: String) -> Name? { names.remove(Name(name)) }

    @inlinable
    public mutating func formUnion(_ other: some Sequence<String>) { names.formUnion(other.lazy.map(Name.init)) }

    /// Removes all names and keeps the memory for later ones.
    @inlinable
    public mutating func removeAll() { names.removeAll(keepingCapacity: true) }

    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline
        var names: Set<Name>.Iterator

        @usableFromInline
        init(_ names: Set<Name>.Iterator) { self.names = names }

        @inlinable
        public mutating func next() -> String? { names.next()?.text }
    }

    @inlinable
    public func makeIterator() -> Iterator { Iterator(names.makeIterator()) }
}
