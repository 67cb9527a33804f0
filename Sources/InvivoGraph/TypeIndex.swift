public import InvivoBase

/// The definitions of each type, by the names of the type itself and of all its supertypes. The best first: by rank,
/// then in the order of declaration. Abstract definitions and aliases are in no list; hidden ones in fewer.
public struct TypeIndex: Sendable {
    public struct Entry: Sendable {
        public let id: UInt32
        let rank: Int32
        /// The position among all definitions, and the kind of the match. Packed, because each list has up to as many
        /// entries as there are definitions.
        private var packed: UInt64

        init(id: UInt32, rank: Int32, order: DefinitionOrder, isOwn: Bool, isFound: Bool, isExtensible: Bool) {
            self.id = id
            self.rank = rank
            packed = order.packed << 3 | (isOwn ? 1 : 0) | (isFound ? 2 : 0) | (isExtensible ? 4 : 0)
        }

        var order: DefinitionOrder { DefinitionOrder(packed: packed >> 3) }
        /// Whether the entry has this very type, not a subtype.
        var isOwn: Bool { packed & 1 != 0 }
        /// Whether lookups of this name find it.
        var isFound: Bool { packed & 2 != 0 }
        /// Whether supertypes that are declared later apply.
        var isExtensible: Bool { packed & 4 != 0 }

        /// The same entry, found by a supertype.
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

        /// Whether it precedes another entry.
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
    }

    /// The definitions and subtypes of each type.
    private var entries: NameTable<EntryList> = [:]
    /// The names of generic types with the arguments that definitions have had: "Repository[User]" of "Repository".
    private var generics: NameTable<Set<String>> = [:]
    /// Supertypes that were declared after the registration of a type; the same for all generations.
    public let later = LaterSupertypes()

    public init() {}

    /// The definition of a key and the former one, both with their inherited parts. Nil for none.
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

    /// Applies changes of any number of keys, in time proportional to that number. Returns the names of types whose
    /// lists changed.
    public mutating func set(_ changes: [Change]) -> Set<String> {
        var changed = Set<String>()
        var removed: NameTable<[Entry]> = [:]
        var added: NameTable<[Entry]> = [:]
        var generic: [String] = []
        for change in changes {
            let next = change.definition.flatMap(Self.facts)
            let former = change.former.flatMap(Self.facts)
            guard next != former else { continue }
            if let former {
                Self.note(change.id, former, &removed)
                noteNames(former, &changed)
            }
            if let next {
                Self.note(change.id, next, &added)
                noteNames(next, &changed)
                if !next.supertypes.isEmpty { generic += next.supertypes }
            }
        }
        for (name, gone) in removed {
            entries[name]?.remove(gone)
            if entries[name]?.isEmpty == true { entries[name] = nil }
        }
        for (name, new) in added { entries[name, default: EntryList()].insert(new) }
        for name in Set(generic) where plain(name) != name { generics[plain(name), default: []].insert(name) }
        return changed
    }

    /// Adds the entries of a definition, by the names of its type and supertypes.
    private static func note(_ id: UInt32, _ facts: Facts, _ table: inout NameTable<[Entry]>) {
        table[facts.type, default: []].append(entry(id, facts, facts.type))
        for name in facts.supertypes { table[name, default: []].append(entry(id, facts, name)) }
    }

    /// Adds the names by which lookups find a definition.
    private func noteNames(_ facts: Facts, _ names: inout Set<String>) {
        if facts.isFound { names.insert(facts.type) }
        names.formUnion(facts.supertypes)
        if facts.isExtensible { names.formUnion(later.supertypes(of: facts.type)) }
    }

    /// Returns the names of the type of a definition and of its supertypes, also later ones, some of them twice.
    public func names(of definition: Definition) -> [String] {
        let generic = definition.body.generic.map { [$0] } ?? []
        return generic + (definition.type.map { names(of: $0.description) } ?? [])
    }

    public func names(of type: TypeDescription) -> [String] {
        [type.name, type.lookupName] + type.supertypes + later.supertypes(of: type.name)
            + later.supertypes(of: type.lookupName)
    }

