internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph

/// The bindings of a generation, by name and by path. A value: a copy shares what does not change.
struct BindingTable: Sendable {
    private struct Tables: Sendable {
        var bindings: TreeDictionary<Name, SettingsBinding> = [:]
        var byPath: TreeDictionary<Name, [SettingsBinding]> = [:]
        /// Those with secret fields.
        var secret: TreeDictionary<Name, SettingsBinding> = [:]
        /// The number of bindings whose section the host reads or checks.
        var hostCalls = 0

        mutating func insert(_ binding: SettingsBinding) {
            remove(binding.name)
            let name = Name(binding.name)
            bindings[name] = binding
            byPath[Name(binding.path), default: []].append(binding)
            if !binding.secrets.isEmpty { secret[name] = binding }
            if binding.callsHost { hostCalls += 1 }
        }

        mutating func remove(_ name: String) {
            guard let binding = bindings.removeValue(forKey: Name(name)) else { return }
            let rest = byPath[Name(binding.path), default: []].filter { $0 !== binding }
            byPath[Name(binding.path)] = rest.isEmpty ? nil : rest
            secret[Name(name)] = nil
            if binding.callsHost { hostCalls -= 1 }
        }
    }

    /// One reference, because the snapshots that have it are copied in each commit.
    private final class Shared: Sendable {
        let tables: Tables
        init(_ tables: Tables) { self.tables = tables }
    }

    /// Nil without bindings.
    private var shared: Shared?

    var isEmpty: Bool { shared == nil }
    var names: [String] { shared?.tables.bindings.keys.map(\.text) ?? [] }
    /// Whether reading a section calls the host.
    var callsHost: Bool { shared.map { $0.tables.hostCalls > 0 } ?? false }

    /// The configuration paths of secret fields.
    var secrets: [String] { shared?.tables.secret.values.flatMap(\.secrets) ?? [] }

    subscript(name: String) -> SettingsBinding? { shared?.tables.bindings[Name(name)] }

    /// The bindings of a path.
    func bindings(at path: String) -> [SettingsBinding] { shared?.tables.byPath[Name(path)] ?? [] }

    /// Returns the table with these changes. The cost is proportional to the changes.
    func applying(_ changes: NamedChanges<SettingsBinding>) -> BindingTable {
        var tables = shared?.tables ?? Tables()
        for name in changes.removed { tables.remove(name) }
        for binding in changes.added { tables.insert(binding) }
        var next = BindingTable()
        next.shared = tables.bindings.isEmpty ? nil : Shared(tables)
        return next
    }
}
