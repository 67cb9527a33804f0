public import InvivoBase
public import InvivoGraph

/// The assemblies of a runtime: those that were described, those that are active, and the keys of described inactive ones.
public final class AssemblyTable: Sendable {
    private struct State {
        /// Active or not.
        var described: NameTable<AssemblyDescription> = [:]
        /// The active assemblies, by their active names.
        var active: NameTable<AssemblyDescription> = [:]
        /// The assemblies of the keys that nothing defines before their assembly is activated.
        var inactiveKeys: NameTable<String> = [:]

        /// Forgets the keys of a description that is about to be replaced or removed.
        mutating func forgetKeys(of name: String) {
            described[name]?.definitions.forEach { forgetKey($0.key, of: name) }
        }

        /// Notes the keys of a described assembly, whether they are inactive or not any more.
        mutating func noteKeys(of name: String) {
            let isInactive = active[name] == nil
            described[name]?.definitions.forEach {
                if isInactive { inactiveKeys[$0.key] = name } else { forgetKey($0.key, of: name) }
            }
        }

        private mutating func forgetKey(_ key: String, of name: String) {
            if inactiveKeys[key]?.isSameName(as: name) == true { inactiveKeys[key] = nil }
        }
    }
    private let state: Guarded<State>
    private let closing: Closing

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor, _ closing: Closing) {
        state = .init(State(), by: monitor)
        self.closing = closing
    }

    /// Adds descriptions; those of a former name are replaced.
    public func describe(_ descriptions: [AssemblyDescription]) throws(Failure) {
        // The host's references of a replaced assembly are released without the monitor.
        let former = try state.locked { (state) throws(Failure) -> NameTable<AssemblyDescription> in
            try closing.refuse()
            let former = state.described
            for description in descriptions {
                let name = description.name
                let known = [state.described[name], state.active[name]].lazy.compactMap { $0 }
                    .first { $0.isSame(as: description) }
                if let known { description.join(known) }
                state.forgetKeys(of: name)
                state.described[name] = known ?? description
                state.noteKeys(of: name)
            }
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Removes a description.
    public func forget(_ name: String) throws(Failure) {
        let former = try state.locked { (state) throws(Failure) -> AssemblyDescription in
            state.forgetKeys(of: name)
            guard let former = state.described.removeValue(forKey: name) else {
                throw Failure(
                    .notFound,
                    "no assembly '\(name)' is described\(suggestion(for: name, among: state.described.keys.sorted()))",
                    path: name)
            }
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Takes over assemblies that the next generation adds, replaces or removes (nil).
    public func activate(_ changes: [(name: String, description: AssemblyDescription?)]) {
        guard !changes.isEmpty else { return }
        let former = state.locked { state -> [AssemblyDescription?] in
            changes.map { name, description in
                let former = state.active[name]
                state.active[name] = description
                if (former == nil) != (description == nil) { state.noteKeys(of: name) }
                return former
            }
        }
        // A former description may end host objects, which happens without the monitor.
        withExtendedLifetime(former) {}
    }

    /// Returns whether an assembly is described, and whether one is active under its name.
    public func state(of name: String) -> (isDescribed: Bool, isActive: Bool) {
        state.locked { ($0.described[name] != nil, $0.active[name] != nil) }
    }

    /// The described assemblies, active or not.
    public var described: NameTable<AssemblyDescription> { state.locked { $0.described } }

    /// Calls `body` with each definition of the described assemblies. With the monitor held.
    func forEachDescribedDefinition(_ body: (Definition) -> Void) {
        for description in state.held({ $0.described }).values { description.definitions.forEach(body) }
    }

    // MARK: inactive assemblies

    /// The assembly that must be activated before `key` is defined.
    public func inactiveAssembly(of key: String) -> String? { state.locked { $0.inactiveKeys[key] } }

    /// The failure of a resolve of `key`, if its assembly is described and inactive. With the monitor held.
    func failure(ofInactive key: String) -> Failure? {
        state.held { $0.inactiveKeys[key] }.map { Self.failure(key, ofInactive: $0) }
    }

    static func failure(_ key: String, ofInactive assembly: String) -> Failure {
        Failure(.notReady, "the assembly '\(assembly)' must be activated before '\(key)' is resolved", path: key)
    }

    /// The failure of a lookup by type, if a definition of an inactive assembly would create one. With the monitor held.
    func failure(ofInactiveType type: String, among types: TypeTable) -> Failure? {
        let (described, active) = state.held { ($0.described, $0.active) }
        for (name, description) in described.sorted(by: { $0.key < $1.key }) where active[name] == nil {
            for definition in description.definitions where definition.alias == nil && !definition.isAbstract {
                let named = definition.body.typeName.flatMap { types.find($0) }
                let isCreated =
                    (definition.type ?? named)?.description.isKind(of: type) ?? (definition.body.typeName == type)
                if isCreated { return Self.failure(definition.key, ofInactive: name) }
            }
        }
        return nil
    }

    /// Removes all. With the monitor held; the caller drops the result without it.
    func removeAll() -> [NameTable<AssemblyDescription>] {
        state.held { state in
            defer { state = State() }
            return [state.described, state.active]
        }
    }
}
