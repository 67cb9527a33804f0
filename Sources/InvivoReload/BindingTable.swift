internal import InvivoBase
internal import InvivoGraph

/// The bindings of a generation, by name and by path. A value: a copy shares what does not change.
struct BindingTable: Sendable {
    /// One reference, because the snapshots that have it are copied in each commit.
    private final class Shared: Sendable {
        let bindings: [Name: SettingsBinding]
        let byPath: [Name: [SettingsBinding]]
        let callsHost: Bool
        let secrets: [String]

        init(_ bindings: [Name: SettingsBinding]) {
            self.bindings = bindings
            byPath = Dictionary(grouping: bindings.values) { Name($0.path) }
            callsHost = bindings.values.contains(where: \.callsHost)
            secrets = bindings.values.flatMap(\.secrets)
        }
    }

    /// Nil if there are no bindings.
    private var shared: Shared?

    var isEmpty: Bool { shared == nil }
    var names: [String] { shared?.bindings.keys.map(\.text) ?? [] }
    /// Whether reading a section calls the host.
    var callsHost: Bool { shared?.callsHost ?? false }

    var secrets: [String] { shared?.secrets ?? [] }

    subscript(name: String) -> SettingsBinding? { shared?.bindings[Name(name)] }

    func bindings(at path: String) -> [SettingsBinding] { shared?.byPath[Name(path)] ?? [] }

    /// Returns the table with these changes. The cost is proportional to the number of bindings, which are few.
    func applying(_ changes: NamedChanges<SettingsBinding>) -> BindingTable {
        var bindings = shared?.bindings ?? [:]
        for name in changes.removed { bindings[Name(name)] = nil }
        for binding in changes.added { bindings[Name(binding.name)] = binding }
        var next = BindingTable()
        next.shared = bindings.isEmpty ? nil : Shared(bindings)
        return next
    }
}
