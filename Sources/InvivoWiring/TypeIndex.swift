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
        let supertypes: [String]
        let rank: Int32
        let order: UInt64
        var names: [String] { (own.map { [$0] } ?? []) + supertypes }
    }

    private var entries: [String: [Entry]] = [:]
    private var facts: [UInt32: Facts] = [:]

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
        facts[id] = next
        if let next {
            for name in next.names {
                let entry = Entry(id: id, rank: next.rank, order: next.order, isOwn: name == next.own)
                var list = entries.removeValue(forKey: name) ?? []
                var place = list.count
                while place > 0,
                    (-Int64(entry.rank), entry.order) < (-Int64(list[place - 1].rank), list[place - 1].order)
                { place -= 1 }
                list.insert(entry, at: place)
                entries[name] = list
                changed.insert(name)
            }
        }
        return changed
    }

    private static func facts(_ definition: Definition) -> Facts? {
        guard let type = definition.type, definition.alias == nil, !definition.isAbstract else { return nil }
        let flags = definition.body.flags
        let own = flags.contains(.hiddenClass) ? nil : type.name
        let supertypes = flags.contains(.hiddenInterface) ? [] : type.description.supertypes
        guard own != nil || !supertypes.isEmpty else { return nil }
        return Facts(own: own, supertypes: supertypes, rank: definition.body.rank, order: definition.body.order)
    }

    /// All candidates, the best first.
    public func all(_ name: String, isExact: Bool) -> [Entry] {
        let list = entries[name] ?? []
        return isExact ? list.filter(\.isOwn) : list
    }

    /// The names of all types that something is made of, sorted.
    public var names: [String] { entries.keys.sorted() }

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
