internal import Glibc

/// Names are what their bytes are, as keys are interned: texts that Unicode holds for the same way of writing one, which
/// `String` takes for equal, are two names.
public struct Name: Hashable, Sendable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public static func == (one: Name, other: Name) -> Bool { one.text.isSameName(as: other.text) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xff))
    }
}

extension String {
    /// Whether it is the same name: byte by byte.
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
    /// What follows `prefix`, byte by byte; nil where it does not begin with that.
    public func rest(after prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// Whether its bytes end with those of `suffix`.
    public func endsWithName(_ suffix: String) -> Bool { utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }
}

extension String? {
    /// Whether both are the same name, or none.
    public func isSameName(as other: String?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isSameName(as: other)
    }
}

/// A dictionary whose keys are names.
public struct NameTable<Value>: Sequence {
    private var table: [Name: Value]

    private init(_ table: [Name: Value]) { self.table = table }

    public init() { table = [:] }

    /// The first of those that have one name.
    public init(_ pairs: some Sequence<(String, Value)>) {
        table = Dictionary(pairs.lazy.map { (Name($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    public subscript(name: String) -> Value? {
        get { table[Name(name)] }
        _modify { yield &table[Name(name)] }
    }

    public subscript(name: String, default other: @autoclosure () -> Value) -> Value {
        get { table[Name(name), default: other()] }
        _modify { yield &table[Name(name), default: other()] }
    }

    public var isEmpty: Bool { table.isEmpty }
    public var count: Int { table.count }
    /// In no order.
    public var keys: [String] { table.keys.map(\.text) }
    public var values: Dictionary<Name, Value>.Values { table.values }

    public mutating func removeAll() { table.removeAll() }

    @discardableResult
    public mutating func removeValue(forKey name: String) -> Value? { table.removeValue(forKey: Name(name)) }

    @discardableResult
    public mutating func updateValue(_ value: Value, forKey name: String) -> Value? {
        table.updateValue(value, forKey: Name(name))
    }

    public func filter(_ isKept: ((key: String, value: Value)) throws -> Bool) rethrows -> NameTable {
        NameTable(try table.filter { try isKept(($0.key.text, $0.value)) })
    }

    public func mapValues<Other>(_ change: (Value) throws -> Other) rethrows -> NameTable<Other> {
        NameTable<Other>(try table.mapValues(change))
    }

    public func makeIterator() -> AnyIterator<(key: String, value: Value)> {
        var pairs = table.makeIterator()
        return AnyIterator { pairs.next().map { ($0.key.text, $0.value) } }
    }
}

extension NameTable: Sendable where Value: Sendable {}
extension NameTable: Equatable where Value: Equatable {}

extension NameTable: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, Value)...) {
        if elements.isEmpty { self.init() } else { self.init(elements) }
    }
}

/// A set of names.
public struct NameSet: Sequence, Sendable, ExpressibleByArrayLiteral {
    private var names: Set<Name>

    public init() { names = [] }
    public init(_ names: some Sequence<String>) { self.names = Set(names.lazy.map(Name.init)) }
    public init(arrayLiteral elements: String...) {
        if elements.isEmpty { self.init() } else { self.init(elements) }
    }

    public var isEmpty: Bool { names.isEmpty }

    public func contains(_ name: String) -> Bool { names.contains(Name(name)) }

    @discardableResult
    public mutating func insert(_ name: String) -> (inserted: Bool, memberAfterInsert: Name) {
        names.insert(Name(name))
    }

    @discardableResult
    public mutating func remove(_ name: String) -> Name? { names.remove(Name(name)) }

    public mutating func formUnion(_ other: some Sequence<String>) { names.formUnion(other.lazy.map(Name.init)) }

    /// Keeps the memory for the next names.
    public mutating func removeAll() { names.removeAll(keepingCapacity: true) }

    public func makeIterator() -> AnyIterator<String> {
        var names = names.makeIterator()
        return AnyIterator { names.next()?.text }
    }
}