    /// Gives definitions another order and changes nothing else; flat as for `set`. Returns the names of types whose
    /// lists changed.
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
            entries[name] = EntryList(sorted: next)
            guard !next.elementsEqual(list, by: { $0.id == $1.id }) else { continue }
            changed.insert(name)
            changed.formUnion(later.supertypes(of: name))
        }
        return changed
    }

    private static func insert(_ entry: Entry, in list: inout [Entry]) {
        var position = list.count
        while position > 0, entry.precedes(list[position - 1]) { position -= 1 }
        list.insert(entry, at: position)
    }

    private static func entry(_ id: UInt32, _ facts: Facts, _ name: String) -> Entry {
        let isOwn = name == facts.type
        return Entry(
            id: id, rank: facts.rank, order: facts.order, isOwn: isOwn, isFound: !isOwn || facts.isFound,
            isExtensible: isOwn && facts.isExtensible)
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

    private func list(_ name: String) -> EntryList { entries[name] ?? EntryList() }

    /// All candidates, the best first. Definitions with other generic arguments than those of the query are excluded.
    public func all(_ wanted: String, isExact: Bool) -> [Entry] {
        let name = plain(wanted)
        let list = all(of: name, isExact: isExact)
        guard name != wanted, let known = generics[name] else { return list }
        let same = Set(self.list(wanted).map(\.id))
        let others = Set(known.filter { $0 != wanted }.flatMap { self.list($0).map(\.id) })
        return list.filter { same.contains($0.id) || !others.contains($0.id) }
    }

    private func all(of name: String, isExact: Bool) -> [Entry] {
        let list = self.list(name).filter { $0.isFound && (!isExact || $0.isOwn) }
        guard !isExact else { return list }
        let types = later.types(that: name)
        guard !types.isEmpty else { return list }
        let known = Set(list.map(\.id))
        var merged = list
        for type in types {
            for entry in self.list(type) where entry.isExtensible && !known.contains(entry.id) {
                Self.insert(entry.asKind, in: &merged)
            }
        }
        return merged
    }

    /// The names of all types that definitions have, sorted.
    public var names: [String] {
        let found = entries.filter { $0.value.contains(where: \.isFound) }
        return Set(found.keys).union(later.names).sorted()
    }

    public enum Choice {
        case one(UInt32)
        case none
        /// Several candidates of the same highest rank, either all or none of the exact type.
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
            let generic = Set(self.list(name).map(\.id))
            narrow { generic.contains($0.id) }
        }
        narrow { near($0.id) }
        return top.count == 1 ? .one(top[0].id) : .several(top.map(\.id))
    }
}

extension TypeIndex {
    /// The definitions of one type, the best first: there may be as many as there are definitions. A copy with a changed entry shares
    /// all but 256 entries with the original.
    fileprivate struct EntryList: Sequence, Sendable {
        private static let leafSize = 256
        /// The list is rebuilt if more than one in so many of its entries change, because that is faster.
        private static let smallShare = 16

        /// No leaf is empty.
        private var leaves: [ContiguousArray<Entry>] = []
        private var count = 0

        init() {}

        init(sorted: [Entry]) {
            count = sorted.count
            leaves = stride(from: 0, to: count, by: Self.leafSize).map {
                ContiguousArray(sorted[$0..<Swift.min($0 + Self.leafSize, count)])
            }
        }

        var isEmpty: Bool { leaves.isEmpty }

        func makeIterator() -> FlattenSequence<[ContiguousArray<Entry>]>.Iterator { leaves.joined().makeIterator() }

        mutating func insert(_ new: [Entry]) {
            guard new.count * Self.smallShare > count else {
                for entry in new { insert(entry) }
                return
            }
            var all = Array(self)
            all.reserveCapacity(count + new.count)
            all += new
            all.sort { $0.precedes($1) }
            self = EntryList(sorted: all)
        }

        mutating func remove(_ gone: [Entry]) {
            guard gone.count * Self.smallShare > count else {
                for entry in gone { remove(entry) }
                return
            }
            let ids = Set(gone.map(\.id))
            self = EntryList(sorted: filter { !ids.contains($0.id) })
        }

        /// Returns the last leaf that does not begin with an entry behind this one.
        private func leaf(of entry: Entry) -> Int {
            Swift.max(leaves.partitioningIndex { entry.precedes($0[0]) } - 1, 0)
        }

        private mutating func insert(_ entry: Entry) {
            count += 1
            guard !leaves.isEmpty else { return leaves.append([entry]) }
            let index = leaf(of: entry)
            let full = leaves[index].count
            var position = full
            while position > 0, entry.precedes(leaves[index][position - 1]) { position -= 1 }
            guard full >= Self.leafSize else { return leaves[index].insert(entry, at: position) }
            if position == full && index == leaves.count - 1 { return leaves.append([entry]) }
            let half = full / 2
            let upper = ContiguousArray(leaves[index][half...])
            leaves[index].removeSubrange(half...)
            leaves.insert(upper, at: index + 1)
            if position > half {
                leaves[index + 1].insert(entry, at: position - half)
            } else {
                leaves[index].insert(entry, at: position)
            }
        }

        private mutating func remove(_ entry: Entry) {
            guard !leaves.isEmpty else { return }
            // Nearly always in its leaf; of several entries with the same order some may be in an earlier one.
            var index = leaf(of: entry)
            func position(in leaf: Int) -> Int? { leaves[leaf].firstIndex { $0.id == entry.id } }
            if position(in: index) == nil { index = leaves.indices.first { position(in: $0) != nil } ?? leaves.count }
            guard index < leaves.count, let position = position(in: index) else { return }
            leaves[index].remove(at: position)
            if leaves[index].isEmpty { leaves.remove(at: index) }
            count -= 1
        }
    }
}
