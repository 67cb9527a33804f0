internal import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Planner {
    /// Plans the layers of each affected key from all documents. Returns the keys that it has planned, and those with warnings.
    func planLayers(
        _ wiring: NextWiring, _ rebased: Set<UInt32>, _ effects: inout Effects,
        _ restarts: inout PendingRestarts.Changes,
        _ warnings: inout [Report.Warning], _ failures: inout [Failure]
    ) throws(Failure) -> LayerFindings {
        let set = wiring.set
        var findings = LayerFindings()
        var ids = IDSet(set.rebuilds.overtaken.keys)
        ids.formUnion(wiring.definitions.changed.keys)
        ids.formUnion(
            wiring.compiled.reconfigured.filter { wiring.compiled.recipes[$0]?.type?.description.blockSize ?? 0 > 0 })
        let traits = TraitsNext(self, wiring, warned: before.traits.warned)
        // Names that are not keys. They do not become keys by being named in a document, because keys are never removed.
        var unknown: NameSet = []
        func add(_ key: String) {
            // The others that declare it are planned anyway, because they change.
            if !before.links.specKeys.isEmpty { ids.formUnion(before.links.specKeys[key]) }
            if let id = names.id(of: key) {
                ids.insert(id)
            } else {
                unknown.insert(key)
            }
        }
        for key in traits.concerned { add(key) }
        for key in traits.specKeys.abandoned(graph) { add(key) }
        let moved = IDSet((set.targets.attached + set.targets.detached).map(\.id))
        let inputs = LayerInputs(wiring, traits, rebased, effects.steps, settled: moved.filter { !ids.contains($0) })
        ids.formUnion(moved)
        var found: [Failure] = []
        var omitted = 0
        func note(_ body: () throws(Failure) -> Void) {
            do throws(Failure) { try body() } catch {
                omitted += error.omitted
                // Definitions may have the traits of one key, and keys inherit from others: they have errors in common.
                for one in error.all.prefix(error.all.count - (error.omitted > 0 ? 1 : 0))
                where !found.contains(where: one.isSame(as:)) {
                    if found.count < Failure.most { found.append(one) } else { omitted += 1 }
                }
            }
        }
        func noteWarnings(_ key: String, since count: Int) {
            if warnings.count > count {
                findings.planned.insert(key)
                findings.warned.insert(key)
            } else if !before.traits.warned.isEmpty {
                findings.planned.insert(key)
            }
        }
        var untargeted: [Untargeted] = []
        while !ids.isEmpty || !unknown.isEmpty {
            for id in ids.sorted() {
                try Loading.check()
                let key = (wiring.definitions.changed[id] ?? nil)?.key ?? names.name(id)
                let count = warnings.count
                let specKey = flatNext(id, wiring.definitions, wiring.compiled).map(\.specKey) ?? key
                note { () throws(Failure) in
                    try planLayers(
                        of: id, (key, specKey), inputs, &effects, &restarts, &untargeted, &warnings)
                }
                warnings += traits.takeSkipped()
                noteWarnings(key, since: count)
                if let specKey, specKey != key { noteWarnings(specKey, since: count) }
            }
            ids = []
            for key in unknown.sorted() {
                try Loading.check()
                let count = warnings.count
                defer { noteWarnings(key, since: count) }
                note { () throws(Failure) in
                    guard let given = try traits.flat(key) else { return }
                    warnings += traits.takeSkipped()
                    untargeted.append(
                        Untargeted(
                            key: key, traits: given.traits, location: given.location, waits: limits.allowsPendingTargets
                        ))
                }
            }
            unknown = []
            // Keys that were inherited from, and now need a target.
            for key in traits.abandoned where traits.uses[Name(key)] == nil { add(key) }
        }
        var known: Set<String>?
        for one in untargeted {
            try Loading.check()
            let count = warnings.count
            defer { noteWarnings(one.key, since: count) }
            guard one.waits || found.count < Failure.most else {
                omitted += 1
                continue
            }
            note { () throws(Failure) in
                do throws(Failure) {
                    try planUntargeted(one, traits, wiring, &effects.changes, &warnings, &known)
                } catch {
                    guard error.all.allSatisfy({ traits.skips(one.traits, $0) }) else { throw error }
                }
                warnings += traits.takeSkipped()
            }
        }
        (findings.uses, findings.moving, findings.attached) = (traits.uses, traits.moving, traits.attached)
        findings.inherited = traits.inherited.counts
        let templates = try unreadTemplates(untargeted.map { ($0.key, $0.location) }, traits, wiring)
        findings.doubtful = try misspelledConditions(traits, wiring) + templates.doubtful
        findings.unread = templates.unread
        for name in findings.doubtful {
            findings.planned.insert(name.key)
            findings.warned.insert(name.key)
        }
        found.sort {
            ($0.location.file, $0.location.line, $0.location.column) < (
                $1.location.file, $1.location.line, $1.location.column
            )
        }
        if let failure = Failure.gathered(found, omitted: omitted) { failures.append(failure) }
        return findings
    }

    /// A key with traits, and without a target.
    private struct Untargeted {
        let key: String
        let traits: [FlatTrait]
        let location: Location
        /// Whether it may stay without one.
        let waits: Bool
    }

    /// Adds the errors of the traits to those of a plan that has failed already, as far as the types of their targets are known.
    func checkTraits(_ wiring: NextWiring, _ failures: inout [Failure]) throws(Failure) {
        let set = wiring.set
        let traits = TraitsNext(self, wiring, warned: nil)
        // If definitions change too, a key may be missing because of their errors.
        let knowsKeys = set.keys.definitions.isEmpty && set.assemblies.isEmpty && before.links.patterns.isEmpty
        var warnings: [Report.Warning] = []
        var known: Set<String>?
        for key in traits.changed.sorted() {
            do throws(Failure) {
                guard let given = try traits.flat(key) else { continue }
                let id = names.id(of: key)
                let definition = id.flatMap { next($0, wiring.definitions) }
                let attached = id.flatMap { id in
                    set.targets.attached.first { $0.id == id }?.type ?? observed.targets(id).first?.type
                        ?? before.traits.targetTypes[id]
                }
                let isOwn = id.flatMap { flatNext($0, wiring.definitions, wiring.compiled) }?.specKey == key
                let own = isOwn ? definition.flatMap { typeNext($0, wiring.definitions) } : nil
                let others = traits.specKeys.users(of: key).compactMap { id in
                    next(id, wiring.definitions).flatMap { typeNext($0, wiring.definitions) }
                }
                let types = others + [own ?? attached].compactMap { $0 }
                for type in types { _ = try traits.layers(key, type, given.traits, &warnings) }
                if types.isEmpty, definition == nil && knowsKeys && !limits.allowsPendingTargets {
                    var changes: [Report.Change] = []
                    let one = Untargeted(key: key, traits: given.traits, location: given.location, waits: false)
                    do throws(Failure) {
                        try planUntargeted(one, traits, wiring, &changes, &warnings, &known)
                    } catch {
                        guard error.all.allSatisfy({ traits.skips(one.traits, $0) }) else { throw error }
                    }
                }
            } catch {
                guard error.code != .timeout, error.code != .closed else { throw error }
                for other in error.all where !failures.contains(where: other.isSame(as:)) { failures.append(other) }
            }
        }
    }

    /// Plans traits for a key that is not defined, attached or declared. A key that begins with a dot is there to be inherited from.
    private func planUntargeted(
        _ one: Untargeted, _ traits: TraitsNext, _ wiring: NextWiring, _ changes: inout [Report.Change],
        _ warnings: inout [Report.Warning], _ known: inout Set<String>?
    ) throws(Failure) {
        try traits.checkNames(one.traits, &warnings)
        guard !one.key.hasPrefix("."), !traits.isInherited(one.key), traits.specKeys.users(of: one.key).isEmpty else {
            return
        }
        let definitions = wiring.definitions
        guard one.waits else {
            if let definition = names.id(of: one.key).flatMap({ flatNext($0, definitions, wiring.compiled) }) {
                let taken = definition.specKey.map { "has the traits of '\($0)'" } ?? "has no traits"
                throw Failure(
                    .spec, "the definition '\(one.key)' \(taken) (spec_key), and no target is attached to its own key",
                    path: "traits.\(one.key)", at: one.location)
            }
            let keys =
                known
                ?? Set(
                    before.definitions.values.filter { !definitions.isRemoved($0.id) }.map(\.key)
                        + definitions.changed.values.compactMap { $0?.key }
                        + (observed.targetKeys + before.traits.targetTypes.keys).map(names.name))
            known = keys
            throw Failure(
                .spec,
                "no target has the key '\(one.key)'\(suggestion(nearestKey(to: one.key, among: keys.sorted()))) "
                    + "(pending_targets, or --wait, permits keys that are defined later)",
                path: "traits.\(one.key)", at: one.location)
        }
        guard !one.traits.isEmpty else { return }
        warnings.append(Report.Warning(.noTarget, waiting(one.key, definitions), at: one.location))
        changes.append(
            Report.Change(
                key: one.key, what: INVIVO_CHANGED_PENDING, at: one.location,
                from: wiring.origins.value(at: one.location)))
    }

    /// Why the traits of a key have no target.
    private func waiting(_ key: String, _ definitions: DefinitionPlan) -> String {
        guard let id = names.id(of: key), let alias = next(id, definitions)?.alias else {
            return "no target has the key '\(key)' yet; its traits wait for one"
        }
        let decision = covers(id, definitions)?.wiring.flatMap { $0.target == nil ? nil : $0 }
        let place = decision.map { " (\($0.location.text))" } ?? ""
        return
            "'\(key)' is an alias of '\(alias)'\(place) and creates no object, so its traits wait; list them under '\(alias)'"
    }

    /// What the layers of each key are planned from.
    private struct LayerInputs {
        let wiring: NextWiring
        let traits: TraitsNext
        /// The keys of which only base values change.
        let rebased: Set<UInt32>
        /// The keys whose shared instance is built.
        let built: Set<UInt32>
        /// The targets that are detached.
        let leaving: Set<ObjectIdentifier>
        /// The keys of which only targets are attached or detached: the others stay as they are.
        let settled: Set<UInt32>

        init(
            _ wiring: NextWiring, _ traits: TraitsNext, _ rebased: Set<UInt32>, _ steps: CommitSteps, settled: [UInt32]
        ) {
            (self.wiring, self.traits, self.rebased) = (wiring, traits, rebased)
            self.settled = Set(settled)
            built = Set(steps.builds.map(\.id))
            leaving = Set(wiring.set.targets.detached.map(ObjectIdentifier.init))
        }
    }

    /// Plans the layers of a key. `keys`: the key itself, and the one whose traits its objects have.
    private func planLayers(
        of id: UInt32, _ keys: (own: String, spec: String?), _ inputs: LayerInputs, _ effects: inout Effects,
        _ restarts: inout PendingRestarts.Changes, _ untargeted: inout [Untargeted],
        _ warnings: inout [Report.Warning]
    ) throws(Failure) {
        let (wiring, traits, leaving) = (inputs.wiring, inputs.traits, inputs.leaving)
        let set = wiring.set
        let key = keys.own
        let joining = set.targets.attached.filter { $0.id == id }
        let staying = observed.targets(id).lazy.filter { !leaving.contains(ObjectIdentifier($0)) }
        let first = staying.first ?? joining.first
        let definition = flatNext(id, wiring.definitions, wiring.compiled)
        let former = graph.configuration(id) as? TargetLayers
        let isOwn = keys.spec == key
        let ownType = isOwn ? definition?.type : nil
        let attachedType = ownType ?? first?.type ?? before.traits.targetTypes[id]
        let attached = try traits.flat(key, for: attachedType)
        // The traits of the objects of the definition. Attached objects always have those of the key that they are attached to.
        let given =
            isOwn
            ? attached : try keys.spec.flatMap { (key) throws(Failure) in try traits.flat(key, for: definition?.type) }
        var layers: TargetLayers?
        if let type = definition?.type ?? attachedType {
            layers = try traits.layers(key, type, given?.traits ?? [], of: definition, &warnings)
        }
        if attachedType == nil, let attached {
            untargeted.append(
                Untargeted(
                    key: key, traits: attached.traits, location: attached.location,
                    waits: limits.allowsPendingTargets || isOwn && definition != nil))
        }
        guard
            layers != nil || former != nil || definition?.type?.description.blockSize ?? 0 > 0
                || !isOwn && first != nil || !set.targets.detached.isEmpty
                || definition?.base.isEmpty == false
        else { return }
        effects.editor.set(layers, at: id)
        if effects.editor.recipe(id)?.scope.isShared == false { effects.store.reshaped.insert(id) }

        var hasLive = false
        if let definition, let description = definition.type?.description, description.blockSize > 0 {
            hasLive = description.properties.allSatisfy(\.isInBlock)
            let old = before.alias(id) == nil ? graph.block(id) : nil
            let isSameType = graph.recipe(id)?.type === definition.type
            var movement = BlockMovement(isSameType ? old : nil, under: former, observed.runs(id))
            let made: Block?
            do throws(Failure) { made = try TargetLayers.block(of: definition, layers: layers, &movement) } catch {
                throw error.under(key)
            }
            if let block = made {
                if movement.isConcerned { traits.moving[id] = movement.next }
                if old == nil || old?.size != block.size || !block.hasSameBytes(as: old) {
                    effects.editor.set(block, at: id)
                    effects.store.retunedBlocks.insert(id)
                }
            }
        }
        let isRebuilt = inputs.built.contains(id)
        let isRemade = isRebuilt || effects.editor.cell(id) !== graph.cell(id)
        var shared: Set<UInt64> = []
        // The object has its former definition until it is created again.
        let isRestarted = restarts[id]?.definition != nil
        if !isRemade, before.alias(id) == nil {
            for object in observed.objects(id) where isOwn || !isAttached(object, set.targets, leaving) {
                shared.insert(object)
                hasLive = true
                effects.steps.tuned.append((id, object, layers))
                guard !isRestarted, let definition else { continue }
                let base = graph.recipe(id)?.definition.base ?? [:]
                for (index, value) in definition.base where base[index]?.isSame(as: value) != true {
                    guard let property = definition.type?.description.properties[index], !property.takesRestart else {
                        continue
                    }
                    if !property.isInBlock { effects.steps.based.append((object, index, value)) }
                }
            }
        }
        // A shared instance that is attached to its own key follows it once, and still does when it is detached.
        var ownLayers: TargetLayers?
        let others = staying.filter { !shared.contains($0.object) }
        // If the others stay as they are, one of them tells the layers that they have.
        let tuned = inputs.settled.contains(id) ? others.first.map { [$0] } ?? [] : Array(others)
        for target in tuned + joining where !shared.contains(target.object) {
            hasLive = hasLive || isOwn
            var own = layers
            if !isOwn || layers.map({ $0.type !== target.type }) == true {
                var known: [Report.Warning] = []
                own = try traits.layers(key, target.type, attached?.traits ?? [], &known)
            }
            ownLayers = ownLayers ?? own
            effects.steps.tuned.append((id, target.object, own))
        }
        let knownLayers = before.traits.attached[id]
        if !isOwn || knownLayers != nil {
            traits.attached[id] = .some(isOwn ? nil : ownLayers)
        }
        if !isOwn {
            let wasOwn = graph.recipe(id).map { $0.definition.specKey == key } ?? true
            effects.changes += attachedChanges(
                (id, key), from: knownLayers ?? (wasOwn ? former : nil), to: ownLayers, wiring)
        }
        // A target that only changes its key changes from the former layers to the new ones in one step.
        let moving = Set(set.targets.attached.map(\.object))
        for target in set.targets.detached
        where target.id == id && !shared.contains(target.object) && !moving.contains(target.object) {
            effects.steps.tuned.append((id, target.object, nil))
        }
        // The slot of an object that does not exist yet is replaced when a base value changes.
        guard !isRemade || !isRebuilt && inputs.rebased.contains(id) else { return }
        let changed = changedValues(of: id, former, layers, isRestarted ? nil : definition)
        for application in changedCode(former, layers) {
            let location = application.location.location
            effects.changes.append(
                Report.Change(
                    key: key, what: hasLive ? INVIVO_CHANGED_TUNED : INVIVO_CHANGED_PENDING,
                    property: application.type.name, of: keys.spec, at: location,
                    from: wiring.origins.value(at: location)))
        }
        for (index, property, old, new) in changed {
            let isLayered = layers?.effective[index] != nil || former?.effective[index] != nil
            let isPending = property.takesRestart || !(hasLive || property.isInBlock)
            let object = property.takesRestart && shared.count == 1 ? shared.first ?? 0 : 0
            if object != 0 {
                restarts[id, default: .init()].properties[index] = (old, new)
                restarts[id]?.object = object
            }
            var location = Location()
            var origin = Report.Origin.none
            if let layer = layers?.effective[index] {
                location = layer.location.location
                origin = wiring.origins.value(at: location)
            } else if definition?.base[index] != nil {
                // A call gave the value, not the definition.
                origin = Report.Origin(wiring.staged.restored == nil ? .call : .rollback)
            } else if let definition {
                location = definition.location
                origin = self.origin(of: definition, wiring.definitions, wiring.origins)
            }
            effects.changes.append(
                Report.Change(
                    key: key, what: isPending ? INVIVO_CHANGED_PENDING : INVIVO_CHANGED_TUNED,
                    property: property.name, of: isLayered ? keys.spec : nil, at: location, from: origin))
        }
    }

    /// The changes of attached objects whose key has a definition with other traits.
    private func attachedChanges(
        _ target: (id: UInt32, key: String), from former: TargetLayers?, to layers: TargetLayers?, _ wiring: NextWiring
    ) -> [Report.Change] {
        func change(_ property: String, _ location: Location?) -> Report.Change {
            Report.Change(
                key: target.key, what: INVIVO_CHANGED_TUNED, property: property, at: location ?? Location(),
                from: location.map(wiring.origins.value) ?? .none)
        }
        return changedCode(former, layers).map { change($0.type.name, $0.location.location) }
            + changedValues(of: target.id, former, layers, nil).map { index, property, _, _ in
                change(property.name, layers?.effective[index]?.location.location)
            }
    }

    /// Whether an object is attached to a key after the plan.
    private func isAttached(_ object: UInt64, _ changes: [TargetChange], _ leaving: Set<ObjectIdentifier>) -> Bool {
        if changes.attached.contains(where: { $0.object == object }) { return true }
        return observed.attachment(of: object).map { !leaving.contains(ObjectIdentifier($0)) } ?? false
    }

    /// The traits that run code and are added, removed or changed, or stand in another order.
    private func changedCode(_ former: TargetLayers?, _ layers: TargetLayers?) -> [CodeApplication] {
        let (old, new) = (former?.above.map(\.application) ?? [], layers?.above.map(\.application) ?? [])
        let same = zip(old, new).prefix { $0.isSame(as: $1) }.count
        // A replaced one is reported once.
        return new[same...]
            + old[same...].filter { former in !new[same...].contains { $0.type.name == former.type.name } }
    }

    /// The properties that have other values than before, with these values; nil = the property's own.
    private func changedValues(
        of id: UInt32, _ former: TargetLayers?, _ layers: TargetLayers?, _ definition: Definition?
    ) -> [(index: Int, property: Property, old: Value?, new: Value?)] {
        guard
            let properties = (layers ?? former)?.type.description.properties ?? definition?.type?.description.properties
        else { return [] }
        let base = graph.recipe(id)?.definition.base ?? [:]
        var indices = Set((former?.effective ?? [:]).keys).union((layers?.effective ?? [:]).keys)
        if let definition {
            indices.formUnion(
                definition.base.keys.filter { base[$0]?.isSame(as: definition.base[$0] ?? .null) != true })
        }
        return indices.sorted().compactMap { index in
            guard index < properties.count else { return nil }
            let old = former?.effective[index]
            let new = layers?.effective[index]
            if let old, let new, old.shows(sameAs: new) { return nil }
            return (index, properties[index], old?.value ?? base[index], new?.value ?? definition?.base[index])
        }
    }
}
