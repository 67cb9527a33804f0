public import InvivoBase
public import InvivoGraph

/// Assemblies that were described and are not active: their keys are known, and answer who must be activated.
extension Container {
    /// Makes descriptions known; those of a former name are replaced.
    public func describe(_ descriptions: [AssemblyDescription]) throws(Failure) {
        // What a replaced one holds of the host's ends without the monitor.
        let former = try monitor.locked { () throws(Failure) -> NameTable<AssemblyDescription> in
            guard !isClosing else { throw Failure(.closed, "the runtime is closing") }
            let former = described
            for description in descriptions {
                let name = description.name
                let known = [described[name], active[name]].lazy.compactMap { $0 }.first { $0.isSame(as: description) }
                if let known { description.join(known) }
                forgetDormant(name)
                described[name] = known ?? description
                noteDormant(name)
            }
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Takes a description back.
    public func forget(_ name: String) throws(Failure) {
        let former = try monitor.locked { () throws(Failure) -> AssemblyDescription in
            forgetDormant(name)
            guard let former = described.removeValue(forKey: name) else {
                throw Failure(
                    .notFound,
                    "no assembly '\(name)' is described\(suggestion(for: name, among: described.keys.sorted()))",
                    path: name)
            }
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Takes over assemblies that the next generation adds, replaces or removes (nil).
    public func activate(_ changes: [(name: String, description: AssemblyDescription?)]) {
        guard !changes.isEmpty else { return }
        let former = monitor.locked { () -> [AssemblyDescription?] in
            changes.map { name, description in
                let former = active[name]
                active[name] = description
                if (former == nil) != (description == nil) { noteDormant(name) }
                return former
            }
        }
        // A former description may end host objects, which happens without the monitor.
        withExtendedLifetime(former) {}
    }

    /// Returns whether an assembly is described, and whether one is active under its name.
    public func assemblyState(_ name: String) -> (isDescribed: Bool, isActive: Bool) {
        monitor.locked { (described[name] != nil, active[name] != nil) }
    }

    /// Forgets the keys of a description that is about to be replaced or removed. Under the monitor.
    private func forgetDormant(_ name: String) {
        for definition in described[name]?.definitions ?? [] where dormant[definition.key]?.isSameName(as: name) == true
        {
            dormant[definition.key] = nil
        }
    }

    /// Notes the keys of a described assembly, whether they are inactive or not any more. Under the monitor.
    private func noteDormant(_ name: String) {
        let isDormant = active[name] == nil
        for definition in described[name]?.definitions ?? [] {
            if isDormant {
                dormant[definition.key] = name
            } else if dormant[definition.key]?.isSameName(as: name) == true {
                dormant[definition.key] = nil
            }
        }
    }

    static func notActive(_ key: String, _ assembly: String) -> Failure {
        Failure(.notReady, "the assembly '\(assembly)' must be activated before '\(key)' is resolved", path: key)
    }

    /// A key that would make a type, and its assembly.
    func dormantMaker(of type: String) -> (key: String, assembly: String)? {
        monitor.locked {
            for (name, description) in described.sorted(by: { $0.key < $1.key }) where active[name] == nil {
                for definition in description.definitions where definition.alias == nil && !definition.isAbstract {
                    let named = definition.body.typeName.flatMap { types[$0] }
                    let isMade =
                        (definition.type ?? named)?.description.isKind(of: type)
                        ?? (definition.body.typeName == type)
                    if isMade { return (definition.key, name) }
                }
            }
            return nil
        }
    }

    /// The failure of a resolve that is optional, and would find nothing only because an assembly is not active.
    public func requireActive(_ id: UInt32) throws(Failure) {
        try monitor.locked { () throws(Failure) in
            let name = keys.name(id)
            if let assembly = dormant[name] { throw Self.notActive(name, assembly) }
        }
    }
}
