public import InvivoBase
internal import InvivoWiring

/// The settings types that manifests name, and the types that code expects of bindings. Any thread may call.
public final class SettingsTypes: Sendable {
    /// Adds a binding to a change set, with its name and the path of its section.
    public typealias Bind =
        @Sendable (Engine, inout ChangeSet, _ name: String, _ path: String) throws(Failure) -> Void

    private struct State {
        var types: NameTable<Bind> = [:]
        var readers: NameTable<SettingsReader> = [:]
    }

    private let container: Container
    private let state: Guarded<State>

    init(_ container: Container) {
        self.container = container
        state = Guarded(State(), by: container.monitor)
    }

    /// Adds a type. Fails if the name is in use.
    public func add(_ name: String, _ bind: @escaping Bind) throws(Failure) {
        let (isNew, isClosing) = state.locked { state -> (Bool, Bool) in
            guard !container.isClosing, state.types[name] == nil else {
                return (state.types[name] == nil, container.isClosing)
            }
            state.types[name] = bind
            return (true, false)
        }
        if isClosing { throw Failure(.closed, "the runtime is closing") }
        guard isNew else {
            throw Failure(
                .exists, "there is a settings type with the name '\(name)': give each type a name of its own",
                path: name)
        }
    }

    /// Returns the function of a type that binds a section. Fails if no type has the name.
    public func bind(_ name: String) throws(Failure) -> Bind {
        let (found, known) = state.locked { state in (state.types[name], state.types.keys.map { String($0) }) }
        if let found { return found }
        let near = suggestion(for: name, among: known.sorted())
        let list =
            known.isEmpty
            ? "; the modules have none" : near.isEmpty ? "; there are: \(known.sorted().listed())" : near
        throw Failure(.notFound, "no module has a settings type '\(name)'\(list)", path: name)
    }

    /// Removes all types, and with them the data of the host. Called when the runtime closes.
    func close() {
        let ended = state.locked { state in
            defer { state.types = [:] }
            return state.types
        }
        withExtendedLifetime(ended) {}
    }

    // MARK: readers

    /// Records that code reads a binding as a type. Later bindings of the name must have that type.
    func note(_ reader: SettingsReader, of name: String) { state.locked { $0.readers[name] = reader } }

    /// Fails if code that reads the former binding of the name could not read this one.
    public func require(_ binding: SettingsBinding) throws(Failure) {
        if let reader = state.locked({ $0.readers[binding.name] }) { try binding.requireValues(of: reader) }
    }
}
