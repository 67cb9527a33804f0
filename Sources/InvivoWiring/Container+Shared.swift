internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// Shared instances: built once, whoever asks.
extension Container {
    /// A shared instance, built once however many chains ask; a waits-for cycle is answered, not waited for.
    func shared(_ base: Cell, _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain) throws(Failure)
        -> UInt64
    {
        let definition = recipe.definition
        var gone: [Cell] = []
        defer { withExtendedLifetime(gone) {} }
        var cell = base
        monitor.lock()
        var awaited = -1
        var isAsked = false
        var standing: Standing?
        var wait = LongWait()
        defer { wait.end(self) }
        waiting: while true {
            // That of a place is found by who knows the place.
            if !recipe.scope.isPlaced { cell = base.variant(arguments, gone: &gone) }
            switch cell.state {
            case .built:
                let bits = recipe.scope == .weakSingleton ? cell.weakObject : cell.object
                if recipe.scope == .weakSingleton ? receiveWeak(cell) != nil : ObjectTable.retain(bits) {
                    monitor.unlock()
                    do throws(Failure) { try checkDomain(definition, chain) } catch {
                        _ = ObjectTable.release(bits)
                        throw error
                    }
                    return bits
                }
                guard recipe.scope == .weakSingleton, !ObjectTable.isExhausted(bits) else {
                    monitor.unlock()
                    throw ObjectTable.isExhausted(bits)
                        ? Failure.exhausted(path: definition.key)
                        : Failure(.stale, "the object is gone", path: definition.key)
                }
                break waiting
            case .building(let other):
                if other === chain.root || chain.isInside(other) {
                    monitor.unlock()
                    return try ownBuild(cell, recipe, chain)
                }
                let thread = currentThread().identity
                let root = chain.root
                let circle = waits.circle(from: other, to: root, on: thread, cell.definition.key)
                // A commit goes first: it holds what it has made until it is over. Who is in its way begins anew.
                let goesFirst = circle != nil && root.isCommit && waits.mayGiveWay(other)
                if isAsked || circle != nil && !goesFirst {
                    // Whoever holds nothing that others wait for may give way.
                    let isFree = root.held.isEmpty && circle?.isThroughJob != true && !waits.hasSuspended(thread)
                    if isAsked || isFree { root.givesWayTo = cell }
                    monitor.unlock()
                    throw waitsForCycle(circle ?? Waits.Circle(path: [cell.definition.key]), root, cell)
                }
                awaited = cell.attempt
                if goesFirst {
                    other.isAskedToGiveWay = true
                    monitor.broadcast()
                } else {
                    if standing == nil { standing = Standing(root) }
                    if let way = standing.flatMap({ WaitsAcross.begin($0, for: cell, cell.definition.key, of: other) })
                    {
                        monitor.unlock()
                        throw waitsForCycle(Waits.Circle(path: way), root, cell)
                    }
                    root.waitingOn = .cell(cell)
                }
                waits.begin(root, thread)
                wait.once(self, for: cell.definition.key, of: other)
                waits.end(root, thread)
                if !goesFirst, let standing { WaitsAcross.end(standing, for: cell) }
                root.waitingOn = nil
                isAsked = root.isAskedToGiveWay
                root.isAskedToGiveWay = false
                // Who asked looks again, also where what this one waited for has come to be.
                if isAsked { monitor.broadcast() }
            case .cold:
                if awaited == cell.attempt, let failure = cell.failure {
                    monitor.unlock()
                    throw failure
                }
                // Before it is built: host code that runs meanwhile may resolve it.
                let asked = base.dueToAsk()
                guard !asked.isEmpty else { break waiting }
                monitor.unlock()
                forgetGone(asked, of: base, chain.root)
                monitor.lock()
            }
        }
        do throws(Failure) { try checkDomain(definition, chain) } catch {
            monitor.unlock()
            throw error
        }
        cell.state = .building(chain.root)
        cell.attempt += 1
        let weak = cell.weakReference
        if weak != nil { cell.isReviving = true }
        monitor.unlock()

        do throws(Failure) {
            if let weak, let revived = try revive(weak, recipe, cell) { return revived }
            if recipe.isExclusive { try chain.root.beforeExclusive?(recipe.id) }
            let begun = monotonicNow()
            guard let made = try make(recipe, arguments, chain, cell: cell) else {
                monitor.locked { reset(cell, nil) }
                return 0
            }
            let took = monotonicNow() &- begun
            monitor.locked { cell.buildTime = took }
            return made.object
        } catch {
            // Who waited for a build that gave way builds it himself.
            monitor.locked { reset(cell, chain.root.givesWayTo == nil ? error : nil, by: chain) }
            throw error
        }
    }

