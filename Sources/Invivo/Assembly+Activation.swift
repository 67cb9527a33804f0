internal import CInvivo

extension Runtime {
    /// Defines what an assembly declares, and the assemblies it refers to, as one reload, and makes its properties factories.
    ///
    /// An assembly that is active already stays as it is but for what was said of it since. One of the same name that was
    /// active is replaced: what it had and this one has not is removed.
    @discardableResult
    public func activate<Part: Assembly>(_ assembly: Part) throws(InvivoError) -> Part {
        var activation = Activation(core, [assembly])
        try activation.run()
        return assembly
    }

    /// Several assemblies, in any order, as one reload.
    public func activate(_ first: Assembly, _ second: Assembly, _ others: Assembly...) throws(InvivoError) {
        var activation = Activation(core, [first, second] + others)
        try activation.run()
    }

    /// Removes what activated assemblies have defined, as one reload; their properties are recipes again.
    public func remove(_ assembly: Assembly, _ others: Assembly...) throws(InvivoError) {
        let assemblies = [assembly] + others
        let changes = try ChangeSet(core)
        var names: [String] = []
        for assembly in assemblies {
            let name = assembly.name
            guard let active = core.registry.withLock({ $0.assemblies[name] }), active.assembly === assembly else {
                throw InvivoError(.notFound, "the assembly '\(name)' is not active here", path: name)
            }
            for key in active.keys { try changes.remove(key) }
            names.append(name)
        }
        try changes.commit()
        core.registry.withLock { registry in
            for name in names { registry.assemblies[name] = nil }
            registry.candidates = [:]
        }
        for assembly in assemblies {
            let members = Members(of: assembly)
            for (_, definition) in members.definitions { definition.unbind() }
            for (_, collaborator) in members.collaborators { collaborator.meet(nil) }
        }
    }
}

/// An assembly that is active, as its runtime knows it.
struct ActiveAssembly: @unchecked Sendable {
    /// Kept alive by its definitions.
    weak var assembly: Assembly?
    var members: [String: ActiveMember] = [:]

    var keys: [String] { members.values.flatMap { [$0.name] + $0.inner } }
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
}

/// Activating assemblies: described first, then committed as one reload; nothing is touched when that fails.
private struct Activation {
    private let core: Core
    private let given: [Assembly]
    private var all: [Assembly] = []
    private var members: [ObjectIdentifier: Members] = [:]
    private var problems: [InvivoError] = []
    /// What to do when it does not succeed.
    private var undo: [() -> Void] = []

    init(_ core: Core, _ given: [Assembly]) {
        self.core = core
        self.given = given
    }

    mutating func run() throws(InvivoError) {
        do throws(InvivoError) { try commit() } catch {
            for step in undo.reversed() { step() }
            throw error
        }
    }

    private func active() -> [String: ActiveAssembly] { core.registry.withLock { $0.assemblies } }

    private mutating func commit() throws(InvivoError) {
        gather()
        if let error = InvivoError(all: problems) { throw error }
        let formerly = active()
        let next = try place(formerly)
        core.registry.withLock { registry in
            for (name, assembly) in next { registry.assemblies[name] = assembly }
            registry.candidates = [:]
        }
        let core = core
        undo.append {
            core.registry.withLock { registry in
                for name in next.keys { registry.assemblies[name] = formerly[name] }
                registry.candidates = [:]
            }
        }
        let changes = try ChangeSet(core)
        var inner: [String: [String: [String]]] = [:]
        var isChanged = false
        for assembly in all {
            let name = assembly.name
            let home = Resolver.Home(assembly)
            let former = formerly[name]
            for (member, definition) in members[ObjectIdentifier(assembly)]?.definitions ?? [] {
                if let known = former?.members[member], former?.assembly === assembly,
                    known.definition == ObjectIdentifier(definition), known.revision == definition.revision
                {
                    inner[name, default: [:]][member] = known.inner
                    continue
                }
                isChanged = true
                var describer = Describer(core, changes, home)
                describer.define("\(name).\(member)", definition.draft)
                problems += describer.problems
                inner[name, default: [:]][member] = describer.inner
            }
            var kept: Set<String> = []
            for member in (next[name]?.members ?? [:]).values { kept.insert(member.name) }
            for keys in (inner[name] ?? [:]).values { kept.formUnion(keys) }
            for key in former?.keys ?? [] where !kept.contains(key) {
                isChanged = true
                try changes.remove(key)
            }
        }
        if let error = InvivoError(all: problems) { throw error }
        if isChanged { try changes.commit() }
        core.registry.withLock { registry in
            for (name, members) in inner {
                for (member, keys) in members { registry.assemblies[name]?.members[member]?.inner = keys }
            }
        }
        for assembly in all {
            for (_, definition) in members[ObjectIdentifier(assembly)]?.definitions ?? [] {
                if let place = definition.place { definition.bind(core, place.key) }
            }
            if let former = formerly[assembly.name]?.assembly, former !== assembly { core.leave(former, for: assembly) }
        }
    }

