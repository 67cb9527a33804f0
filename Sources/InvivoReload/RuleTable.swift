internal import HashTreeCollections
internal import InvivoBase
internal import InvivoConfig

/// The rules of a generation, by name and by the names of their inputs. A value: a copy shares what does not change.
struct RuleTable: Sendable {
    typealias Names = TreeSet<Name>

    private struct Tables: Sendable {
        var rules: TreeDictionary<Name, Rule> = [:]
        /// Input -> the rules that have it.
        var byInput: TreeDictionary<Name, Names> = [:]
        /// Key that an input may name, with a property behind it -> the rules that have such an input.
        var byKey: TreeDictionary<Name, Names> = [:]
    }

    /// One reference, because the snapshots that have it are copied in each commit.
    private final class Shared: Sendable {
        let tables: Tables
        init(_ tables: Tables) { self.tables = tables }
    }

    /// Nil without rules.
    private var shared: Shared?

    private var tables: Tables {
        get { shared?.tables ?? Tables() }
        set { shared = newValue.rules.isEmpty ? nil : Shared(newValue) }
    }

    var isEmpty: Bool { shared == nil }
    var names: [String] { tables.rules.keys.map(\.text) }

    subscript(name: String) -> Rule? { tables.rules[Name(name)] }

    /// The rules with one of these names, in the order of the names.
    func rules(named names: Names) -> [Rule] {
        names.compactMap { tables.rules[$0] }.sorted { $0.name < $1.name }
    }

    /// The rules with an input that has the configuration path.
    func rules(reading path: String) -> Names { tables.byInput[Name(path)] ?? [] }

    /// The rules with an input that may be a property of the key.
    func rules(about key: String) -> Names { tables.byKey[Name(key)] ?? [] }

    /// The keys that inputs may name.
    var keys: some Sequence<Name> { tables.byKey.keys }
    var keyCount: Int { tables.byKey.count }

    /// Adds a rule. It replaces the one with the same name.
    mutating func insert(_ rule: Rule) {
        remove(rule.name)
        var next = tables
        next.rules[Name(rule.name)] = rule
        for input in rule.inputs {
            next.byInput[Name(Self.path(input)), default: []].insert(Name(rule.name))
            for (key, _) in Self.properties(input) { next.byKey[Name(key), default: []].insert(Name(rule.name)) }
        }
        tables = next
    }

    mutating func remove(_ name: String) {
        var next = tables
        guard let rule = next.rules.removeValue(forKey: Name(name)) else { return }
        for input in rule.inputs {
            Self.remove(name, of: Self.path(input), from: &next.byInput)
            for (key, _) in Self.properties(input) { Self.remove(name, of: key, from: &next.byKey) }
        }
        tables = next
    }

    private static func remove(_ name: String, of owner: String, from sets: inout TreeDictionary<Name, Names>) {
        guard var set = sets.removeValue(forKey: Name(owner)) else { return }
        set.remove(Name(name))
        if !set.isEmpty { sets[Name(owner)] = set }
    }

    /// The configuration path that an input may name.
    static func path(_ input: String) -> String { input.rest(after: "/") ?? input }

    /// The keys that an input may name, the longest first, each with the property behind it: a name, and the fields in its value.
    /// None for a name with a slash, which is a configuration path.
    static func properties(_ input: String) -> [(key: String, property: [String])] {
        guard !input.hasPrefix("/") else { return [] }
        let names = input.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return (1..<max(1, names.count)).reversed().map { count in
            (names[..<count].joined(separator: "."), Array(names[count...]))
        }
    }
}
