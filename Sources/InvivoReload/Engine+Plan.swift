internal import CInvivo
internal import InvivoBase
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// Works out the next graph and what must be redone for it. Touches nothing that anybody sees; finds all errors.
    func plan(_ staged: Staged, _ warnings: inout [(String, Place)]) throws(Failure) -> Plan {
        let graph = container.currentGraph()
        var plan = Plan(staged: staged, editor: GraphEditor(graph))
        var failures: [Failure] = []
        let rebased = planDefinitions(&plan, &failures)
        validate(plan, rebased, &failures)
        validateTargets(plan, graph, &failures)
        if let failure = Failure.gathered(failures) { throw failure }
        planCells(&plan, graph, rebased)
        planLayers(&plan, graph, &warnings, &failures)
        if let failure = Failure.gathered(failures) { throw failure }
        planAliases(&plan)
        return plan
    }

    /// The definition of a key after the plan.
    private func next(_ id: UInt32, _ plan: Plan) -> Definition? {
        if let changed = plan.definitions[id] { return changed }
        return definitions[id]
    }

    // MARK: definitions

    /// Fills in `plan.definitions`; answers the keys of which only base values change.
    private func planDefinitions(_ plan: inout Plan, _ failures: inout [Failure]) -> Set<UInt32> {
        let set = plan.staged.set
        for definition in set.definitions { plan.definitions[definition.id] = .some(definition) }
        for (id, key) in set.removed {
            if next(id, plan) == nil {
                failures.append(unknownKey(key))
            } else {
                plan.definitions[id] = .some(nil)
            }
        }
        var rebased: Set<UInt32> = []
        for (id, name, value) in set.bases {
            guard let definition = next(id, plan), let type = definition.type else {
                failures.append(unknownKey(container.keyName(id)))
                continue
            }
            do throws(Failure) {
                let found = try type.description.property(named: name)
                guard !found.property.isReadOnly else {
                    throw Failure(.readOnly, "\(type.name).\(name) cannot be set: it is read only")
                }
                try type.description.checkTunable(found.property)
                var base = definition.base
                base[type.description.index(of: found.property)] = try found.property.check(value)
                if plan.definitions[id] == nil || rebased.contains(id) { rebased.insert(id) }
                plan.definitions[id] = .some(definition.with(base: base))
            } catch {
                var failure = error
                failure.path = "\(definition.key).\(name)"
                failures.append(failure)
            }
        }
        return rebased
    }

    func unknownKey(_ key: String) -> Failure {
        let known = definitions.values.map(\.key).sorted()
        return Failure(.notFound, "no definition has the key '\(key)'\(suggestion(for: key, among: known))", path: key)
    }

    // MARK: validation

    private func validate(_ plan: Plan, _ rebased: Set<UInt32>, _ failures: inout [Failure]) {
        for (id, changed) in plan.definitions.sorted(by: { $0.key < $1.key }) where !rebased.contains(id) {
            if let definition = changed {
                validate(definition, plan, &failures)
            } else {
                for (dependent, _) in (dependents[id] ?? [:]).sorted(by: { $0.key < $1.key }) {
                    guard let holder = next(dependent, plan), plan.definitions[dependent] == nil else { continue }
                    failures.append(
                        Failure(
                            .notFound, "'\(container.keyName(id))' cannot be removed: '\(holder.key)' needs it",
                            path: holder.key, at: holder.place))
                }
                for alias in aliases[id] ?? [] where plan.definitions[alias] == nil {
                    failures.append(
                        Failure(.notFound, "'\(container.keyName(id))' cannot be removed: the alias '\(container.keyName(alias))' names it"))
                }
            }
        }
    }

    private func validate(_ definition: Definition, _ plan: Plan, _ failures: inout [Failure]) {
        func fail(_ code: Status, _ message: String) {
            failures.append(Failure(code, message, path: definition.key, at: definition.place))
        }
        func id(of key: String) -> UInt32? {
            guard let id = container.monitor.locked({ container.keys.id(of: key) }), next(id, plan) != nil else { return nil }
            return id
        }
        func missing(_ key: String, _ what: String) {
            let known = definitions.values.map(\.key) + plan.definitions.values.compactMap { $0?.key }
            fail(.notFound, "\(what) needs '\(key)', which is not defined\(suggestion(for: key, among: Set(known).sorted()))")
        }
        if let alias = definition.alias {
            guard id(of: alias) != nil else { return missing(alias, "the alias") }
        }
        for (key, throughInitializer) in definition.references where id(of: key) == nil {
            missing(key, throughInitializer ? "the initializer" : "a property")
        }
        if let cycle = cycle(from: definition, plan) {
            fail(.cycle, "the wiring goes round in a circle: \(cycle.joined(separator: " -> "))")
        }
        guard let description = definition.type?.description else { return }
        let parameters = description.signature.parameters
        if definition.factory == nil {
            var taken = Set<String>()
            for (position, injection) in definition.initializer.enumerated() {
                let name = injection.name ?? (position < parameters.count ? parameters[position].name : "")
                guard let parameter = parameters.first(where: { $0.name == name }) else {
                    if injection.name == nil {
                        fail(.arity, "'\(description.name)' takes \(parameters.count) initializer arguments, got \(definition.initializer.count)")
                    } else {
                        fail(.arity, "'\(description.name)' has no initializer parameter '\(name)'\(suggestion(for: name, among: parameters.map(\.name)))")
                    }
                    continue
                }
                if !taken.insert(name).inserted { fail(.arity, "the initializer parameter '\(name)' is given twice") }
                if case .value(let value) = injection.source {
                    do throws(Failure) { _ = try description.signature.checked(value, parameter) } catch { fail(error.code, error.message) }
                } else if case .reference(let key) = injection.source, let wanted = parameter.typeName, let target = id(of: key),
                    let type = final(target, plan)?.type, !type.description.isKind(of: wanted)
                {
                    fail(.type, "initializer parameter '\(name)' wants a '\(wanted)', and '\(key)' is a '\(type.name)'")
                }
            }
            if definition.scope != .prototype {
                for parameter in parameters where !parameter.isOptional && !taken.contains(parameter.name) {
                    fail(.arity, "the initializer parameter '\(parameter.name)' of '\(description.name)' is not given")
                }
            }
        }
        var set = Set<String>()
        for injection in definition.properties {
            guard let name = injection.name else {
                fail(.argument, "a property injection needs the property's name")
                continue
            }
            do throws(Failure) {
                let property = try description.property(named: name).property
                if property.isReadOnly { throw Failure(.readOnly, "\(description.name).\(name) cannot be set: it is read only") }
                if !set.insert(property.name).inserted { throw Failure(.exists, "the property '\(name)' is set twice") }
                switch injection.source {
                case .value(let value): _ = try property.check(value)
                case .reference, .list, .map:
                    guard !property.isInBlock else { throw Failure(.type, "the block property '\(name)' cannot hold an object") }
                }
            } catch { fail(error.code, error.message) }
        }
    }

    /// An object has one key that documents tune it by: its own, when it is a key's shared instance.
    private func validateTargets(_ plan: Plan, _ graph: Graph, _ failures: inout [Failure]) {
        for target in plan.staged.set.attached {
            guard let record = ObjectTable.record(target.object), record.pointee.key > 0 else { continue }
            let own = record.pointee.key - 1
            guard own != target.id, plan.definitions[own] == nil, isShared(target.object, own, graph) else { continue }
            let key = container.keyName(own)
            failures.append(
                Failure(
                    .exists,
                    "the object is the shared instance of '\(key)' and cannot be attached to '\(target.key)' too: documents "
                        + "tune it as '\(key)'",
                    path: target.key))
        }
    }

    private func isShared(_ object: UInt64, _ id: UInt32, _ graph: Graph) -> Bool {
        graph.cell(id)?.object == object && definitions[id]?.alias == nil
    }

    /// The definition behind a key, aliases followed.
    private func final(_ id: UInt32, _ plan: Plan) -> Definition? {
        var definition = next(id, plan)
        for _ in 0..<64 {
            guard let alias = definition?.alias, let target = container.monitor.locked({ container.keys.id(of: alias) }) else {
                return definition
            }
            definition = next(target, plan)
        }
        return nil
    }

    /// The path of a circle that leads back to `start`, or nil.
    private func cycle(from start: Definition, _ plan: Plan) -> [String]? {
        var stack: [(definition: Definition, path: [String])] = [(start, [start.key])]
        var seen: Set<UInt32> = []
        while let (definition, path) = stack.popLast() {
            for key in definition.references.map(\.key) + [definition.alias].compactMap({ $0 }) {
                guard let id = container.monitor.locked({ container.keys.id(of: key) }), let target = next(id, plan) else { continue }
                if id == start.id { return path + [key] }
                if seen.insert(id).inserted { stack.append((target, path + [key])) }
            }
        }
        return nil
    }

    // MARK: cells

    /// The affected set: exactly the dependents of what changes, along the reverse edges.
    private func planCells(_ plan: inout Plan, _ graph: Graph, _ rebased: Set<UInt32>) {
        var remade: [UInt32] = []
        var seen: Set<UInt32> = []
        var reinjected: Set<UInt32> = []
        // Holders that nobody has yet: they get a fresh cell, so that what is built during the commit is the next graph's.
        var cold: Set<UInt32> = []
        var queue = plan.definitions.keys.filter { !rebased.contains($0) }.sorted()
        seen.formUnion(queue)
        let declared = Set(queue)
        while !queue.isEmpty {
            let id = queue.removeFirst()
            remade.append(id)
            plan.touched.insert(id)
            for alias in (aliases[id] ?? []).sorted() where seen.insert(alias).inserted { queue.append(alias) }
            for (holder, throughInitializer) in (dependents[id] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let isHeld = isHeld(holder, graph)
                if !throughInitializer && isHeld {
                    reinjected.insert(holder)
                } else if seen.insert(holder).inserted {
                    queue.append(holder)
                    if !isHeld { cold.insert(holder) }
                }
            }
            let found = container.monitor.locked {
                (container.dynamicDependents[id] ?? []).filter { container.dynamicDependencies[$0]?.contains(id) == true }
            }
            for holder in found.sorted() where isHeld(holder, graph) && seen.insert(holder).inserted { queue.append(holder) }
        }
        for id in remade {
            let former = graph.cell(id)
            let definition = next(id, plan)
            let wasBuilt = former.map { $0.object != 0 || container.monitor.locked { [former] in former?.isBuilding ?? false } } ?? false
            let isAliasNow = definition?.alias != nil
            let wasAlias = definitions[id]?.alias != nil
            if let former, !wasAlias { plan.replaced.append(former) }
            let key = container.keyName(id)
            guard let definition else {
                plan.editor.set(nil as Cell?, at: id)
                plan.editor.set(nil as Block?, at: id)
                plan.changes.append(Report.Change(key: key, what: UInt32(INVIVO_CHANGED_REMOVED), property: ""))
                continue
            }
            if isAliasNow {
                plan.changes.append(Report.Change(key: key, what: UInt32(declared.contains(id) ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE), property: ""))
                continue
            }
            let cell = Cell(definition)
            plan.editor.set(cell, at: id)
            plan.created.append(cell)
            guard !cold.contains(id) else { continue }
            let hasInstance = definition.type.map { !$0.isBlockOnly } ?? false
            if definition.scope != .prototype && hasInstance && (wasBuilt && !wasAlias || definition.scope == .singleton) {
                plan.builds.append((id, cell))
            }
            let isNew = former == nil || !wasBuilt && declared.contains(id)
            plan.changes.append(Report.Change(key: key, what: UInt32(isNew ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE), property: ""))
        }
        for id in rebased {
            plan.touched.insert(id)
            guard let cell = graph.cell(id), case .some(.some(let definition)) = plan.definitions[id] else { continue }
            if cell.object == 0 && !container.monitor.locked({ cell.isBuilding }) {
                plan.replaced.append(cell)
                let fresh = Cell(definition)
                plan.editor.set(fresh, at: id)
                plan.created.append(fresh)
            }
        }
        for id in reinjected.sorted() where !seen.contains(id) {
            guard let cell = graph.cell(id), cell.object != 0 else { continue }
            plan.reinjected.append((id, cell))
            plan.changes.append(Report.Change(key: container.keyName(id), what: UInt32(INVIVO_CHANGED_REINJECTED), property: ""))
        }
    }

    /// Whether somebody may hold what the key made: built (or being built) if shared; a prototype's holders always count.
    private func isHeld(_ id: UInt32, _ graph: Graph) -> Bool {
        guard let cell = graph.cell(id) else { return false }
        if cell.definition.scope == .prototype { return true }
        return cell.object != 0 || container.monitor.locked { cell.isBuilding }
    }

    private func planAliases(_ plan: inout Plan) {
        let changed = plan.touched.union(plan.definitions.keys)
        for id in changed.sorted() {
            guard let definition = next(id, plan), definition.alias != nil, let target = final(id, plan) else { continue }
            plan.editor.set(plan.editor.cell(target.id), at: id)
            plan.editor.set(plan.editor.block(target.id), at: id)
        }
        // Blocks that only were tuned show through their aliases too.
        for id in plan.retunedBlocks {
            for alias in allAliases(of: id) { plan.editor.set(plan.editor.block(id), at: alias) }
        }
    }

    private func allAliases(of id: UInt32) -> Set<UInt32> {
        var found: Set<UInt32> = []
        var queue = [id]
        while let next = queue.popLast() {
            for alias in aliases[next] ?? [] where found.insert(alias).inserted { queue.append(alias) }
        }
        return found
    }

    // MARK: layers

    private func planLayers(
        _ plan: inout Plan, _ graph: Graph, _ warnings: inout [(String, Place)], _ failures: inout [Failure]
    ) {
        let set = plan.staged.set
        var ids = set.retuned
        ids.formUnion(plan.definitions.keys)
        ids.formUnion(set.attached.map(\.id))
        ids.formUnion(set.detached.map(\.id))
        var states: [ObjectIdentifier: Document.State] = [:]
        for (document, next) in plan.staged.documents {
            states[ObjectIdentifier(document)] = next
            for key in Set(document.state.traits.keys).union(next.traits.keys) {
                do throws(Failure) { ids.insert(try container.intern(key)) } catch { failures.append(error) }
            }
        }
        let opened = plan.staged.documents.map(\.document).filter { !$0.state.isOpen }
        let documents = (container.monitor.locked { openDocuments.filter(\.state.isOpen) } + opened).sorted { $0.order < $1.order }
        for id in ids.sorted() {
            let key = container.keyName(id)
            var specs: [TraitSpec] = []
            var place = Place()
            for document in documents {
                let state = states[ObjectIdentifier(document)] ?? document.state
                specs += state.traits[key] ?? []
                if place.line == 0, let found = state.places[key] { place = found }
            }
            do throws(Failure) {
                try planLayers(&plan, graph, id, key, specs, place, &warnings)
            } catch { failures.append(error) }
        }
    }

    private func planLayers(
        _ plan: inout Plan, _ graph: Graph, _ id: UInt32, _ key: String, _ specs: [TraitSpec], _ place: Place,
        _ warnings: inout [(String, Place)]
    ) throws(Failure) {
        let set = plan.staged.set
        let leaving = Set(set.detached.map(ObjectIdentifier.init))
        let staying = (targets[id] ?? []).filter { !leaving.contains(ObjectIdentifier($0)) } + set.attached.filter { $0.id == id }
        let definition = next(id, plan)
        let former = graph.configuration(id) as? TargetLayers
        var layers: TargetLayers?
        if let type = definition?.type ?? staying.first?.type ?? declared[id] {
            var notes: [(String, Place)] = []
            layers = specs.isEmpty ? nil : try traits.layers(for: key, type: type, specs) { notes.append(($0, $1)) }
            warnings += notes
        } else if !specs.isEmpty {
            try traits.checkNames(specs, key: key)
            guard options.allowsPendingTargets || definition != nil else {
                let known = definitions.values.map(\.key) + plan.definitions.values.compactMap { $0?.key }
                    + (Array(targets.keys) + declared.keys).map { container.keyName($0) }
                throw Failure(
                    .spec, "no target has the key '\(key)'\(suggestion(for: key, among: Set(known).sorted()))",
                    path: "traits.\(key)", at: place)
            }
            warnings.append(("no target has the key '\(key)' yet; its traits wait for one", place))
            plan.changes.append(Report.Change(key: key, what: UInt32(INVIVO_CHANGED_PENDING), property: ""))
        }
        guard
            layers != nil || former != nil || definition?.type?.description.blockSize ?? 0 > 0 || !set.detached.isEmpty
                || definition?.base.isEmpty == false
        else { return }
        plan.editor.set(layers, at: id)

        var hasLive = false
        if let definition, let description = definition.type?.description, description.blockSize > 0 {
            hasLive = description.properties.allSatisfy(\.isInBlock)
            if let block = try TargetLayers.block(of: definition, layers: layers) {
                let old = graph.block(id)
                if old == nil || old?.size != block.size || !block.hasSameBytes(as: old) {
                    plan.editor.set(block, at: id)
                    plan.retunedBlocks.insert(id)
                }
            }
        }
        let isRemade = plan.builds.contains { $0.id == id } || plan.definitions[id] != nil && plan.editor.cell(id) !== graph.cell(id)
        var shared: UInt64 = 0
        if !isRemade, let cell = graph.cell(id), cell.object != 0, definitions[id]?.alias == nil {
            shared = cell.object
            hasLive = true
            plan.tuned.append((id, cell.object, layers))
            if let definition, let former = definitions[id] {
                for (index, value) in definition.base where former.base[index]?.isSame(as: value) != true {
                    guard let property = definition.type?.description.properties[index], !property.takesRestart else { continue }
                    if !property.isInBlock { plan.based.append((cell.object, index, value)) }
                }
            }
        }
        // A shared instance that is attached to its own key follows it once, and still does when it is detached.
        for target in staying where target.object != shared {
            hasLive = true
            var own = layers
            if let type = layers?.type, type !== target.type {
                own = try traits.layers(for: key, type: target.type, specs) { _, _ in }
            }
            plan.tuned.append((id, target.object, own))
        }
        // Who only changes its key is brought from the former layers to the new ones in one step.
        let moving = Set(set.attached.map(\.object))
        for target in set.detached where target.id == id && target.object != shared && !moving.contains(target.object) {
            plan.tuned.append((id, target.object, nil))
        }
        noteChanges(&plan, key, former, layers, hasLive: hasLive, isRemade: isRemade, definition)
    }

    /// Which properties have other values than before.
    private func noteChanges(
        _ plan: inout Plan, _ key: String, _ former: TargetLayers?, _ layers: TargetLayers?, hasLive: Bool, isRemade: Bool,
        _ definition: Definition?
    ) {
        guard !isRemade, let properties = (layers ?? former)?.type.description.properties ?? definition?.type?.description.properties else { return }
        var indices = Set((former?.effective ?? [:]).keys).union((layers?.effective ?? [:]).keys)
        if let definition { indices.formUnion(definition.base.keys.filter { definitions[definition.id]?.base[$0]?.isSame(as: definition.base[$0] ?? .null) != true }) }
        for index in indices.sorted() where index < properties.count {
            let old = former?.effective[index]?.value
            let new = layers?.effective[index]?.value
            if let old, let new, old.isSame(as: new) { continue }
            let isPending = properties[index].takesRestart || !(hasLive || properties[index].isInBlock)
            plan.changes.append(
                Report.Change(
                    key: key, what: UInt32(isPending ? INVIVO_CHANGED_PENDING : INVIVO_CHANGED_TUNED), property: properties[index].name))
        }
    }
}
