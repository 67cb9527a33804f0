internal import CInvivo

/// Which definitions of Swift assemblies make a type: what closures and initializers ask for by type.
extension Core {
    /// The key to take for a type where several make one and one of them is closest: of the highest rank, of that very type,
    /// without runtime arguments, of the same assembly. Nil: the runtime decides, or there is none.
    func nearest(_ wanted: Any.Type, near assembly: String?) -> invivo_key? {
        let found = candidates(wanted)
        guard found.count > 1 else { return nil }
        let rank = found.map(\.member.rank).max()
        var fitting = found.filter { $0.member.rank == rank }
        for isCloser: (Candidate) -> Bool in [
            { !$0.member.takesArguments }, { $0.member.type == wanted }, { $0.assembly == assembly },
        ] {
            let closer = fitting.filter(isCloser)
            if !closer.isEmpty { fitting = closer }
        }
        return fitting.count == 1 ? fitting[0].member.key : nil
    }

    /// Whether the described assembly of a definition has been activated by somebody else; from then on it is known here.
    func takesPart(_ assembly: String, _ definition: AnyDefinition) throws(InvivoError) -> Bool {
        guard let known = registry.withLock({ $0.knownAssemblies[assembly] }),
            known.members.values.contains(where: { $0.definition == ObjectIdentifier(definition) }),
            try state(ofAssembly: assembly) == UInt32(INVIVO_ASSEMBLY_ACTIVE)
        else { return false }
        registry.withLock { if $0.assemblies[assembly] == nil { $0.activate(assembly, known) } }
        return true
    }

    struct Candidate {
        var assembly: String
        var member: ActiveMember
    }

    private func candidates(_ wanted: Any.Type) -> [Candidate] {
        registry.withLock { registry in
            if let known = registry.candidates[ObjectIdentifier(wanted)] { return known }
            var found: [Candidate] = []
            for (name, active) in registry.assemblies {
                for member in active.members.values {
                    let fits =
                        member.type == wanted
                        ? member.isFound : member.isFoundByInterface && isKind(member.type, of: wanted)
                    if fits { found.append(Candidate(assembly: name, member: member)) }
                }
            }
            registry.candidates[ObjectIdentifier(wanted)] = found
            return found
        }
    }
}

extension Registry {
    /// Says which assemblies are active; what was found of types is looked for again.
    mutating func activate(_ name: String, _ assembly: ActiveAssembly?) {
        assemblies[name] = assembly
        candidates = [:]
    }
}

/// An assembly that is active or described, as its runtime knows it.
struct ActiveAssembly: @unchecked Sendable {
    /// Kept alive by its definitions.
    weak var assembly: Assembly?
    var members: [String: ActiveMember] = [:]
    /// Where references to its collaborators lead, by member.
    var bound: [String: Reference] = [:]

    /// Where references to a collaborator begin, and what it is looked for as.
    struct Reference: Hashable {
        var prefix: String
        var kind: String?
        var isOptional = false
    }

    /// Whether nothing was said of it since.
    func isSame(as other: ActiveAssembly) -> Bool {
        assembly === other.assembly && bound == other.bound && members.keys == other.members.keys
            && members.allSatisfy { name, member in other.members[name].map(member.isSame) ?? false }
    }
}

/// A member that is active: what it was when it was defined, and what lookups by type need to know of it.
struct ActiveMember {
    var definition: ObjectIdentifier
    var revision: Int
    var key: invivo_key
    var name: String
    var inner: [String]
    var type: Any.Type
    var rank: Int32
    var isFound: Bool
    var isFoundByInterface: Bool
    var takesArguments: Bool

    func isSame(as other: ActiveMember) -> Bool { revision == other.revision }
}

extension Draft {
    /// Whether it makes one object that lookups by type may find.
    var isMade: Bool {
        if case .alias = making { return false }
        return !isAbstract && !isPattern
    }
}
