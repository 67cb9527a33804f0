internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Planner {
    /// Returns the trait types after the plan; nil if they stay.
    func planTraitTypes(_ changes: NamedChanges<TraitType>, _ failures: inout [Failure]) -> TraitTypes? {
        guard !changes.isEmpty else { return nil }
        var next = before.traits.types
        for name in changes.removed {
            if next[name] == nil {
                let near = suggestion(for: name, among: next.names.sorted())
                failures.append(Failure(.notFound, "no trait type has the name '\(name)'\(near)", path: name))
            }
            next.remove(name)
        }
        for type in changes.added { next.insert(type) }
        return next
    }
}

/// The traits of keys after a plan.
final class TraitsNext {
    let documents: DocumentsNext
    /// The keys for which a document of the plan has other traits than before, and those whose former plan had warnings: the report has
    /// these again.
    let changed: NameSet
    let specKeys: SpecKeys
    private let table: TraitTable
    private let skipped: SkippedTraits
    private let flattener: TraitFlattener
    let inherited: InheritedTraits
    /// The keys whose traits depend on something that the plan changes.
    let concerned: NameSet
    private let former: TraitUses
    /// The copy of the environment before the plan.
    private let environment: Environment
    /// The names that the traits of the planned keys refer to.
    private(set) var uses: [Name: Set<TraitUses.Use>] = [:]
    /// The movements in blocks where there are some, or were some.
    var moving: IDTable<[Int: RampRun]> = [:]
    /// See `TraitFacts.attached`.
    var attached: [UInt32: TargetLayers?] = [:]

    init(_ planner: Planner, _ wiring: NextWiring, warned: NameSet?) {
        let documents = wiring.documents
        self.documents = documents
        changed = documents.changedKeys(warned: warned)
        specKeys = SpecKeys(planner.before.links.specKeys, wiring)
        let call = planner.call
        table = TraitTable(wiring.traitTypes ?? planner.before.traits.types, declare: planner.declare) {
            (checks) throws(Failure) in
            let faults = try call(checks)
            if let failure = Failure.gathered(faults.map(\.failure)) { throw failure }
        }
        let skipped = SkippedTraits(documents)
        self.skipped = skipped
        former = planner.before.traits.uses
        environment = planner.before.config.environment
        inherited = InheritedTraits(former, most: planner.limits.maxDocumentNodes)
        concerned = Self.concerned(by: wiring, changed, former, environment)
        inherited.forget(concerned)
        flattener = TraitFlattener(
            traits: { (key) throws(Failure) in try documents.traits(key) }, keys: { documents.keys },
            config: (wiring.config.layers ?? planner.before.config).tree,
            environment: (wiring.config.layers ?? planner.before.config).environment, budget: inherited,
            skips: { skipped.skips($0, $1) })
    }

    private static func concerned(
        by wiring: NextWiring, _ changed: NameSet, _ former: TraitUses, _ environment: Environment
    ) -> NameSet {
        guard !former.isEmpty else { return changed }
        var found = changed
        for change in wiring.config.changes { found.formUnion(former.users(of: .configuration(Name(change.path)))) }
        if let next = wiring.config.layers?.environment,
            environment.differs(from: next, in: [TraitFlattener.profiles])
        {
            found.formUnion(former.users(of: .configuration(Name(TraitSpec.profiles))))
        }
        let types = wiring.set.functions.traits
        for name in types.removed + types.added.map(\.name) { found.formUnion(former.users(of: .type(Name(name)))) }
        for key in changed { found.formUnion(former.users(of: .inherits(Name(key)))) }
        return found
    }

    /// Returns the traits of a key without those that stand for lists. Nil when no document names it.
    func flat(_ key: String) throws(Failure) -> (traits: [FlatTrait], location: Location)? {
        uses[Name(key)] = []
        if let overflow = inherited.overflow { throw overflow }
        guard let given = try documents.traits(key) else { return nil }
        let flat = try flattener.flat(key, given.specs)
        try inherited.count(key, flat.inherited, at: given.location)
        uses[Name(key)] = flat.uses
        return (flat.traits, given.location)
    }

