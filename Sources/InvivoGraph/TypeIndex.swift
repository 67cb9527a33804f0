internal import InvivoBase

/// Which definitions make something of a type: by the name of the type itself and of all that it says it is. The best
/// first: by rank, then as declared. Abstract definitions and aliases are in no list; hidden ones in fewer.
public struct TypeIndex: Sendable {
    public struct Entry: Sendable {
        public let id: UInt32
        let rank: Int32
        /// Where it stands among all definitions, and what it is found by: a list has as many as there are definitions.
        private var packed: UInt64

        init(id: UInt32, rank: Int32, order: DefinitionOrder, isOwn: Bool, isFound: Bool, isExtensible: Bool) {
            self.id = id
            self.rank = rank
            packed = order.packed << 3 | (isOwn ? 1 : 0) | (isFound ? 2 : 0) | (isExtensible ? 4 : 0)
        }

        var order: DefinitionOrder { DefinitionOrder(packed: packed >> 3) }
        /// Of this very type, not one that says it is it.
        var isOwn: Bool { packed & 1 != 0 }
        /// By this name.
        var isFound: Bool { packed & 2 != 0 }
        /// By what its type is said to be later.
        var isExtensible: Bool { packed & 4 != 0 }

        /// The same, found by what its type is said to be.
        var asKind: Entry {
            var entry = self
            entry.packed &= ~1
            return entry
        }

        /// The same with another order.
        func moved(to order: DefinitionOrder) -> Entry {
            var entry = self
            entry.packed = order.packed << 3 | packed & 7
            return entry
        }

        /// Whether it comes before another.
        func precedes(_ other: Entry) -> Bool {
            rank != other.rank ? rank > other.rank : order < other.order
        }
    }

    private struct Facts: Equatable {
        let type: String
        let isFound: Bool
        let isExtensible: Bool
        let supertypes: [String]
        let rank: Int32
        let order: DefinitionOrder
        var names: [String] { (isFound ? [type] : []) + supertypes }
    }

    /// Of each type what is of it, and what says it is.
    private var entries: NameTable<[Entry]> = [:]
    /// Of generic types the names with arguments that definitions had at any time: "Repository[User]" of "Repository".
    private var generics: NameTable<Set<String>> = [:]
    /// What types were said to be after they were registered; the same for all generations.
    public let later = LaterSupertypes()

    public init() {}

    /// The definition of a key and the one before it, both flat: with what they take over from their parents. Nil is none.
    public struct Change {
        let id: UInt32
        let definition: Definition?
        let former: Definition?

        public init(id: UInt32, definition: Definition?, former: Definition?) {
            self.id = id
            self.definition = definition
            self.former = former
        }
    }

    /// Takes in changes of any number of keys, in time proportional to it and to the length of the lists that change. Returns the
    /// names of types whose lists changed.
    public mutating func set(_ changes: [Change]) -> Set<String> {
        var changed = Set<String>()
        var removed: NameTable<Set<UInt32>> = [:]
        var added: NameTable<[Entry]> = [:]
        var generic: [String] = []
        for change in changes {
            let next = change.definition.flatMap(Self.facts)
            let former = change.former.flatMap(Self.facts)
            guard next != former else { continue }
            if let former {
                for name in [former.type] + former.supertypes { removed[name, default: []].insert(change.id) }
                changed.formUnion(former.names)
                if former.isExtensible { changed.formUnion(later.supertypes(of: former.type)) }
            }
            if let next {
                for name in [next.type] + next.supertypes {
                    let isOwn = name == next.type
                    let entry = Entry(
                        id: change.id, rank: next.rank, order: next.order, isOwn: isOwn,
                        isFound: !isOwn || next.isFound, isExtensible: isOwn && next.isExtensible)
                    added[name, default: []].append(entry)
                }
                generic += next.supertypes
                changed.formUnion(next.names)
                if next.isExtensible { changed.formUnion(later.supertypes(of: next.type)) }
            }
        }
        for (name, ids) in removed {
            entries[name]?.removeAll { ids.contains($0.id) }
            if entries[name]?.isEmpty == true { entries[name] = nil }
        }
        for (name, new) in added { Self.insert(new, in: &entries[name, default: []]) }
        for name in Set(generic) where plain(name) != name { generics[plain(name), default: []].insert(name) }
        return changed
    }

