internal import CInvivo

/// Activates assemblies: collects them with their collaborators, describes them as tables, and passes these to the runtime. If
/// that fails, `undo` reverts the changes of this package's tables.
struct AssemblyActivation {
    let core: Core
    /// A mount's prefix and remaps, for the one that is given.
    let mount: (prefix: String, remaps: [String: any RemapTarget])?
    private let given: [Assembly]
    private var all: [Assembly] = []
    private var members: [ObjectIdentifier: Members] = [:]
    /// The remaps that lead to a collaborator of a class. The engine does not look them up.
    private var met: Set<String> = []
    private var problems: [InvivoError] = []
    /// Actions for a failed activation, and for a successful one.
    private(set) var undo: [() -> Void] = []
    private(set) var finish: [() -> Void] = []

    /// The action for one assembly.
    enum Step {
        /// It stays unchanged.
        case stays
        /// Some members have changed.
        case changes([(member: String, definition: AnyDefinition)])
        /// It is activated by its description.
        case activates
        /// It is activated as a table.
        case whole
    }

    init(_ core: Core, _ given: [Assembly], mount: (prefix: String, remaps: [String: any RemapTarget])? = nil) {
        self.core = core
        self.given = given
        self.mount = mount
    }

    // MARK: - Activating and describing

    /// Adds the assemblies to a change set; returns whether there was anything to add.
    mutating func activate(_ changes: ChangeSet) throws(InvivoError) -> Bool {
        try attempt { activation throws(InvivoError) in try activation.add(changes) }
    }

    /// Describes the assemblies without activating them.
    mutating func describe() throws(InvivoError) {
        try attempt { activation throws(InvivoError) in try activation.makeKnown() }
    }

    private mutating func attempt<Result>(
        _ body: (inout AssemblyActivation) throws(InvivoError) -> Result
    ) throws(InvivoError) -> Result {
        do throws(InvivoError) { return try body(&self) } catch {
            for step in undo.reversed() { step() }
            undo = []
            throw error
        }
    }

    private mutating func prepare() throws(InvivoError) -> [String: ActiveAssembly] {
        if let mount, let assembly = given.first {
            assembly.leaveClosed(besides: core)
            guard assembly.mounted == nil, core.name(of: assembly) == nil else {
                throw InvivoError(
                    .exists, "the assembly '\(assembly.name)' is active: mount another \(type(of: assembly))",
                    path: mount.prefix)
            }
            assembly.mount(mount.prefix)
            undo.append { assembly.mount(nil) }
        }
        gather()
        if let error = InvivoError(all: problems) { throw error }
        return try place()
    }

    private mutating func add(_ changes: ChangeSet) throws(InvivoError) -> Bool {
        var next = try prepare()
        let formerly = core.registry.withLock { $0.assemblies }
        let described = core.registry.withLock { $0.knownAssemblies }
        note(next, over: formerly)
        var isChanged = false
        for assembly in all {
            let name = assembly.name
            guard let wanted = next[name] else { continue }
            switch step(wanted, formerly[name], described[name]) {
            case .stays: next[name] = formerly[name]
            case .changes(let several):
                isChanged = true
                next[name] = try changed(several, wanted, formerly[name], changes)
            case .activates:
                isChanged = true
                next[name] = described[name]
                try core.call { table, error in
                    withNamed(name) { table.pointee.changes_activate(changes.handle, $0, nil, error) }
                }
            case .whole:
                isChanged = true
                var table = self.table(assembly, wanted)
                if let mount, assembly === given.first {
                    next[name] = try table.mount(changes, mount.prefix)
                } else {
                    next[name] = try table.activate(changes)
                }
                problems += table.problems
            }
        }
        if let error = InvivoError(all: problems) { throw error }
        note(next, over: formerly)
        bindAtTheEnd(formerly)
        return isChanged
    }

