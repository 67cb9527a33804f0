internal import CInvivo
internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import InvivoObjects

/// Shared instances: each is built once, whichever builds need it, and becomes visible when it is complete.
extension Build {
    /// The shared instance of a cell with one lease for the caller. Waits for another build that creates it; a cycle of waits is
    /// an error.
    func shared(_ base: Cell, _ recipe: Recipe, _ arguments: [Value]) throws(Failure)
        -> UInt64
    {
        let definition = recipe.definition
        var gone: [Cell] = []
        defer { withExtendedLifetime(gone) {} }
        var cell = base
        container.monitor.lock()
        var awaited = -1
        var isAsked = false
        // Nothing of this build changes while it waits.
        lazy var keys = root.keysInProgress
        var standing: Standing?
        var wait = LongWait()
        defer { wait.end(container.domains) }
        waiting: while true {
            // The caller has found the cell of a scope instance.
            if !recipe.scope.isPlaced { cell = base.variant(arguments, gone: &gone) }
            switch cell.state {
            case .built:
                let bits = recipe.scope == .weakSingleton ? cell.weakObject : cell.object
                if recipe.scope == .weakSingleton
                    ? container.retiredObjects.receiveWeak(cell) != nil : ObjectTable.retain(bits)
                {
                    container.monitor.unlock()
                    do throws(Failure) { try checkDomain(definition) } catch {
                        _ = ObjectTable.release(bits)
                        throw error
                    }
                    return bits
                }
                guard recipe.scope == .weakSingleton, !ObjectTable.isExhausted(bits) else {
                    container.monitor.unlock()
                    throw ObjectTable.isExhausted(bits)
                        ? Failure.exhausted(path: definition.key)
                        : Failure(.stale, "the object has ended", path: definition.key)
                }
                break waiting
            case .building(let other):
                if isOurs(other) {
                    container.monitor.unlock()
                    return try ownBuild(cell, recipe)
                }
                let thread = currentThread().identity
                let root = root
                let cycle = container.waits.cycle(from: other, to: chain, on: thread, cell.definition.key)
                // A build that cannot begin again has precedence (a commit, a start hook): the other one begins again.
                let goesFirst = cycle != nil && !root.canBackOff && container.waits.canBackOff(other)
                if isAsked || cycle != nil && !goesFirst {
                    // A build that holds nothing that others wait for may back off.
                    let isFree =
                        root.commit?.held.isEmpty != false && cycle?.isThroughJob != true
                        && !container.waits.hasSuspended(thread)
                    if isAsked || isFree { root.givesWayTo = cell }
                    container.monitor.unlock()
                    throw root.waitsForCycle(cycle ?? Waits.Cycle(path: [cell.definition.key]), cell)
                }
                awaited = cell.attempt
                if goesFirst {
                    container.waits.askToBackOff(other)
                    container.monitor.broadcast()
                } else {
                    if standing == nil { standing = root.standing }
                    if let way = standing.flatMap({ WaitsAcross.begin($0, for: cell, of: other) }) {
                        container.monitor.unlock()
                        throw root.waitsForCycle(Waits.Cycle(path: way), cell)
                    }
                }
                container.waits.begin(
                    Waits.Wait(
                        of: chain, on: thread, for: goesFirst ? nil : cell, keys: keys,
                        canBackOff: root.canBackOff))
                wait.once(container.domains, for: cell.definition.key, of: other)
                isAsked = container.waits.end(chain, thread)
                if !goesFirst, let standing { WaitsAcross.end(standing, for: cell) }
                // The commit looks again, also if the awaited object exists now.
                if isAsked { container.monitor.broadcast() }
            case .cold:
                if awaited == cell.attempt, let failure = cell.failure {
                    container.monitor.unlock()
                    throw failure
                }
                // Before it is built: host code that runs meanwhile may resolve it.
                let asked = base.dueToAsk()
                guard !asked.isEmpty else { break waiting }
                container.monitor.unlock()
                ExistingObjects(of: self).forgetGone(asked, of: base)
                container.monitor.lock()
            }
        }
        do throws(Failure) { try checkDomain(definition) } catch {
            container.monitor.unlock()
            throw error
        }
        cell.beginBuild(chain)
        cell.attempt += 1
        let weak = cell.weakReference
        if weak != nil { cell.isReviving = true }
        container.monitor.unlock()

        do throws(Failure) {
            if let weak, let revived = try ExistingObjects(of: self).revive(weak, recipe, cell) { return revived }
            if recipe.isExclusive { try root.commit?.beforeExclusive?(recipe.id) }
            guard let made = try make(recipe, arguments, cell: cell) else {
                container.monitor.locked { cell.makeCold(nil, container.monitor) }
                return 0
            }
            return made.object
        } catch {
            // A build that waited for one which backed off creates the object itself.
            container.monitor.locked { reset(cell, root.givesWayTo == nil ? error : nil) }
            throw error
        }
    }