    /// Under the monitor: `chain` has failed to build it. A commit that fails leaves it as it was: the failure is the commit's,
    /// and whoever waited builds it for the graph that stays.
    func reset(_ cell: Cell, _ failure: Failure?, by chain: BuildChain) {
        guard chain.root.isCommit else { return reset(cell, failure) }
        // One that the commit left while a domain did not answer is another's meanwhile.
        guard case .building(let builder) = cell.state, builder === chain.root else { return }
        cell.attempt += 1
        reset(cell, cell.failure)
    }

    /// Under the monitor: nobody builds it any more.
    func reset(_ cell: Cell, _ failure: Failure?) {
        cell.state = .cold
        cell.isReviving = false
        cell.failure = failure
        monitor.broadcast()
    }

    /// A shared object that the calling chain, or one whose hook it runs in, is building.
    private func ownBuild(_ cell: Cell, _ recipe: Recipe, _ chain: BuildChain) throws(Failure) -> UInt64 {
        if let frame = chain.frames.lastIndex(where: { $0.cell === cell }) { return try inFlight(frame, recipe, chain) }
        var asked: BuildChain? = chain
        while let here = asked {
            if let entry = (here.made + here.held).last(where: { $0.cell === cell }) {
                if here === chain { return try take(entry, chain) }
                guard ObjectTable.retain(entry.object) else { break }
                return entry.object
            }
            if here !== chain, let frame = here.frames.last(where: { $0.cell === cell }), frame.object != 0,
                !frame.awaitsDecoration, ObjectTable.retain(frame.object)
            {
                return frame.object
            }
            asked = here.parent ?? here.outer
        }
        throw Failure(
            .cycle, "the wiring goes round in a circle: \(chain.path(to: recipe.key))", path: recipe.key,
            at: recipe.definition.place)
    }

    /// A weak singleton whose handles are all gone and whose instance is not; by who builds it.
    func revive(_ weak: WeakInstance, _ recipe: Recipe, _ cell: Cell) throws(Failure) -> UInt64? {
        guard let instance = apart({ weak.load() }) else {
            monitor.locked {
                cell.isReviving = false
                monitor.broadcast()
            }
            return nil
        }
        // The reference that came with it is the new record's.
        let object = try wrap(weak.type, instance, key: recipe.id)
        monitor.locked {
            if let record = ObjectTable.record(object) {
                record.pointee.thread = weak.type.raw.pointee.thread
                cell.sequence = iv_record_order(record)
            }
            noteBuilt(cell)
            cell.weakObject = object
            cell.isReviving = false
            cell.state = .built
            monitor.broadcast()
        }
        return object
    }

    /// Objects that are counted elsewhere are asked for, in their domain and without the monitor: what is gone leaves its
    /// arguments. One at a time, and what comes of the last reference only afterwards: host code may resolve the others.
    private func forgetGone(_ asked: [Cell.Asked], of base: Cell, _ root: BuildChain) {
        for one in asked {
            guard let (weak, former) = monitor.locked({ one.cell.beginAsking(root) }) else { continue }
            let instance = apart { weak.load() }
            monitor.locked {
                base.endAsking(one, former, isGone: instance == nil)
                monitor.broadcast()
            }
            if let instance { apart { weak.type.description.dispose(instance) } }
        }
    }
}
