internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// What is made becomes everybody's when nothing waits for it any more.
extension Container {
    /// A frame ended well: what nothing above it waits for is everybody's now. `made` is nil where the answer was null.
    func finish(_ frame: BuildChain.Frame, at index: Int, _ made: Made?, _ chain: BuildChain) {
        let isShared = frame.cell != nil
        if let made, isShared || frame.recipe.scope == .graph {
            // One lease is the chain's until it ends; a shared instance gets the graph's hold instead.
            _ = ObjectTable.leaseKnownAlive(made.object)
            chain.made.append(
                BuildChain.Entry(
                    id: frame.recipe.id, arguments: frame.arguments, object: made.object, cell: frame.cell, made: made,
                    low: frame.low < index ? frame.low : .max))
        }
        // What is not shared is made for who asked: what it resolved went into that.
        if let made, !isShared, index > 0 { chain.frames[index - 1].dependencies += made.dependencies }
        if frame.low < index {
            if index > 0 { chain.frames[index - 1].low = min(chain.frames[index - 1].low, frame.low) }
            return
        }
        for place in frame.mark..<chain.made.count where chain.made[place].low >= index { chain.made[place].low = .max }
        if index > 0 { settleShared(chain, from: frame.mark) }
    }

    /// The shared instances among what was made from `mark` on are complete: everybody's, or the commit's that makes them.
    private func settleShared(_ chain: BuildChain, from mark: Int) {
        guard chain.made[mark...].contains(where: { $0.cell != nil }) else { return }
        let root = chain.root
        var kept: [BuildChain.Entry] = []
        for entry in chain.made[mark...] {
            if entry.cell == nil {
                kept.append(entry)
            } else if root.isCommit {
                hold(entry, until: root)
            }
        }
        if !root.isCommit { hand(chain.made[mark...], chain) }
        chain.made.replaceSubrange(mark..., with: kept)
    }

    /// The outermost resolve is over: shared instances are everybody's, the others belong to who holds them.
    func settle(_ chain: BuildChain) {
        hand(chain.made[...], chain)
        let entries = chain.made
        chain.made = []
        for entry in entries.reversed() where entry.cell == nil { _ = ObjectTable.release(entry.object) }
    }

    /// Shared instances become everybody's. The host's code runs meanwhile (a scope's `keep`, weak references, the log): what it
    /// resolves is a graph of its own, which sees what `chain` has made, and adds nothing to it.
    func hand(_ entries: ArraySlice<BuildChain.Entry>, _ chain: BuildChain) {
        guard entries.contains(where: { $0.cell != nil }) else { return }
        // A commit has started what it makes; what is resolved now is started at once, as by its start hooks.
        let isOver = chain.isCommit
        let hooks = BuildChain(
            graph: chain.graph, isReload: chain.isReload, parent: isOver ? nil : chain, outer: isOver ? chain : nil)
        inside(chain: hooks) { for entry in entries where entry.cell != nil { hand(entry, chain) } }
    }

    /// A shared instance becomes everybody's.
    func hand(_ entry: BuildChain.Entry, _ chain: BuildChain) {
        guard let cell = entry.cell else { return }
        let id = entry.id
        watchWeakly(cell, entry.made)
        if let of = cell.place {
            of.scope.kept(entry.object, keyHandle(id), at: of.place) { extra(entry.made.record) }
        }
        let (overtaken, isOver) = monitor.locked { () -> (Bool, Bool) in
            publish(cell, entry.made)
            show(cell, chain.graph)
            let overtaken = !chain.isReload && graph.configuration(id) !== chain.graph.configuration(id)
            return (overtaken, cell.isOver && !entry.made.isForeign)
        }
        // The chain's own lease: from here on the graph holds it, or (weakly shared) only who asked.
        _ = ObjectTable.release(entry.object)
        // Its place has ended meanwhile, which let go of what there was by then.
        if isOver { ObjectTable.dropHold(entry.object) }
        log(.debug, "'\(cell.definition.key)' is built")
        if overtaken { onLateBuild?(id) }
    }

    /// A weak singleton whose instances are counted elsewhere lives on without handles: a weak reference finds it again. Not
    /// where the type has a stop: that runs when the last claim goes.
    private func watchWeakly(_ cell: Cell, _ made: Made) {
        guard cell.scope == .weakSingleton else { return }
        // No lock is held while host code runs.
        let weak = WeakInstance(to: made.record)
        let former = monitor.locked { () -> WeakInstance? in
            defer { cell.weakReference = weak }
            return cell.weakReference
        }
        former?.free()
    }

    /// Takes back what was made since: graph-scope objects are let go, shared ones are cold again, hooks for the end and steps
    /// that waited are forgotten.
    func takeBack(_ chain: BuildChain, to mark: BuildChain.Mark, because failure: Failure? = nil) {
        if chain.deferrals > mark.deferred {
            for index in chain.frames.indices {
                chain.frames[index].deferred.removeAll { $0.number > mark.deferred }
            }
        }
        if chain.completed.count > mark.completed {
            chain.completed.removeLast(chain.completed.count - mark.completed)
        }
        forgetStarts(chain, from: mark.starts)
        guard chain.made.count > mark.made else { return }
        let entries = Array(chain.made[mark.made...])
        chain.made.removeLast(chain.made.count - mark.made)
        giveBack(entries.reversed(), chain) { cell in
            failure?.path == cell.definition.key && chain.root.givesWayTo == nil ? failure : nil
        }
    }