    /// A shared object that this build, or one whose hook it runs in, creates.
    private func ownBuild(_ cell: Cell, _ recipe: Recipe) throws(Failure) -> UInt64 {
        if let frame = frames.lastIndex(where: { $0.cell === cell }) { return try inFlight(frame, recipe) }
        var asked: Build? = self
        while let here = asked {
            if let entry = here.createdEntries.last(where: { $0.cell === cell }) {
                if here === self { return try take(entry) }
                guard ObjectTable.retain(entry.object) else { break }
                return entry.object
            }
            if here !== self, let frame = here.frames.last(where: { $0.cell === cell }), frame.object != 0,
                !frame.awaitsDecoration, ObjectTable.retain(frame.object)
            {
                return frame.object
            }
            asked = here.caller.around
        }
        throw Failure(
            .cycle, "cyclic dependency: \(path(to: recipe.key))", path: recipe.key,
            at: recipe.definition.location)
    }

    // MARK: the end of a frame

    /// A frame ended without an error: objects for which no outer frame waits become visible. `result` is nil for null.
    func finish(_ frame: Frame, at index: Int, _ result: Made?) {
        let isShared = frame.cell != nil
        if let result, isShared || frame.recipe.scope == .graph {
            // The build keeps one lease until its end; a shared instance gets the graph's hold instead.
            _ = ObjectTable.leaseKnownAlive(result.object)
            made.append(
                Entry(
                    id: frame.recipe.id, arguments: frame.arguments, object: result.object, cell: frame.cell,
                    made: result, home: frame.home,
                    took: isShared && frame.begun > 0 ? monotonicNow() &- frame.begun : 0,
                    low: frame.low < index ? frame.low : .max))
        }
        // The keys that an unshared object resolved are dependencies of its requester.
        if let result, !isShared, index > 0 { frames[index - 1].dependencies += result.dependencies }
        if frame.low < index {
            if index > 0 { frames[index - 1].low = min(frames[index - 1].low, frame.low) }
            return
        }
        for position in frame.mark..<made.count where made[position].low >= index { made[position].low = .max }
        if index > 0 { settleShared(from: frame.mark) }
    }

    /// The shared instances that were created from `mark` on are complete: they become visible, or the commit keeps them.
    private func settleShared(from mark: Int) {
        guard made[mark...].contains(where: { $0.cell != nil }) else { return }
        let root = root
        var kept: [Entry] = []
        for entry in made[mark...] {
            if entry.cell == nil {
                kept.append(entry)
            } else if let commit = root.commit {
                hold(entry, until: commit)
            }
        }
        if !root.isCommit { Publication(of: self).hand(made[mark...]) }
        made.replaceSubrange(mark..., with: kept)
    }

    /// The outermost resolve is over: shared instances become visible, the others belong to their holders.
    func settle() {
        Publication(of: self).hand(made[...])
        let entries = made
        made = []
        for entry in entries.reversed() where entry.cell == nil { _ = ObjectTable.release(entry.object) }
    }

    // MARK: taking back

    /// Rolls the build back to a mark: releases objects of graph scope, makes the cells of shared ones cold, and drops
    /// hooks for the complete graph and deferred steps.
    func rollBack(to mark: Mark, because failure: Failure? = nil) {
        if deferrals > mark.deferred {
            for index in frames.indices {
                frames[index].deferred.removeAll { $0.number > mark.deferred }
            }
        }
        if completed.count > mark.completed {
            completed.removeLast(completed.count - mark.completed)
        }
        startPhase?.truncate(to: mark.starts)
        guard made.count > mark.made else { return }
        let entries = Array(made[mark.made...])
        made.removeLast(made.count - mark.made)
        giveBack(entries.reversed()) { cell in
            failure?.path == cell.definition.key && root.givesWayTo == nil ? failure : nil
        }
    }

    // MARK: failures

    /// The failure of a wait that would close a cycle.
    func waitsForCycle(_ cycle: Waits.Cycle, _ cell: Cell) -> Failure {
        let whole = frames.map(\.recipe.key) + cycle.path + (cycle.isThroughJob ? [cell.definition.key] : [])
        let start = whole.firstIndex(of: cell.definition.key) ?? 0
        let path = whole[start...].path()
        return Failure(
            .cycle,
            cycle.isThroughJob
                ? "deadlock: the build of '\(cell.definition.key)' waits below a job on the same thread (\(path)); "
                    + "resolve it asynchronously"
                : "cyclic dependency: \(path)",
            path: cell.definition.key, at: cell.definition.location)
    }

    /// Fails if objects of a definition may not be touched here. The failure names the holder, if there is one.
    func checkDomain(_ definition: Definition) throws(Failure) {
        guard let domain = definition.type?.domain, !domain.isCurrent, definition.scope != .thread else { return }
        let holder = frames.last?.recipe.definition
        throw Failure(
            .domain,
            (holder == nil ? "" : "it needs '\(definition.key)', and ")
                + "an object of the confined type '\(definition.type?.name ?? "?")' belongs to the domain '\(domain.name)' and "
                + "cannot be resolved on this thread; resolve it there or asynchronously, or register the type as shared",
            path: (holder ?? definition).key, at: (holder ?? definition).location)
    }

