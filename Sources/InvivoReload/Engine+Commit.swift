internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

extension Engine {
    /// Carries a plan out, then stores the next generation. Any failure takes everything back, and the generation stays.
    func commit(_ plan: inout Plan, _ warnings: inout [(String, Place)]) throws(Failure) {
        let former = container.currentGraph()
        showAliases(&plan)
        let next = plan.editor.finish(generation: former.generation + 1, keys: container.keys)
        for cell in plan.created { cell.generation = next.generation }
        let commit = Commit(container, timeout: options.commitTimeout, from: former, to: next)
        defer { plan.outage = commit.endOutage() }
        let findings = try commit.run(plan, unsettled: &unsettled)
        warnings += findings.warnings
        plan.warned.formUnion(findings.warned)
        unsettled = findings.refused.union(unanswered)
        publish(plan, next)
    }

    /// Aliases without arguments share the slots of their targets.
    private func showAliases(_ plan: inout Plan) {
        for (id, target) in plan.aliased {
            let cell = plan.editor.cell(target)
            // Readers that look only under this name find the objects there, whenever they are created.
            container.monitor.locked { _ = cell?.raw }
            plan.editor.set(cell, at: id)
        }
    }

    // MARK: the store

    private func publish(_ plan: Plan, _ next: Graph) {
        let set = plan.staged.set
        for clearing in set.cleared { clearing.carryOut() }
        snapshot.apply(plan, former: container.currentGraph(), next: next, container.names)
        container.assemblies.activate(plan.changedAssemblies.map { ($0, snapshot.assemblies[$0]?.description) })
        if !plan.definitions.isEmpty { noteAwaitedTypes() }
        for (document, state) in plan.staged.documents { document.state = state }
        documents.keepNamed(plan.staged.documents.map(\.document))
        targets.change(attached: set.attached, detached: set.detached)
        var touched = plan.touched
        touched.formUnion(holders(of: plan.reshaped))
        for id in touched { touched.formUnion(snapshot.links.allAliases(of: id)) }
        let changesObjects =
            !touched.isEmpty || !plan.definitions.isEmpty || !plan.overrides.isEmpty || !plan.replaced.isEmpty
        var late: [UInt32: LateBuild] = [:]
        announcer.publishing(changesObjects) {
            late = container.monitor.locked { () -> [UInt32: LateBuild] in
                // Before, so that nobody takes the new graph for one of the old version; and after, so that what was asked of
                // the old graph in between is not kept for the new version.
                for id in touched { container.keys.bumpVersion(id) }
                let former = container.publish(next)
                for id in touched { container.keys.bumpVersion(id) }
                container.retiredObjects.noteRetired(plan.replaced)
                for cell in plan.replaced {
                    cell.markRetired()
                    next.cell(cell.id)?.adoptTracked(of: cell)
                }
                reclaimer.retire(former, plan.replaced, remembered: container.forgetLate(of: touched))
                container.forgetBuilt(plan.replaced)
                container.monitor.broadcast()
                return container.builds.endNoting(former, next)
            }
        }
        if !late.isEmpty { container.onLateBuild?(late) }
    }

    /// The keys of what is made again and again, and of what is made with it each time.
    private func holders(of ids: Set<UInt32>) -> Set<UInt32> {
        guard !ids.isEmpty else { return [] }
        var found = ids
        var queue = Array(ids)
        let graph = container.currentGraph()
        while let id = queue.popLast() {
            for (holder, edge) in snapshot.links.dependents[id] where edge != .late {
                guard graph.recipe(holder)?.scope.isShared == false, found.insert(holder).inserted else { continue }
                queue.append(holder)
            }
        }
        return found
    }
}