    /// The hooks for the moment when everything is there, children before parents, each once.
    func complete(_ chain: BuildChain) throws(Failure) {
        while !chain.completed.isEmpty {
            // Hooks may resolve: what that makes completes by itself.
            let queue = chain.completed
            chain.completed = []
            for (recipe, arguments, lease, asker) in queue {
                try afterAll(recipe, arguments, lease, for: asker, chain)
            }
        }
    }

    /// Under the monitor: readers of this graph and of the current one see the cell.
    func show(_ cell: Cell, _ graph: Graph) {
        graph.show(cell)
        if graph !== self.graph { self.graph.show(cell) }
    }

    /// Under the monitor: the instance is there for everybody.
    func publish(_ cell: Cell, _ made: Made) {
        let (id, scope) = (cell.id, cell.scope)
        if !cell.isRetired { noteBuilt(cell) }
        cell.failure = nil
        cell.undecorated = made.undecorated
        if made.undecorated != 0 || scope == .weakSingleton || made.isForeign {
            cell.sequence = iv_record_order(made.record)
        }
        if !cell.isRetired {
            // One for some arguments or one place stands beside others, which may have resolved something else.
            let beside = cell.isVariant ? dynamicDependencies[id] ?? [] : []
            let found = made.dependencies.union(beside)
            dynamicDependencies[id] = found.isEmpty ? nil : found
        }
        for dependency in made.dependencies { dynamicDependents[dependency, default: []].insert(id) }
        let type = Self.type(made.record)
        let domain = type.domain
        // What a thread has for itself belongs to it, whatever the domain of its type.
        if !made.isForeign && scope != .thread { made.record.pointee.thread = type.raw.pointee.thread }
        if scope == .weakSingleton {
            cell.weakObject = made.object
            cell.weakExtra = type.raw.pointee.has_stop == 0 ? nil : Self.knownExtra(of: made.record)
            if !made.isForeign { cell.weakExtra?.retirement.isCurrent = !cell.isRetired }
            cell.state = .built
            monitor.broadcast()
            return
        }
        if made.isForeign {
            _ = ObjectTable.leaseKnownAlive(made.object)
            cell.claim = ObjectLease(owning: made.object)
        } else {
            ObjectTable.hold(made.object)
        }
        if type !== cell.shownType {
            // A decorator or somebody else made it. Readers look at the type after the instance.
            cell.shownType = type
            graph.show(cell)
        }
        cell.show(made.object, made.record.pointee.instance, in: domain)
        cell.state = .built
        monitor.broadcast()
        // A graph that is gone does not hold it: it belongs to whoever asked.
        if cell.isRetired && !cell.isOver && !made.isForeign { retiredWhileBuilding.append(made.object) }
    }

    /// The failure of a wait that would close a circle.
    func waitsForCycle(_ circle: Waits.Circle, _ chain: BuildChain, _ cell: Cell) -> Failure {
        let whole = chain.frames.map(\.recipe.key) + circle.path + (circle.isThroughJob ? [cell.definition.key] : [])
        let start = whole.firstIndex(of: cell.definition.key) ?? 0
        let path = whole[start...].joined(separator: " -> ")
        return Failure(
            .cycle,
            circle.isThroughJob
                ? "waiting would never end: what makes '\(cell.definition.key)' waits beneath a job on the same thread (\(path)); "
                    + "resolve it asynchronously"
                : "the wiring goes round in a circle: \(path)",
            path: cell.definition.key, at: cell.definition.place)
    }

    /// The failure is the holder's, where there is one: it is what must change.
    func checkDomain(_ definition: Definition, _ chain: BuildChain) throws(Failure) {
        guard let domain = definition.type?.domain, !domain.isCurrent, definition.scope != .thread else { return }
        let holder = chain.frames.last?.recipe.definition
        throw Failure(
            .domain,
            (holder == nil ? "" : "it needs '\(definition.key)', and ")
                + "an object of the confined type '\(definition.type?.name ?? "?")' belongs to the domain '\(domain.name)' and "
                + "cannot be resolved on this thread; resolve it there or asynchronously, or register the type as shared",
            path: (holder ?? definition).key, at: (holder ?? definition).place)
    }

    /// Whether the calling code is where the objects of a domain may be touched that is not one thread.
    @usableFromInline
    static func isInDomain(_ object: UInt64, _ allowed: UInt64) -> Bool {
        guard allowed == .max, let record = ObjectTable.record(object) else { return false }
        let type = type(record)
        // A forked child asks no callback of its parent's.
        return type.container.home.isHere && type.domain?.isCurrent == true
    }
}
