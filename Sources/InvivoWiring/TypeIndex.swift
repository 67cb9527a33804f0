internal import InvivoBase

/// Which definitions make something of a type: by the name of the type itself and of all that it says it is. The best
/// first: by rank, then as declared. Abstract definitions and aliases are in no list; hidden ones in fewer.
public struct TypeIndex: Sendable {
    public struct Entry: Sendable {
        public let id: UInt32
        let rank: Int32
        let order: UInt64
        /// Of this very type, not one that says it is it.
        let isOwn: Bool
    }

    private struct Facts: Equatable {
        let own: String?
        /// The type's name, where it is found by what its type is said to be later.
        let extensible: String?
        let supertypes: [String]
        let rank: Int32
        let order: UInt64
        var names: [String] { (own.map { [$0] } ?? []) + supertypes }
    }

    private var entries: [String: [Entry]] = [:]
    private var facts: [UInt32: Facts] = [:]
    /// Which definitions are of a type, hidden by class or not, where they are found by what it is said to be later.
    private var extensible: [String: [Entry]] = [:]
    /// What types were said to be after they were registered; the same for all generations.
    public let later = LaterSupertypes()

    public init() {}

    /// `definition` is flat: with what it takes over from its parents. Nil takes the key out. Answers the names of types
    /// whose lists changed.
    public mutating func set(_ definition: Definition?, for id: UInt32) -> Set<String> {
        let next = definition.flatMap(Self.facts)
        let former = facts[id]
        guard next != former else { return [] }
        var changed = Set<String>()
        for name in former?.names ?? [] {
            entries[name]?.removeAll { $0.id == id }
            if entries[name]?.isEmpty == true { entries[name] = nil }
            changed.insert(name)
        }
        if let type = former?.extensible {
            extensible[type]?.removeAll { $0.id == id }
            if extensible[type]?.isEmpty == true { extensible[type] = nil }
            changed.formUnion(later.supertypes(of: type))
        }
        facts[id] = next
        if let next {
            for name in next.names {
                let entry = Entry(id: id, rank: next.rank, order: next.order, isOwn: name == next.own)
                Self.insert(entry, in: &entries[name, default: []])
                changed.insert(name)
            }
            if let type = next.extensible {
                let entry = Entry(id: id, rank: next.rank, order: next.order, isOwn: false)
                Self.insert(entry, in: &extensible[type, default: []])
                changed.formUnion(later.supertypes(of: type))
            }
        }
        return changed
    }

    private static func insert(_ entry: Entry, in list: inout [Entry]) {
        var place = list.count
        while place > 0, (-Int64(entry.rank), entry.order) < (-Int64(list[place - 1].rank), list[place - 1].order) {
            place -= 1
        }
        list.insert(entry, at: place)
    }

    private static func facts(_ definition: Definition) -> Facts? {
        guard let type = definition.type, definition.alias == nil, !definition.isAbstract else { return nil }
        let flags = definition.body.flags
        let own = flags.contains(.hiddenClass) ? nil : type.name
        let supertypes = flags.contains(.hiddenInterface) ? [] : type.description.supertypes
        let extensible = flags.contains(.hiddenInterface) ? nil : type.name
        guard own != nil || extensible != nil else { return nil }
        return Facts(
            own: own, extensible: extensible, supertypes: supertypes, rank: definition.body.rank,
            order: definition.body.order)
    }

    /// All candidates, the best first.
    public func all(_ name: String, isExact: Bool) -> [Entry] {
        let list = entries[name] ?? []
        if isExact { return list.filter(\.isOwn) }
        let types = later.types(that: name)
        guard !types.isEmpty else { return list }
        let known = Set(list.map(\.id))
        var merged = list
        for type in types {
            for entry in extensible[type] ?? [] where !known.contains(entry.id) { Self.insert(entry, in: &merged) }
        }
        return merged
    }

    /// The names of all types that something is made of, sorted.
    public var names: [String] { Set(entries.keys).union(later.names).sorted() }

    public enum Choice {
        case one(UInt32)
        case none
        /// Of equal rank at the top.
        case several([UInt32])
    }

    /// The one to take.
    public func best(_ name: String, isExact: Bool) -> Choice { best(of: all(name, isExact: isExact)) }

    public func best(of list: [Entry]) -> Choice {
        guard let first = list.first else { return .none }
        let top = list.prefix { $0.rank == first.rank }
        return top.count == 1 ? .one(first.id) : .several(top.map(\.id))
    }
}
