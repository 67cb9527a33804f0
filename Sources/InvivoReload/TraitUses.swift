internal import HashTreeCollections
internal import InvivoBase

/// The names that the traits of each key refer to, and the reverse. A value: a copy shares what does not change.
struct TraitUses: Sendable {
    enum Use: Hashable, Sendable {
        /// The traits of another key.
        case inherits(Name)
        /// A configuration path of a condition.
        case configuration(Name)
        /// A profile of a condition.
        case profile(Name)
        /// A trait type of the host, known or unknown.
        case type(Name)
    }

    private struct Tables: Sendable {
        var uses: TreeDictionary<Name, Set<Use>> = [:]
        var users: TreeDictionary<Use, TreeSet<Name>> = [:]
        /// The numbers of traits that keys inherit, without zeros, and their sum.
        var inherited: TreeDictionary<Name, Int> = [:]
        var inheritedCount = 0
    }

    /// One reference, because the snapshots that have it are copied in each commit.
    private final class Shared: Sendable {
        let tables: Tables
        init(_ tables: Tables) { self.tables = tables }
    }

    /// Nil without a use.
    private var shared: Shared?

    var isEmpty: Bool { shared == nil }

    func uses(_ key: String) -> Set<Use> { shared?.tables.uses[Name(key)] ?? [] }

    /// The keys whose traits refer to a name.
    func users(of use: Use) -> [String] { shared?.tables.users[use].map { $0.map(\.text) } ?? [] }

    /// The number of traits that all keys inherit.
    var inheritedCount: Int { shared?.tables.inheritedCount ?? 0 }

    /// The number of traits that a key inherits.
    func inheritedCount(_ key: String) -> Int { shared?.tables.inherited[Name(key)] ?? 0 }

    func isUsed(_ use: Use) -> Bool { shared?.tables.users[use] != nil }

    /// The keys whose traits other keys inherit.
    var inherited: [String] {
        (shared?.tables.users.keys).map { uses in
            uses.compactMap { use in if case .inherits(let name) = use { name.text } else { nil } }
        } ?? []
    }

    /// Returns the uses after these of some keys have changed, and their numbers of inherited traits.
    func applying(_ changed: [Name: Set<Use>], inherited: [Name: Int]) -> TraitUses {
        guard
            changed.contains(where: { uses($0.key.text) != $0.value })
                || inherited.contains(where: { inheritedCount($0.key.text) != $0.value })
        else { return self }
        var tables = shared?.tables ?? Tables()
        for (key, count) in inherited {
            tables.inheritedCount += count - (tables.inherited[key] ?? 0)
            tables.inherited[key] = count == 0 ? nil : count
        }
        for (key, next) in changed {
            let former = tables.uses[key] ?? []
            tables.uses[key] = next.isEmpty ? nil : next
            for use in former where !next.contains(use) {
                guard var users = tables.users.removeValue(forKey: use) else { continue }
                users.remove(key)
                if !users.isEmpty { tables.users[use] = users }
            }
            for use in next where !former.contains(use) { tables.users[use, default: []].insert(key) }
        }
        var result = self
        result.shared = tables.uses.isEmpty ? nil : Shared(tables)
        return result
    }
}