    // MARK: the end of an outermost resolve

    /// An outermost resolve failed: nothing of it remains.
    func abandon(because failure: Failure? = nil) {
        // The objects that a commit is to start come from several outermost resolves.
        let startCount = isCommit ? startPhase?.count ?? 0 : 0
        rollBack(to: Mark(made: 0, completed: 0, deferred: 0, starts: startCount), because: failure)
        if !isCommit { startPhase?.forgetUsers() }
    }

    /// An outermost resolve ends well, unless one of its last hooks fails.
    func end() throws(Failure) {
        let root = root
        do throws(Failure) {
            try complete()
            if !root.isCommit { try startPhase?.startAll(of: self) }
        } catch {
            abandon(because: error)
            throw error
        }
        if let commit = root.commit {
            if root !== self, let startPhase { root.ensuredStartPhase.takeEntries(of: startPhase) }
            for entry in made where entry.cell != nil { hold(entry, until: commit) }
            let others = made.filter { $0.cell == nil }
            made = []
            for entry in others { _ = ObjectTable.release(entry.object) }
        } else {
            settle()
            startPhase?.keepStarted()
        }
    }

    /// A shared instance of a commit is complete. Failures inside the commit do not take it back, and other builds do not see
    /// it before the commit is over.
    private func hold(_ entry: Entry, until commit: Commit) {
        commit.held.append(entry)
        // From here on it belongs to its domain, where it is also started, and ended if the commit fails.
        if !entry.made.isForeign {
            entry.made.record.pointee.thread = ObjectType.of(entry.made.record).raw.pointee.thread
        }
    }

    /// Publishes the shared instances of a commit to all readers of their graph. All of its objects exist and are started.
    public func settleCommit() {
        guard let commit else { return }
        Publication(of: self).hand(commit.held[...])
        commit.held = []
        startPhase?.keepStarted()
        startPhase?.forgetUsers()
        guard !commit.asked.isEmpty else { return }
        container.monitor.locked {
            for (id, keys) in commit.asked { container.builds.add(keys, to: id) }
        }
    }

    /// Starts the objects that a commit has created so far. After a failure none of them is started.
    public func startCommit() throws(Failure) { try startPhase?.startAll(of: self) }

    /// A commit fails: stops the objects that it has started, the last first. Returns all failures.
    /// `isDetached`: the stop functions do not see the objects of this build, because a domain still works on it.
    public func stopCommit(isDetached: Bool) -> [Failure] {
        startPhase?.stopStarted(of: isDetached ? nil : self, container.lifecycle) ?? []
    }

    /// A commit failed: none of its objects remains. Those that it started are stopped already.
    public func abandonCommit() {
        guard let commit else { return }
        commit.beforeExclusive = nil
        startPhase?.truncate(to: 0)
        let held = Array(commit.held.reversed())
        commit.held = []
        giveBack(held) { _ in nil }
    }

    /// A failed commit leaves its builds to a domain that does not answer: other builds create the objects meanwhile.
    public func releaseBuilds(in graph: Graph) {
        container.monitor.locked {
            graph.forEachCell { _, cell in for cell in cell.withVariants() { reset(cell, nil) } }
        }
    }

    /// Releases the objects of a rolled-back build, the last first. Their keys are cold before any object ends, so that
    /// code which ends them can build them again. Objects that can exist only once are released first.
    private func giveBack(_ entries: [Entry], _ failure: (Cell) -> Failure?) {
        func reset(_ entry: Entry, isExclusive: Bool) {
            guard let cell = entry.cell, cell.recipe.isExclusive == isExclusive else { return }
            let failure = failure(cell)
            container.monitor.locked { self.reset(cell, failure) }
        }
        for entry in entries { reset(entry, isExclusive: false) }
        container.detached(over: self) {
            for entry in entries {
                reset(entry, isExclusive: true)
                _ = ObjectTable.release(entry.object)
            }
        }
    }

    /// Under the monitor: this build has failed to create the object of the cell. A failed commit stores no failure in
    /// the cell, because other builds create the object for the graph that stays.
    private func reset(_ cell: Cell, _ failure: Failure?) {
        guard root.isCommit else { return cell.makeCold(failure, container.monitor) }
        // Another build creates the object now: the commit released the cell while a domain did not answer.
        guard case .building(let maker) = cell.state, maker === chain else { return }
        cell.attempt += 1
        cell.makeCold(cell.failure, container.monitor)
    }

    /// The objects that other builds do not see yet.
    var createdEntries: [Entry] { made + (commit?.held ?? []) }
}

extension Cell {
    /// Under the monitor: no build creates its object any more.
    func makeCold(_ failure: Failure?, _ monitor: Monitor) {
        endBuild()
        isReviving = false
        self.failure = failure
        monitor.broadcast()
    }
}
