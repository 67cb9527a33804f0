internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// Makes the shared instances of a build visible. If a commit was published while an object was built, a further commit
/// replaces that object.
struct Publication {
    let build: Build
    private let container: Container
    private let graph: Graph

    init(of build: Build) { (self.build, container, graph) = (build, build.container, build.graph) }

    /// Makes shared instances visible. Host code runs meanwhile (a scope's `keep`, weak references, the log): its resolves form a
    /// graph of their own, which sees the objects of this build.
    func hand(_ entries: ArraySlice<Build.Entry>) {
        guard entries.contains(where: { $0.cell != nil }) else { return }
        // A commit has started its objects; objects that are resolved now are started at once, as by its start hooks.
        let hooks = Build(
            container, graph: graph,
            caller: Build.Caller(
                parent: build.isCommit ? nil : build, outer: build.isCommit ? build : nil, isReload: build.isReload))
        container.inside(hooks) { for entry in entries where entry.cell != nil { hand(entry) } }
    }

    private func hand(_ entry: Build.Entry) {
        guard let cell = entry.cell else { return }
        let id = entry.id
        watchWeakly(cell, entry.made)
        if let of = cell.scopeInstance {
            of.scope.kept(entry.object, container.keyHandle(id), at: of.instance) { ObjectExtra.of(entry.made.record) }
        }
        let (overtaken, isOver) = container.monitor.locked { () -> (OvertakenBuild?, Bool) in
            publish(cell, entry.made, took: entry.took)
            container.current.show(cell, graph)
            let isOver = cell.isOver && !entry.made.isForeign
            guard !build.isReload, !cell.isRetired else { return (nil, isOver) }
            let used = container.life.owners.areUsed ? SetupKeys.of(entry.made.record, in: graph) : []
            container.builds.noteVisible(id, used)
            let current = container.current.held
            return (current.overtaking(of: id, entry.made.dependencies, setups: used, since: graph), isOver)
        }
        // The build's own lease: from here on the graph holds it, or, if it is weakly shared, the requester alone.
        _ = ObjectTable.release(entry.object)
        // Its scope instance has ended meanwhile and has released the objects that existed then.
        if isOver { ObjectTable.dropHold(entry.object) }
        container.log(.debug, "'\(cell.definition.key)' is built")
        if let overtaken { container.builds.report([id: overtaken]) }
    }

    /// Under the monitor: the instance becomes visible.
    private func publish(_ cell: Cell, _ made: Made, took: UInt64) {
        let (id, scope) = (cell.id, cell.scope)
        if !cell.isRetired { container.builds.noteBuilt(cell) }
        cell.failure = nil
        cell.undecorated = made.undecorated
        if made.undecorated != 0 || scope == .weakSingleton || made.isForeign {
            cell.sequence = iv_record_order(made.record)
        }
        if cell.isVariant && !cell.isRetired {
            // The instances for other arguments or scope instances may have resolved other keys.
            container.builds.add(made.dependencies, to: id)
        } else if !cell.isRetired {
            container.builds.replace(of: id, by: made.dependencies)
        }
        let type = ObjectType.of(made.record)
        let domain = type.domain
        // The instance of a thread belongs to the thread, independent of the domain of its type.
        if !made.isForeign && scope != .thread { made.record.pointee.thread = type.raw.pointee.thread }
        if scope == .weakSingleton {
            cell.weakObject = made.object
            cell.weakExtra = type.raw.pointee.has_stop == 0 ? nil : ObjectExtra.known(of: made.record)
            if !made.isForeign { cell.weakExtra?.retirement.isCurrent = !cell.isRetired }
            cell.becomeBuilt(in: took)
            container.monitor.broadcast()
            return
        }
        if made.isForeign {
            _ = ObjectTable.leaseKnownAlive(made.object)
            cell.claim = ObjectLease(owning: made.object)
        } else {
            ObjectTable.hold(made.object)
        }
        if type !== cell.shownType {
            // A decorator or a factory returned an object of another type. Readers look at the type after the instance.
            cell.shownType = type
            graph.show(cell)
        }
        cell.show(made.object, made.record.pointee.instance, in: domain)
        cell.becomeBuilt(in: took)
        container.monitor.broadcast()
        // A graph that has ended does not hold it: it belongs to the requester.
        if cell.isRetired && !cell.isOver && !made.isForeign {
            let birth = cell.birth(before: container.current.held.generation)
            let shown = graph.cell(id) ?? cell
            container.builds.add(BuildRecords.Outdated(object: made.object, birth: birth, shown))
        }
    }

    /// A weak singleton whose language counts references outlives its handles: a weak reference finds it again. Not if its type
    /// has a stop function, which runs when the last claim ends.
    private func watchWeakly(_ cell: Cell, _ made: Made) {
        guard cell.scope == .weakSingleton else { return }
        // No lock is held while host code runs.
        let weak = WeakInstance(to: made.record)
        let former = container.monitor.locked { () -> WeakInstance? in
            defer { cell.weakReference = weak }
            return cell.weakReference
        }
        former?.free()
    }
}