    private mutating func makeKnown() throws(InvivoError) {
        let next = try prepare()
        let formerly = core.registry.withLock { $0.assemblies }
        let described = core.registry.withLock { $0.knownAssemblies }
        // They are treated as active while they are described, because their lookups by type may lead to each other.
        let core = core
        for (name, assembly) in next { core.registry.withLock { $0.activate(name, assembly) } }
        defer { for name in next.keys { core.registry.withLock { $0.activate(name, formerly[name]) } } }
        var known: [String: ActiveAssembly] = [:]
        for assembly in all {
            let name = assembly.name
            guard let wanted = next[name], described[name]?.isSame(as: wanted) != true,
                formerly[name]?.assembly !== assembly
            else { continue }
            var table = self.table(assembly, wanted)
            known[name] = try table.describe()
            problems += table.problems
        }
        if let error = InvivoError(all: problems) { throw error }
        for (name, assembly) in known { core.registry.withLock { $0.knownAssemblies[name] = assembly } }
    }

    /// Records the assemblies that will be active, and the inverse.
    private mutating func note(_ next: [String: ActiveAssembly], over formerly: [String: ActiveAssembly]) {
        let core = core
        for (name, assembly) in next { core.registry.withLock { $0.activate(name, assembly) } }
        undo.append { for name in next.keys { core.registry.withLock { $0.activate(name, formerly[name]) } } }
    }

    /// Determines the action for one assembly.
    private func step(
        _ wanted: ActiveAssembly, _ former: ActiveAssembly?, _ described: ActiveAssembly?
    ) -> Step {
        guard let former, former.assembly === wanted.assembly, former.bound == wanted.bound else {
            return described?.isSame(as: wanted) == true ? .activates : .whole
        }
        guard let assembly = wanted.assembly, former.members.keys == wanted.members.keys else { return .whole }
        let several = (members[ObjectIdentifier(assembly)]?.definitions ?? []).filter { name, _ in
            guard let member = wanted.members[name], let known = former.members[name] else { return true }
            return !member.isSame(as: known)
        }
        return several.isEmpty ? .stays : .changes(several.map { ($0.name, $0.definition) })
    }

    /// Defines changed members of an active assembly again.
    private mutating func changed(
        _ several: [(member: String, definition: AnyDefinition)], _ wanted: ActiveAssembly, _ former: ActiveAssembly?,
        _ changes: ChangeSet
    ) throws(InvivoError) -> ActiveAssembly {
        guard let assembly = wanted.assembly else { return wanted }
        var next = wanted
        for (name, known) in former?.members ?? [:] { next.members[name]?.inner = known.inner }
        for (member, definition) in several {
            var describer = Describer(core, .changes(changes), home(assembly))
            describer.define("\(assembly.name).\(member)", definition.draft)
            problems += describer.problems
            let gone = Set(former?.members[member]?.inner ?? []).subtracting(describer.inner)
            for key in gone.sorted() { try changes.remove(key) }
            next.members[member]?.inner = describer.inner
        }
        return next
    }

    private func table(_ assembly: Assembly, _ wanted: ActiveAssembly) -> AssemblyTable {
        AssemblyTable(
            core, assembly, members[ObjectIdentifier(assembly)]?.definitions ?? [], wanted, home(assembly),
            met: assembly === given.first ? met : [])
    }

    private func home(_ assembly: Assembly) -> Resolver.Home {
        guard let mount, assembly === given.first else { return Resolver.Home(assembly) }
        let pairs = mount.remaps.map { (from: $0.key, to: $0.value.remapName) }
        return Resolver.Home(assembly, Remaps(pairs: pairs.sorted { $0.from < $1.from }))
    }

    /// After a successful commit, binds the properties as factories, and redirects references from replaced assemblies
    /// to the new ones.
    private mutating func bindAtTheEnd(_ formerly: [String: ActiveAssembly]) {
        let (core, all, members) = (core, all, members)
        // Replaced assemblies are retained until then: the commit may need their dependents.
        var replaced: [(former: Assembly, next: Assembly)] = []
        for assembly in all {
            if let former = formerly[assembly.name]?.assembly, former !== assembly {
                replaced.append((former, assembly))
            }
        }
        finish.append {
            for assembly in all {
                for (_, definition) in members[ObjectIdentifier(assembly)]?.definitions ?? [] {
                    if let place = definition.place { definition.bind(core, place.key) }
                }
            }
            for (former, next) in replaced { core.leave(former, for: next) }
        }
    }