    /// Gives definitions another order and changes nothing else; flat as for `set`. Answers the names of types whose lists changed.
    public mutating func move(_ definitions: [Definition]) -> Set<String> {
        var moved: [UInt32: DefinitionOrder] = [:]
        var names = Set<String>()
        for definition in definitions {
            guard let facts = Self.facts(definition) else { continue }
            moved[definition.id] = facts.order
            names.formUnion([facts.type] + facts.supertypes)
        }
        var changed = Set<String>()
        for name in names {
            guard let list = entries[name] else { continue }
            let next = list.map { entry in moved[entry.id].map(entry.moved) ?? entry }.sorted { $0.precedes($1) }
            entries[name] = next
            guard !next.elementsEqual(list, by: { $0.id == $1.id }) else { continue }
            changed.insert(name)
            changed.formUnion(later.supertypes(of: name))
        }
        return changed
    }

    /// Entries of which any number is added at once.
    private static func insert(_ new: [Entry], in list: inout [Entry]) {
        guard new.count > insertedOneByOne else {
            for entry in new { insert(entry, in: &list) }
            return
        }
        list.reserveCapacity(list.count + new.count)
        list += new
        list.sort { $0.precedes($1) }
    }

    private static let insertedOneByOne = 8

    private static func insert(_ entry: Entry, in list: inout [Entry]) {
        var place = list.count
        while place > 0, entry.precedes(list[place - 1]) { place -= 1 }
        // A long list has little room to spare: there may be as many entries as definitions.
        if list.count == list.capacity && list.count >= 256 { list.reserveCapacity(list.count + list.count / 8) }
        list.insert(entry, at: place)
    }

    private static func facts(_ definition: Definition) -> Facts? {
        guard let type = definition.type, definition.alias == nil, !definition.isAbstract else { return nil }
        let flags = definition.body.flags
        let isFound = !flags.contains(.hiddenClass)
        let isExtensible = !flags.contains(.hiddenInterface)
        guard isFound || isExtensible else { return nil }
        let name = type.description.lookupName
        var supertypes = isExtensible ? type.description.supertypes.filter { $0 != name } : []
        if let generic = definition.body.generic, !supertypes.contains(generic), generic != name {
            supertypes.append(generic)
        }
        return Facts(
            type: name, isFound: isFound, isExtensible: isExtensible, supertypes: supertypes,
            rank: definition.body.rank, order: definition.body.order)
    }

    /// A name without the generic arguments that it may have: "Repository" of "Repository[User]".
    public func plain(_ name: String) -> String {
        guard name.utf8.last == UInt8(ascii: "]"), let bracket = name.firstIndex(of: "["), bracket > name.startIndex,
            entries[name]?.contains(where: \.isOwn) != true
        else { return name }
        return String(name[..<bracket])
    }

    /// All candidates, the best first. A definition with other generic arguments than those that are wanted is none.
    public func all(_ wanted: String, isExact: Bool) -> [Entry] {
        let name = plain(wanted)
        let list = all(of: name, isExact: isExact)
        guard name != wanted, let known = generics[name] else { return list }
        let same = Set((entries[wanted] ?? []).map(\.id))
        let others = Set(known.filter { $0 != wanted }.flatMap { (entries[$0] ?? []).map(\.id) })
        return list.filter { same.contains($0.id) || !others.contains($0.id) }
    }

    private func all(of name: String, isExact: Bool) -> [Entry] {
        let list = (entries[name] ?? []).filter { $0.isFound && (!isExact || $0.isOwn) }
        guard !isExact else { return list }
        let types = later.types(that: name)
        guard !types.isEmpty else { return list }
        let known = Set(list.map(\.id))
        var merged = list
        for type in types {
            for entry in entries[type] ?? [] where entry.isExtensible && !known.contains(entry.id) {
                Self.insert(entry.asKind, in: &merged)
            }
        }
        return merged
    }

    /// The names of all types that something is made of, sorted.
    public var names: [String] {
        let found = entries.filter { $0.value.contains(where: \.isFound) }
        return Set(found.keys).union(later.names).sorted()
    }

    public enum Choice {
        case one(UInt32)
        case none
        /// Of equal rank at the top, and all of the exact type or none.
        case several([UInt32])
    }

    /// The one to take of all candidates for a name: those of the highest rank, then of the exact type, then of the same generic
    /// arguments, then those that are `near`.
    public func best(of list: [Entry], for name: String, near: (UInt32) -> Bool = { _ in false }) -> Choice {
        guard let first = list.first else { return .none }
        var top = Array(list.prefix { $0.rank == first.rank })
        func narrow(_ closer: (Entry) -> Bool) {
            guard top.count > 1 else { return }
            let closest = top.filter(closer)
            if !closest.isEmpty { top = closest }
        }
        narrow(\.isOwn)
        if plain(name) != name {
            let generic = Set((entries[name] ?? []).map(\.id))
            narrow { generic.contains($0.id) }
        }
        narrow { near($0.id) }
        return top.count == 1 ? .one(top[0].id) : .several(top.map(\.id))
    }
}