    // MARK: - Who takes part

    private mutating func gather() {
        for assembly in given where !all.contains(where: { $0 === assembly }) { all.append(assembly) }
        var index = 0
        var names: [String: Assembly] = [:]
        while index < all.count {
            let assembly = all[index]
            index += 1
            let name = assembly.name
            let found = Members(of: assembly)
            members[ObjectIdentifier(assembly)] = found
            problems += found.problems
            if let other = names[name] {
                problems.append(
                    InvivoError(
                        .exists,
                        "two assemblies are named '\(name)', a \(type(of: other)) and a \(type(of: assembly)); "
                            + "name one: \(type(of: assembly))(name: …)", path: name))
            }
            names[name] = assembly
            for (member, definition) in found.definitions {
                if let place = definition.place, place.core !== core || place.name != "\(name).\(member)" {
                    problems.append(
                        InvivoError(
                            .exists, "the definition is active elsewhere, as '\(place.name)'; make another assembly",
                            path: "\(name).\(member)"))
                }
            }
            for inner in found.assemblies where !all.contains(where: { $0 === inner }) { all.append(inner) }
            for (member, collaborator) in found.collaborators {
                guard let other = meet(collaborator, for: assembly, "\(name).\(member)") else { continue }
                let former = collaborator.current
                collaborator.meet(other)
                undo.append { collaborator.meet(former) }
            }
        }
    }

    private mutating func meet(
        _ collaborator: AnyCollaborator, for assembly: Assembly, _ path: String
    ) -> Assembly? {
        let running = active().values.compactMap(\.assembly).sorted { $0.name < $1.name }
        for (isGiven, among) in [(true, given), (false, running), (false, all)] {
            let fitting = among.filter { $0 !== assembly && collaborator.fits($0) }
            let exact = fitting.filter(collaborator.isExactly)
            let derived = fitting.filter { !collaborator.isExactly($0) }
            let best = isGiven ? (derived.isEmpty ? exact : derived) : (exact.isEmpty ? derived : exact)
            if best.count == 1 { return best[0] }
            if best.count > 1 {
                let names = best.map { "\($0.name) (\(type(of: $0)))" }.joined(separator: ", ")
                problems.append(
                    InvivoError(
                        .ambiguous, "a \(collaborator.wanted) is wanted here, and several are: \(names)", path: path))
                return nil
            }
        }
        if let made = collaborator.made() {
            all.append(made)
            return made
        }
        let there = (all + running).map(\.name)
        problems.append(
            InvivoError(
                .notFound,
                "nothing is a \(collaborator.wanted), which is wanted here; there are: "
                    + "\(there.joined(separator: ", ")). Activate one together with this one", path: path))
        return nil
    }

    // MARK: - Keys

    /// Gives every member its key, and answers what will be active.
    private mutating func place(
        _ formerly: [String: ActiveAssembly]
    ) throws(InvivoError) -> [String: ActiveAssembly] {
        var next: [String: ActiveAssembly] = [:]
        for assembly in all {
            let name = assembly.name
            var active = ActiveAssembly(assembly: assembly)
            for (member, definition) in members[ObjectIdentifier(assembly)]?.definitions ?? [] {
                let path = "\(name).\(member)"
                var key = invivo_key()
                try core.call(naming: path) { $0.pointee.key_intern(core.handle, $1, &key, $2) }
                if definition.place == nil {
                    definition.stand(AnyDefinition.Place(core: core, key: key, name: path))
                    undo.append { definition.stand(nil) }
                }
                definition.belong(to: name)
                let draft = definition.draft
                active.members[member] = ActiveMember(
                    definition: ObjectIdentifier(definition), revision: definition.revision, key: key, name: path,
                    inner: formerly[name]?.members[member]?.inner ?? [], type: draft.value, rank: draft.rank,
                    isFound: !draft.isAbstract && !draft.isHiddenByClass && draft.making.isFound,
                    isFoundByInterface: !draft.isAbstract && !draft.isHiddenByInterface && draft.making.isFound,
                    takesArguments: !draft.parameters.isEmpty)
            }
            next[name] = active
        }
        return next
    }
}

extension Draft.Making {
    /// Whether lookups by type find it.
    var isFound: Bool { if case .alias = self { false } else { true } }
}

extension Core {
    /// An assembly that another one has taken the place of: what both have resolves as before, the rest is gone.
    fileprivate func leave(_ former: Assembly, for next: Assembly) {
        let kept = Set(Members(of: next).definitions.map(\.name))
        for (member, definition) in Members(of: former).definitions where !kept.contains(member) { definition.unbind() }
    }

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
