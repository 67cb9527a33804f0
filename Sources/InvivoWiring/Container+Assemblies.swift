public import InvivoBase

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
                described[name] = known ?? description
            }
            findDormant()
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Takes a description back.
    public func forget(_ name: String) throws(Failure) {
        let former = try monitor.locked { () throws(Failure) -> AssemblyDescription in
            guard let former = described.removeValue(forKey: name) else {
                throw Failure(
                    .notFound,
                    "no assembly '\(name)' is described\(suggestion(for: name, among: described.keys.sorted()))",
                    path: name)
            }
            findDormant()
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Under the monitor, whenever a description came or went, or the graph changed what is active.
    public func findDormant() {
        var found: NameTable<String> = [:]
        for (name, description) in described where active[name] == nil {
            for definition in description.definitions { found[definition.key] = name }
        }
        dormant = found
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