    /// Returns the same. After an error, the traits that do not stand for lists are checked for objects of a type, too.
    func flat(_ key: String, for type: ObjectType?) throws(Failure) -> (traits: [FlatTrait], location: Location)? {
        do throws(Failure) { return try flat(key) } catch {
            guard let type, ![.timeout, .closed, .tooLarge].contains(error.code), let given = try documents.traits(key)
            else { throw error }
            let plain = given.specs.filter { !TraitFlattener.standsForList($0) }.map { FlatTrait($0, isActive: false) }
            var failures = [error]
            var warnings: [Report.Warning] = []
            do throws(Failure) { _ = try layers(key, type, plain, &warnings) } catch { failures.append(error) }
            throw Failure.gathered(failures) ?? error
        }
    }

    /// Returns the layers of a key on objects of a type, and the warnings about them. `definition` is that of the key, if the layers
    /// apply to its block.
    func layers(
        _ key: String, _ type: ObjectType, _ traits: [FlatTrait], of definition: Definition? = nil,
        _ warnings: inout [Report.Warning]
    ) throws(Failure) -> TargetLayers? {
        guard !traits.isEmpty else { return nil }
        let found = KeyWarnings()
        let layers = try table.layers(for: key, type: type, traits, notes(found, definition))
        warnings += found.renamed + found.leftOut
        return layers
    }

    /// Checks the names of the traits of a key without a target.
    func checkNames(_ traits: [FlatTrait], _ warnings: inout [Report.Warning]) throws(Failure) {
        let found = KeyWarnings()
        try table.checkNames(traits, notes(found))
        warnings += found.leftOut
    }

    /// The warnings about the traits of one key.
    private final class KeyWarnings {
        var renamed: [Report.Warning] = []
        var leftOut: [Report.Warning] = []
    }

    private func notes(_ found: KeyWarnings, _ definition: Definition? = nil) -> TraitTable.Notes {
        TraitTable.Notes(
            warn: { found.renamed.append(Report.Warning(.renamed, $0, at: $1)) },
            leavesOut: { [self] spec in leftOut(spec).map { found.leftOut.append($0) } != nil },
            skips: { [skipped] in skipped.skips($0, $1) },
            check: { (layers) throws(Failure) in if let definition { try layers.checkBlock(of: definition) } })
    }

    /// Skips the traits of a key without a target, if their documents keep going.
    func skips(_ traits: [FlatTrait], _ failure: Failure) -> Bool {
        guard let first = traits.first, traits.allSatisfy({ documents.skips($0.spec) }) else { return false }
        return skipped.skips(first.spec, failure)
    }

    /// Returns the warnings about the traits that have been skipped since the last call.
    func takeSkipped() -> [Report.Warning] { skipped.take() }

    /// A trait of an unknown type is an error of a document that is read now. In another one its type was removed, and it is left out.
    private func leftOut(_ spec: TraitSpec) -> Report.Warning? {
        guard !documents.isStaged(spec) else { return nil }
        return Report.Warning(
            .unknownTrait,
            "no trait type has the name \(quotedName(spec.type)) any more; \(spec.path) has no effect until it is added",
            at: spec.typeLocation)
    }

    /// The keys that planned keys do not inherit from any more.
    var abandoned: [String] {
        uses.flatMap { key, next in
            former.uses(key.text).subtracting(next).compactMap { use in
                if case .inherits(let name) = use { name.text } else { nil }
            }
        }
    }

    /// The conditions of the planned keys that do not hold because their names mean nothing.
    var unmet: [UnmetCondition] { flattener.unmet }

    /// The names of the active profiles that messages may show.
    var shownProfiles: [String] { flattener.shownProfiles }

    /// The keys whose traits other keys inherit, after the plan.
    var inheritedKeys: [String] {
        let planned = uses.values.flatMap { $0 }
        let names = planned.compactMap { use in if case .inherits(let name) = use { name.text } else { nil } }
        let kept = former.inherited.filter { key in
            former.users(of: .inherits(Name(key))).contains { uses[Name($0)] == nil }
        }
        return Array(NameSet(names + kept))
    }

    /// Whether the traits of a key refer to a name, after the plan.
    func isUsed(_ use: TraitUses.Use) -> Bool {
        uses.contains { $0.value.contains(use) } || former.users(of: use).contains { uses[Name($0)] == nil }
    }

    /// Whether the traits of another key inherit those of a key, after the plan.
    func isInherited(_ key: String) -> Bool {
        isUsed(.inherits(Name(key)))
    }
}
