internal import CInvivo

extension Core {
    /// Whether a described assembly of a definition was activated elsewhere; if so, registers it here.
    func takesPart(_ assembly: String, _ definition: AnyDefinition) throws(InvivoError) -> Bool {
        guard let known = registry.withLock({ $0.knownAssemblies[assembly] }),
            known.members.values.contains(where: { $0.definition == ObjectIdentifier(definition) }),
            try state(ofAssembly: assembly) == UInt32(INVIVO_ASSEMBLY_ACTIVE)
        else { return false }
        registry.withLock { if $0.assemblies[assembly] == nil { $0.activate(assembly, known) } }
        return true
    }
}

extension Core {
    /// The number of the current generation; 0 after close.
    var generation: UInt64 {
        var number: UInt64 = 0
        _ = table.pointee.runtime_generation(handle, &number, nil)
        return number
    }

    /// Notes the assemblies that were active in a generation, before a change of them.
    func note(_ assemblies: [String: ActiveAssembly], in generation: UInt64) {
        registry.withLock { registry in
            registry.formerAssemblies.append((generation, assemblies))
            if registry.formerAssemblies.count > Self.mostFormer { registry.formerAssemblies.removeFirst() }
        }
    }

    private static var mostFormer: Int { 1_000 }

    /// After a rollback: the assemblies that were active in that generation are so again, with their properties as factories.
    func restoreAssemblies(of generation: UInt64) {
        let found = registry.withLock { registry in
            (registry.assemblies, registry.formerAssemblies.first { $0.generation >= generation }?.assemblies)
        }
        guard let next = found.1 else { return }
        let former = found.0
        for (name, active) in former where next[name]?.assembly !== active.assembly { active.assembly?.leave() }
        note(former, in: self.generation - 1)
        registry.withLock { $0.assemblies = next.filter { $0.value.assembly != nil } }
        for (name, active) in next where former[name]?.assembly !== active.assembly {
            guard let assembly = active.assembly else { continue }
            if name != assembly.ownName { assembly.mount(name) }
            let members = Members(of: assembly)
            for (member, definition) in members.definitions {
                guard let known = active.members[member] else { continue }
                if definition.place == nil {
                    definition.stand(AnyDefinition.Place(core: self, key: known.key, name: known.name))
                }
                definition.belong(to: name)
                definition.bind(self, known.key)
            }
            for (member, collaborator) in members.collaborators {
                if let reference = active.bound[member] { collaborator.meet(next[reference.prefix]?.assembly) }
            }
        }
    }
}

extension Registry {
    /// Records an assembly as active, or removes it.
    mutating func activate(_ name: String, _ assembly: ActiveAssembly?) {
        assemblies[name] = assembly
    }
}

/// An assembly that is active or described, as its runtime knows it.
struct ActiveAssembly: @unchecked Sendable {
    /// Kept alive by its definitions.
    weak var assembly: Assembly?
    var members: [String: ActiveMember] = [:]
    /// The targets of references to its collaborators, by member.
    var bound: [String: Reference] = [:]

    /// A reference to a collaborator: the first part of its keys, and the name under which it is looked up.
    struct Reference: Hashable {
        var prefix: String
        var kind: String?
        var isOptional = false
    }

    /// Whether the two have equal options.
    func isSame(as other: ActiveAssembly) -> Bool {
        assembly === other.assembly && bound == other.bound && members.keys == other.members.keys
            && members.allSatisfy { name, member in other.members[name].map(member.isSame) ?? false }
    }
}

/// An active member, as it was when it was defined.
struct ActiveMember {
    var definition: ObjectIdentifier
    var revision: Int
    var key: invivo_key
    var name: String
    var inner: [String]

    func isSame(as other: ActiveMember) -> Bool { revision == other.revision }
}