    // MARK: - The assemblies of an activation

    private mutating func gather() {
        for assembly in given where !all.contains(where: { $0 === assembly }) { all.append(assembly) }
        var index = 0
        var names: [String: Assembly] = [:]
        var paths: [ObjectIdentifier: String] = [:]
        while index < all.count {
            let assembly = all[index]
            index += 1
            assembly.leaveClosed(besides: core)
            let name = assembly.name
            let found = Members(of: assembly)
            members[ObjectIdentifier(assembly)] = found
            problems += found.problems
            if let other = names[name] {
                problems.append(
                    InvivoError(
                        .exists,
                        "two assemblies are named '\(name)', \(article(type(of: other))) and \(article(type(of: assembly))); "
                            + "name one: \(type(of: assembly))(name: …)", path: name))
            }
            names[name] = assembly
            for (member, definition) in found.definitions {
                if let other = paths.updateValue("\(name).\(member)", forKey: ObjectIdentifier(definition)) {
                    problems.append(
                        InvivoError(
                            .exists,
                            "the definition is there already, as '\(other)'; make another one, or say "
                                + "`alias(of:)`", path: "\(name).\(member)"))
                    continue
                }
                if let place = definition.place, place.core !== core || place.name != "\(name).\(member)" {
                    problems.append(
                        InvivoError(
                            .exists, "the definition is active elsewhere, as '\(place.name)'; make another assembly",
                            path: "\(name).\(member)"))
                }
            }
            for inner in found.assemblies where !all.contains(where: { $0 === inner }) { all.append(inner) }
            for (member, collaborator) in found.collaborators { meet(collaborator, assembly, "\(name).\(member)") }
        }
    }

    private mutating func meet(_ collaborator: AnyCollaborator, _ assembly: Assembly, _ path: String) {
        let remap = assembly === given.first ? collaborator.name.flatMap { mount?.remaps[$0] } : nil
        if remap != nil, let name = collaborator.name { met.insert(name) }
        if collaborator.isByName {
            collaborator.lead(to: remap?.remapName)
            if remap != nil { undo.append { collaborator.lead(to: nil) } }
            return
        }
        guard let other = remap.map({ remapped($0, collaborator, path) }) ?? find(collaborator, assembly, path) else {
            return
        }
        let former = collaborator.current
        collaborator.meet(other)
        undo.append { collaborator.meet(former) }
    }

    /// The assembly to which a mount leads.
    private mutating func remapped(
        _ target: any RemapTarget, _ collaborator: AnyCollaborator, _ path: String
    ) -> Assembly? {
        let known = (target as? Assembly).map { [$0] } ?? (running + known + all)
        if let found = known.first(where: { $0.name == target.remapName && collaborator.isAlike($0) }) {
            if core.name(of: found) == nil, !all.contains(where: { $0 === found }) { all.append(found) }
            return found
        }
        problems.append(
            InvivoError(
                .notFound,
                "the mount leads \(collaborator.wanted) to '\(target.remapName)', which is not an active assembly of this kind "
                    + "or described; there are: \(Set((running + self.known).map(\.name)).sorted().joined(separator: ", "))",
                path: path))
        return nil
    }

    private var running: [Assembly] { named(core.registry.withLock { $0.assemblies }) }
    private var known: [Assembly] { named(core.registry.withLock { $0.knownAssemblies }) }
    private func named(_ several: [String: ActiveAssembly]) -> [Assembly] {
        several.values.compactMap(\.assembly).sorted { $0.name < $1.name }
    }

