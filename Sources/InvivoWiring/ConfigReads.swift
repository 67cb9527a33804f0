public import InvivoBase
public import InvivoConfig
internal import InvivoGraph

/// The paths of the configuration that definitions and hosts read. Its functions are called with the monitor of the runtime
/// held.
public final class ConfigReads: Sendable {
    private struct State {
        var paths = SoughtPaths()
        /// Kinds in which hosts read the values.
        var kinds: [UInt32: Set<ValueKind>] = [:]
    }
    private let state: Guarded<State>
    private let keys: KeyTable

    /// `monitor` is the runtime's, and guards `keys`.
    init(_ monitor: Monitor, _ keys: KeyTable) {
        state = .init(State(), by: monitor)
        self.keys = keys
    }

    /// Notes a path that something other than a definition reads.
    public func note(_ path: String) {
        guard let id = try? keys.intern(config: path) else { return }
        note(id)
    }

    public func note(_ id: UInt32) { state.held { $0.paths.noteOther(id) } }

    /// Notes a kind in which the host reads the values of a path.
    public func note(_ id: UInt32, as kind: ValueKind) { _ = state.held { $0.kinds[id, default: []].insert(kind) } }

    /// Records the declared dependencies of a type's objects, with or without a definition.
    func noteNeeds(of type: ObjectType) {
        guard !type.needs.isEmpty else { return }
        let own = Definition(id: KeyTable.noKey, key: type.name, scope: .prototype, type: type)
        for path in type.needs.flatMap(\.source.configPaths) {
            for candidate in ConfigPath.candidates(path, for: own) { note(candidate) }
        }
    }

    /// The id of a path that a definition looks for. Notes it.
    public func id(of path: String) -> UInt32? {
        guard let id = try? keys.intern(config: path) else { return nil }
        state.held { $0.paths.note(id) }
        return id
    }

    /// All paths.
    public var paths: PathTrie {
        state.held { $0.paths.paths { id in keys.configPath(id).map { String(cString: $0) } ?? "" } }
    }
    public var isEmpty: Bool { state.held { $0.paths.isEmpty } }

    /// Paths that hosts read, or types that may have no definition.
    public var hostPaths: Set<UInt32> { state.held { $0.paths.others } }
    public var hostKinds: [UInt32: Set<ValueKind>] { state.held { $0.kinds } }
}
