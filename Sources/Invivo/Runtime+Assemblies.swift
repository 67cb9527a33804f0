internal import CInvivo

extension Runtime {
    /// Activates an assembly, and the assemblies that it refers to, as one reload. Its properties become factories.
    ///
    /// For an active assembly, only options that were changed since take effect. An active assembly of the same name is
    /// replaced: members that the new one does not have are removed.
    @discardableResult
    public func activate<Part: Assembly>(_ assembly: Part) throws(InvivoError) -> Part {
        try change { changes throws(InvivoError) in try changes.activate(assembly) }
        return assembly
    }

    /// Several assemblies, in any order, as one reload.
    public func activate(_ first: Assembly, _ second: Assembly, _ others: Assembly...) throws(InvivoError) {
        try activate([first, second] + others)
    }

    /// Activates an array of assemblies as one reload.
    public func activate(_ assemblies: [Assembly]) throws(InvivoError) {
        try change { changes throws(InvivoError) in try changes.activate(assemblies) }
    }

    /// Registers assemblies without activating them. An assembly that depends on one activates it, and a manifest may
    /// refer to it. Until then, a resolve of one of its keys fails, and the error names the assembly to activate.
    public func describe(_ assemblies: Assembly...) throws(InvivoError) {
        var activation = AssemblyActivation(core, assemblies)
        try activation.describe()
    }

    /// Removes descriptions: other assemblies no longer activate these, and their properties can be used in another
    /// runtime. Described dependencies stay described, and active assemblies stay active. An assembly that was not
    /// described is `.notFound`.
    public func forget(_ assembly: Assembly, _ others: Assembly...) throws(InvivoError) {
        for each in [assembly] + others { try core.forget(each.name, each) }
    }

    /// Removes the description of an assembly of any language, by its name.
    public func forget(assembly name: String) throws(InvivoError) { try core.forget(name, nil) }

    /// Activates an assembly under its own prefix, beside other assemblies of its class.
    ///
    ///     let left = try runtime.mount(Channel(), as: "left", remap: ["clock.main": "studio.clock"])
    ///
    /// Its members have the keys `left.member`, and refer to each other. References to other assemblies follow the
    /// remaps; the longest match wins. A remap applies to keys, first parts of keys and names of collaborators. Lookups
    /// by type in the assembly prefer objects of the same mount. An unused remap is an error.
    @discardableResult
    public func mount<Part: Assembly>(
        _ assembly: Part, as prefix: String, remap: [String: any RemapTarget] = [:]
    ) throws(InvivoError) -> Part {
        try change { changes throws(InvivoError) in try changes.mount(assembly, as: prefix, remap: remap) }
        return assembly
    }

    /// Removes the definitions of activated assemblies, as one reload. Their properties can then be activated again.
    /// Removing an assembly with dependents is an error that lists them.
    public func remove(_ assembly: Assembly, _ others: Assembly...) throws(InvivoError) {
        try change { changes throws(InvivoError) in try changes.remove([assembly] + others) }
    }

    /// Removes an assembly of any language by its name, or a mount by its prefix.
    public func remove(assembly name: String) throws(InvivoError) {
        try change { changes throws(InvivoError) in try changes.remove(assembly: name) }
    }

    /// The state of an assembly, by its name or the prefix of a mount.
    public func state(ofAssembly name: String) throws(InvivoError) -> AssemblyState {
        AssemblyState(rawValue: try core.state(ofAssembly: name)) ?? .unknown
    }

    /// Commits the changes that `describe` adds, if there are any.
    private func change(_ describe: (ChangeSet) throws(InvivoError) -> Void) throws(InvivoError) {
        let changes = try ChangeSet(core)
        try describe(changes)
        if changes.hasAssemblies { try changes.commit() } else { changes.end() }
    }
}

/// The state of an assembly's name.
public enum AssemblyState: UInt32, Sendable {
    case unknown = 0
    /// Described, but not active.
    case inactive = 1
    case active = 2
}

extension Core {
    func state(ofAssembly name: String) throws(InvivoError) -> UInt32 {
        var state: UInt32 = 0
        try call(naming: name) { $0.pointee.assembly_state(handle, $1, &state, $2) }
        return state
    }

    /// Removes a description, unless another assembly has the name.
    fileprivate func forget(_ name: String, _ assembly: Assembly?) throws(InvivoError) {
        let known = registry.withLock { $0.knownAssemblies[name]?.assembly }
        if let assembly, assembly !== known {
            throw InvivoError(.notFound, "the assembly '\(name)' was not described here", path: name)
        }
        try call(naming: name) { $0.pointee.assembly_forget(handle, $1, $2) }
        registry.withLock { _ = $0.knownAssemblies.removeValue(forKey: name) }
        guard let known, self.name(of: known) == nil else { return }
        known.leave()
    }
}

extension ChangeSet {
    /// Activates an assembly, with its collaborators.
    public func activate(_ assembly: Assembly) throws(InvivoError) { try activate([assembly]) }

    /// Activates several assemblies, which may depend on each other.
    public func activate(_ first: Assembly, _ second: Assembly, _ others: Assembly...) throws(InvivoError) {
        try activate([first, second] + others)
    }

    /// Activates an array of assemblies.
    public func activate(_ assemblies: [Assembly]) throws(InvivoError) {
        try stage(AssemblyActivation(core, assemblies))
    }

    /// Activates an assembly under a prefix. See `Runtime.mount`.
    public func mount(
        _ assembly: Assembly, as prefix: String, remap: [String: any RemapTarget] = [:]
    ) throws(InvivoError) {
        try stage(AssemblyActivation(core, [assembly], mount: (prefix, remap)))
    }

    private func stage(_ activation: AssemblyActivation) throws(InvivoError) {
        var activation = activation
        let isChanged = try activation.activate(self)
        stage(isAny: isChanged, undo: activation.undo, finish: activation.finish)
    }

    /// Removes the definitions of assemblies.
    public func remove(_ assembly: Assembly, _ others: Assembly...) throws(InvivoError) {
        try remove([assembly] + others)
    }

    func remove(_ assemblies: [Assembly]) throws(InvivoError) {
        for assembly in assemblies {
            guard let name = core.name(of: assembly) else {
                throw InvivoError(.notFound, "the assembly '\(assembly.name)' is not active here", path: assembly.name)
            }
            try remove(assembly: name)
        }
    }

    /// Removes an assembly of any language by its name, or a mount by its prefix.
    public func remove(assembly name: String) throws(InvivoError) {
        try core.call(naming: name) { $0.pointee.changes_deactivate(handle, $1, $2) }
        let core = core
        let former = core.registry.withLock { $0.assemblies[name] }
        core.registry.withLock { $0.activate(name, nil) }
        let undo = { core.registry.withLock { $0.activate(name, former) } }
        let finish = { () -> Void in former?.assembly?.leave() }
        stage(isAny: true, undo: [undo], finish: [finish])
    }
}

extension Assembly {
    /// Unbinds its properties, so that they can be activated again.
    func leave() {
        let members = Members(of: self)
        for (_, definition) in members.definitions { definition.unbind() }
        for (_, collaborator) in members.collaborators { collaborator.meet(nil) }
        mount(nil)
    }
}