    private mutating func find(_ collaborator: AnyCollaborator, _ assembly: Assembly, _ path: String) -> Assembly? {
        let (running, known) = (running, known)
        for (isGiven, among) in [(true, given), (false, running), (false, known), (false, all)] {
            let fitting = among.filter { $0 !== assembly && collaborator.fits($0) }
            let exact = fitting.filter(collaborator.isExactly)
            let derived = fitting.filter { !collaborator.isExactly($0) }
            let best = isGiven ? (derived.isEmpty ? exact : derived) : (exact.isEmpty ? derived : exact)
            if best.count == 1 {
                // A described collaborator is activated, too.
                if core.name(of: best[0]) == nil, !all.contains(where: { $0 === best[0] }) { all.append(best[0]) }
                return best[0]
            }
            if best.count > 1 {
                let names = best.map { "\($0.name) (\(type(of: $0)))" }.joined(separator: ", ")
                problems.append(
                    InvivoError(
                        .ambiguous, "\(collaborator.wanted) is required here, and there are several: \(names)",
                        path: path))
                return nil
            }
        }
        if let made = collaborator.made() {
            if !all.contains(where: { $0 === made }) { all.append(made) }
            return made
        }
        let there = (all + running).map(\.name)
        problems.append(
            InvivoError(
                .notFound,
                "nothing is \(collaborator.wanted), which is required here; there are: "
                    + "\(there.joined(separator: ", ")). Activate one together with this one", path: path))
        return nil
    }

    // MARK: - Keys

    /// Assigns a key to every member. Returns the assemblies that will be active.
    private mutating func place() throws(InvivoError) -> [String: ActiveAssembly] {
        var next: [String: ActiveAssembly] = [:]
        for assembly in all {
            let name = assembly.name
            let found = members[ObjectIdentifier(assembly)]
            var active = ActiveAssembly(assembly: assembly)
            for (member, collaborator) in found?.collaborators ?? [] where !collaborator.isLed {
                active.bound[member] = collaborator.reference
            }
            for (member, definition) in found?.definitions ?? [] {
                let path = "\(name).\(member)"
                var key = invivo_key()
                try core.call(naming: path) { $0.pointee.key_intern(core.handle, $1, &key, $2) }
                if definition.place == nil {
                    definition.stand(AnyDefinition.Place(core: core, key: key, name: path))
                    undo.append { definition.stand(nil) }
                }
                definition.belong(to: name)
                active.members[member] = ActiveMember(
                    definition: ObjectIdentifier(definition), revision: definition.revision, key: key, name: path,
                    inner: [])
            }
            next[name] = active
        }
        return next
    }
}

extension Assembly {
    /// Makes the definitions of assemblies in closed runtimes available to another runtime.
    fileprivate func leaveClosed(besides core: Core) {
        let members = Members(of: self)
        let places = members.definitions.compactMap { $0.definition.place?.core }
        guard let former = places.first(where: { $0 !== core }), former.isClosed else { return }
        for (_, definition) in members.definitions where definition.place?.core === former { definition.unbind() }
        mount(nil)
    }
}

extension Core {
    /// The name under which an assembly is active here.
    func name(of assembly: Assembly) -> String? {
        let name = assembly.name
        return registry.withLock { $0.assemblies[name]?.assembly === assembly } ? name : nil
    }

    /// Unbinds an assembly that another one replaces. Common members resolve as before, others are unbound.
    /// Collaborators that refer to the former assembly then refer to the new one.
    fileprivate func leave(_ former: Assembly, for next: Assembly) {
        let kept = Set(Members(of: next).definitions.map(\.name))
        for (member, definition) in Members(of: former).definitions where !kept.contains(member) { definition.unbind() }
        for assembly in registry.withLock({ $0.assemblies.values.compactMap(\.assembly) }) {
            for (_, collaborator) in Members(of: assembly).collaborators where collaborator.current === former {
                if collaborator.fits(next) { collaborator.meet(next) }
            }
        }
    }
}

/// Calls the C side with the name of a described assembly.
func withNamed<Result>(_ name: String, _ body: (UnsafePointer<invivo_assembly>) -> Result) -> Result {
    name.withCString { text in
        var raw = invivo_assembly()
        raw.struct_size = MemoryLayout<invivo_assembly>.size
        raw.name = text
        raw.flags = UInt32(INVIVO_ASSEMBLY_DESCRIBED)
        return withUnsafePointer(to: &raw, body)
    }
}
