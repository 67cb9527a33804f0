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
