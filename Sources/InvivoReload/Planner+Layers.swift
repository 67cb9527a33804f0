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
        ids.formUnion(set.targets.attached.map(\.id))
        ids.formUnion(set.targets.detached.map(\.id))
        let documents = DocumentsNext(wiring.staged, documents, warned: before.warned)
        // Names that are not keys. They do not become keys by being named in a document, because keys are never removed.
        var unknown: NameSet = []
        for key in documents.changed {
            if let id = names.id(of: key) {
                ids.insert(id)
            } else {
                unknown.insert(key)
            }
        }
        var found: [Failure] = []
        var omitted = 0
        func note(_ body: () throws(Failure) -> Void) {
            do throws(Failure) { try body() } catch {
                if found.count < Failure.most { found.append(error) } else { omitted += 1 }
            }
        }
        func noteWarnings(_ key: String, since count: Int) {
            if warnings.count > count {
                findings.planned.insert(key)
                findings.warned.insert(key)
            } else if !before.warned.isEmpty {
                findings.planned.insert(key)
            }
        }
        for id in ids.sorted() {
            try Loading.check()
            let key = (wiring.definitions.changed[id] ?? nil)?.key ?? names.name(id)
            let count = warnings.count
            note { () throws(Failure) in
                try planLayers(wiring, rebased, &effects, &restarts, id, key, try documents.said(key), &warnings)
            }
            noteWarnings(key, since: count)
        }
        var known: Set<String>?
        for key in unknown {
            try Loading.check()
            let count = warnings.count
            defer { noteWarnings(key, since: count) }
            guard let said = try documents.said(key) else { continue }
            guard limits.allowsPendingTargets || found.count < Failure.most else {
                omitted += 1
                continue
            }
            note { () throws(Failure) in
                try planUntargeted(
                    key, said, waits: limits.allowsPendingTargets, wiring, &effects.changes, &warnings, &known)
            }
        }
        found.sort {
            ($0.location.file, $0.location.line, $0.location.column) < (
                $1.location.file, $1.location.line, $1.location.column
            )
        }
        if let failure = Failure.gathered(found, omitted: omitted) { failures.append(failure) }
        return findings
    }

    /// The traits of all documents for one key.
    private struct Said {
        var specs: [TraitSpec]
        /// The location of the key in the first document that names it.
        var location: Location
    }

    /// The documents after a plan.
    private final class DocumentsNext {
        /// The keys for which a document of the plan has other traits than before, and those whose former plan had warnings: the
        /// report has these again.
        private(set) var changed: NameSet = []
        private let staged: [(document: Document, next: Document.State)]
        private let open: [Document]
        /// In the order in which later ones win; not needed where no key is concerned.
        private lazy var states: [Document.State] = {
            var next: [ObjectIdentifier: Document.State] = [:]
            for (document, state) in staged { next[ObjectIdentifier(document)] = state }
            let opened = staged.map(\.document).filter { !$0.state.isOpen }
            return (open.filter(\.state.isOpen) + opened).map { next[ObjectIdentifier($0)] ?? $0.state }
                .sorted { $0.order < $1.order }
        }()

        /// By the thread that has the turn. Without `warned`, `changed` has all keys that the documents of the plan named or name.
        init(_ staged: Staged, _ open: [Document], warned: NameSet? = nil) {
            self.open = open
            self.staged = staged.documents
            for (document, state) in staged.documents {
                guard let warned else {
                    changed.formUnion(document.state.traits.keys + state.traits.keys)
                    continue
                }
                changed.formUnion(state.traits.changedTargets(since: document.state.traits))
                if state.order != document.state.order { changed.formUnion(state.traits.keys) }
                for key in warned where document.state.traits.contains(key) || state.traits.contains(key) {
                    changed.insert(key)
                }
            }
        }

        /// Nil when no document names it.
        func said(_ key: String) throws(Failure) -> Said? {
            var said: Said?
            for state in states {
                guard let entry = try state.traits[key] else { continue }
                if said == nil { said = Said(specs: [], location: entry.targetLocation) }
                said?.specs += entry.traits
            }
            return said
        }
    }

    /// Adds the errors of the traits to those of a plan that has failed already, as far as the types of their targets are known.
    func checkTraits(_ wiring: NextWiring, _ failures: inout [Failure]) throws(Failure) {
        let set = wiring.set
        let documents = DocumentsNext(wiring.staged, documents)
        // If definitions change too, a key may be missing because of their errors.
        let knowsKeys = set.keys.definitions.isEmpty && set.assemblies.isEmpty && before.links.patterns.isEmpty
        var warnings: [Report.Warning] = []
        var known: Set<String>?
        for key in documents.changed.sorted() {
            guard let said = try documents.said(key) else { continue }
            let id = names.id(of: key)
            let definition = id.flatMap { next($0, wiring.definitions) }
            let attached = id.flatMap { id in
                set.targets.attached.first { $0.id == id }?.type ?? observed.targets(id).first?.type
                    ?? before.targetTypes[id]
            }
            do throws(Failure) {
                if let type = definition.flatMap({ typeNext($0, wiring.definitions) }) ?? attached {
                    _ = try traits.layers(for: key, type: type, said.specs) { _, _ in }
                } else if definition == nil && knowsKeys && !limits.allowsPendingTargets {
                    var changes: [Report.Change] = []
                    try planUntargeted(key, said, waits: false, wiring, &changes, &warnings, &known)
                }
            } catch {
                for other in error.all where !failures.contains(where: other.isSame(as:)) { failures.append(other) }
            }
        }
    }

    /// Plans traits for a key that is not defined, attached or declared.
    private func planUntargeted(
        _ key: String, _ said: Said, waits: Bool, _ wiring: NextWiring, _ changes: inout [Report.Change],
        _ warnings: inout [Report.Warning], _ known: inout Set<String>?
    ) throws(Failure) {
        try traits.checkNames(said.specs)
        let definitions = wiring.definitions
        guard waits else {
            let keys =
                known
                ?? Set(
                    before.definitions.values.filter { !isRemoved($0.id, definitions) }.map(\.key)
                        + definitions.changed.values.compactMap { $0?.key }
                        + (observed.targetKeys + before.targetTypes.keys).map(names.name))
            known = keys
            throw Failure(
                .spec,
                "no target has the key '\(key)'\(Self.targetHint(key, keys.sorted())) "
                    + "(pending_targets, or --wait, permits keys that come later)",
                path: "traits.\(key)",
                at: said.location)
        }
        guard !said.specs.isEmpty else { return }
        warnings.append(
            Report.Warning(
                .noTarget, "no target has the key '\(key)' yet; its traits wait for one", at: said.location))
        changes.append(
            Report.Change(
                key: key, what: INVIVO_CHANGED_PENDING, at: said.location,
                from: wiring.origins.value(at: said.location)))
    }

    /// The key that was meant: with its assembly, or spelled otherwise.
    private static func targetHint(_ key: String, _ names: [String]) -> String {
        let whole = names.filter { $0.hasSuffix(".\(key)") }
        return whole.count == 1 ? ", did you mean '\(whole[0])'?" : suggestion(for: key, among: names)
    }

    private func isRemoved(_ id: UInt32, _ definitions: DefinitionPlan) -> Bool {
        if case .some(nil) = definitions.changed[id] { true } else { false }
    }

    private func planLayers(
        _ wiring: NextWiring, _ rebased: Set<UInt32>, _ effects: inout Effects,
        _ restarts: inout PendingRestarts.Changes, _ id: UInt32,
        _ key: String, _ said: Said?, _ warnings: inout [Report.Warning]
    ) throws(Failure) {
        let specs = said?.specs ?? []
        let set = wiring.set
        let leaving = Set(set.targets.detached.map(ObjectIdentifier.init))
        let staying =
            observed.targets(id).filter { !leaving.contains(ObjectIdentifier($0)) }
            + set.targets.attached.filter { $0.id == id }
        let definition = flatNext(id, wiring.definitions, wiring.compiled)
        let former = graph.configuration(id) as? TargetLayers
        var layers: TargetLayers?
        if let type = definition?.type ?? staying.first?.type ?? before.targetTypes[id] {
            var notes: [Report.Warning] = []
            layers =
                specs.isEmpty
                ? nil
                : try traits.layers(for: key, type: type, specs) { notes.append(Report.Warning(.renamed, $0, at: $1)) }
            warnings += notes
        } else if let said {
            var known: Set<String>?
            let waits = limits.allowsPendingTargets || definition != nil
            try planUntargeted(key, said, waits: waits, wiring, &effects.changes, &warnings, &known)
        }
        guard
            layers != nil || former != nil || definition?.type?.description.blockSize ?? 0 > 0
                || !set.targets.detached.isEmpty
                || definition?.base.isEmpty == false
        else { return }
        effects.editor.set(layers, at: id)
        if effects.editor.recipe(id)?.scope.isShared == false { effects.store.reshaped.insert(id) }

        var hasLive = false
        if let definition, let description = definition.type?.description, description.blockSize > 0 {
            hasLive = description.properties.allSatisfy(\.isInBlock)
            if let block = try TargetLayers.block(of: definition, layers: layers) {
                let old = graph.block(id)
                if old == nil || old?.size != block.size || !block.hasSameBytes(as: old) {
                    effects.editor.set(block, at: id)
                    effects.store.retunedBlocks.insert(id)
                }
            }
        }
        let isRebuilt = effects.steps.builds.contains { $0.id == id }
        let isRemade = isRebuilt || effects.editor.cell(id) !== graph.cell(id)
        var shared: Set<UInt64> = []
        // The object has its former definition until it is created again.
        let isRestarted = restarts[id]?.definition != nil
        if !isRemade, before.alias(id) == nil {
            for object in observed.objects(id) {
                shared.insert(object)
                hasLive = true
                effects.steps.tuned.append((id, object, layers))
                guard !isRestarted, let definition, let former = before.definitions[id] else { continue }
                for (index, value) in definition.base where former.base[index]?.isSame(as: value) != true {
                    guard let property = definition.type?.description.properties[index], !property.takesRestart else {
                        continue
                    }
                    if !property.isInBlock { effects.steps.based.append((object, index, value)) }
                }
            }
        }
        // A shared instance that is attached to its own key follows it once, and still does when it is detached.
        for target in staying where !shared.contains(target.object) {
            hasLive = true
            var own = layers
            if let type = layers?.type, type !== target.type {
                own = try traits.layers(for: key, type: target.type, specs) { _, _ in }
            }
            effects.steps.tuned.append((id, target.object, own))
        }
        // A target that only changes its key changes from the former layers to the new ones in one step.
        let moving = Set(set.targets.attached.map(\.object))
        for target in set.targets.detached
        where target.id == id && !shared.contains(target.object) && !moving.contains(target.object) {
            effects.steps.tuned.append((id, target.object, nil))
        }
        // The slot of an object that does not exist yet is replaced when a base value changes.
        guard !isRemade || !isRebuilt && rebased.contains(id) else { return }
        let changed = changedValues(of: id, former, layers, isRestarted ? nil : definition)
        for (index, property, old, new) in changed {
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
                    property: property.name, at: location, from: origin))
        }
    }

    /// The properties that have other values than before, with these values; nil = the property's own.
    private func changedValues(
        of id: UInt32, _ former: TargetLayers?, _ layers: TargetLayers?, _ definition: Definition?
    ) -> [(index: Int, property: Property, old: Value?, new: Value?)] {
        guard
            let properties = (layers ?? former)?.type.description.properties ?? definition?.type?.description.properties
        else { return [] }
        let base = before.definitions[id]?.base ?? [:]
        var indices = Set((former?.effective ?? [:]).keys).union((layers?.effective ?? [:]).keys)
        if let definition {
            indices.formUnion(
                definition.base.keys.filter { base[$0]?.isSame(as: definition.base[$0] ?? .null) != true })
        }
        return indices.sorted().compactMap { index in
            guard index < properties.count else { return nil }
            let old = former?.effective[index]?.value
            let new = layers?.effective[index]?.value
            if let old, let new, old.isSame(as: new) { return nil }
            return (index, properties[index], old ?? base[index], new ?? definition?.base[index])
        }
    }
}
