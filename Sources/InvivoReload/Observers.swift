internal import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// Calls the observers of a runtime: of reloads, and of commits that become visible.
///
/// Any thread may call. Observers are called without the monitor.
final class Observers: Sendable {
    private struct State {
        var table = ObserverTable()
        /// The thread that is making a commit visible, or that resumes the caches; 0 if none is.
        var publisher: UInt64 = 0
        /// Whether the caches of resolved objects are empty and store nothing, because pins keep former generations.
        var isWithoutCaches = false
        /// The generation that becomes visible, or did last.
        var coming: UInt64 = 0
        /// The generation or the error of the first reload.
        var first: (generation: UInt64, failure: Failure?)?
    }

    let container: Container
    /// The observers that ask for the phases of reloads.
    let phases: PhaseObservers
    /// The observers of contexts.
    let contexts: ContextObservers
    private let state: Guarded<State>

    init(_ container: Container) {
        self.container = container
        phases = PhaseObservers(container)
        contexts = ContextObservers(container)
        state = Guarded(State(), by: container.monitor)
    }

    /// Adds an observer, or returns the known one with this identity. One that keeps resolved objects waits for a commit that is becoming
    /// visible: it has called the others.
    func add(
        _ identity: ObserverTable.Identity?, keepsObjects: Bool, _ make: () -> Observer
    ) throws(Failure) -> (observer: Observer, isNew: Bool) {
        let (observer, isNew, ended) = try container.monitor.locked {
            () throws(Failure) -> (Observer, Bool, [Observer]) in
            if keepsObjects { container.domains.wait { state.held { $0.publisher == 0 } } }
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            if let known = state.held({ $0.table.same(as: identity) }) { return (known, false, []) }
            let observer = make()
            let generation = container.current.held.generation
            let ended = state.held { state in
                observer.begin(state.table.add(observer), since: max(generation, state.coming))
                return state.table.takeEnded()
            }
            phases.add(observer)
            _ = observer.open()
            return (observer, true, ended)
        }
        end(ended)
        guard isNew, keepsObjects else { return (observer, isNew) }
        // The first cache may come while pins keep former generations.
        let (_, wereEmpty) = beginPublishing()
        let isWithout = wereEmpty || Pins.areSomeOld(container.core)
        if isWithout { observer.notify(published: false) }
        stopPublishing(isWithout)
        return (observer, isNew)
    }

    func remove(_ observer: Observer) {
        container.monitor.locked {
            state.held { $0.table.remove(observer) }
            phases.remove(observer)
        }
    }

    /// Whether there are observers of types, and of objects. Those that are added from here on are not notified of the commit of `generation`,
    /// which is about to become visible.
    func subjects(ofCommit generation: UInt64) -> (types: Bool, objects: Bool) {
        state.locked { state in
            state.coming = generation
            return (state.table.observeTypes, state.table.observeObjects)
        }
    }

    func close() {
        phases.removeAll()
        end(state.locked { $0.table.removeAll() })
    }

    private func end(_ observers: [Observer]) {
        for observer in observers {
            observer.silence()
            observer.closeHandle()
        }
    }

    /// Runs `body`, which makes a commit visible, between the calls of the observers that keep resolved objects.
    /// `changesKept` is false if they need no call. While pins keep former generations, the caches stay empty: a cache does
    /// not know in which pin its caller is.
    func publishing(_ changesKept: Bool, _ body: () -> Void) {
        guard changesKept else { return body() }
        let (caches, wereEmpty) = beginPublishing()
        if !wereEmpty { for cache in caches { cache.notify(published: false) } }
        body()
        endPublishing(caches)
    }

    /// The caches store objects again if no pin keeps a former generation any more. On the loop thread.
    func resumeCaches() {
        guard state.locked({ $0.isWithoutCaches || $0.publisher != 0 }) else { return }
        let (caches, wereEmpty) = beginPublishing()
        endPublishing(wereEmpty ? caches : [])
    }

    private func beginPublishing() -> (caches: [Observer], wereEmpty: Bool) {
        let me = currentThread().identity
        return container.monitor.locked {
            // Another thread only calls observers meanwhile.
            while state.held({ $0.publisher != 0 }) { container.monitor.wait() }
            return state.held { state in
                state.publisher = me
                return (state.table.caches, state.isWithoutCaches)
            }
        }
    }

    private func endPublishing(_ caches: [Observer]) {
        // A pin that begins from here on is one of the current generation.
        let isWithout = !caches.isEmpty && Pins.areSomeOld(container.core)
        state.locked { $0.isWithoutCaches = isWithout }
        if !isWithout { for cache in caches { cache.notify(published: true) } }
        stopPublishing(isWithout)
    }

    private func stopPublishing(_ isWithoutCaches: Bool) {
        state.locked { state in
            (state.isWithoutCaches, state.publisher) = (isWithoutCaches, 0)
            container.monitor.broadcast()
        }
    }

    // MARK: reloads

    /// Notifies the observers that a reload concerns.
    func notify(_ report: Report, _ changed: ChangedObjects) {
        let (first, unready, table, ended) = state.locked { state in
            let first = state.first ?? (report.generation, report.failure)
            state.first = first
            return (first, state.table.takeUnready(), state.table, state.table.takeEnded())
        }
        end(ended)
        for observer in unready { call(observer) { $0.notifyReady(first.generation, first.failure) } }
        for (observer, report) in table.concerned(by: report, changed) { call(observer) { $0.notify(report) } }
    }

    /// Calls an observer in its domain. Calls that still wait there come first.
    private func call(_ observer: Observer, _ body: @escaping @Sendable (Observer) -> Void) {
        observer.enqueue(body)
        if let domain = observer.domain, !domain.isCurrent || domain.thread == 0 {
            container.domains.post(to: domain) { observer.callWaiting() }
        } else {
            let former = container.registry.reloadCall.note(.observer)
            observer.callWaiting()
            container.registry.reloadCall.note(former)
        }
    }

    /// An observer that was added after the first reload is notified of that one soon.
    func notifyIfReady(_ observer: Observer, on loop: LoopThread) {
        let known = state.locked { state in
            state.first.flatMap { state.table.takeUnready(observer) ? $0 : nil }
        }
        guard let first = known else { return }
        observer.enqueue { $0.notifyReady(first.generation, first.failure) }
        if let domain = observer.domain {
            container.domains.post(to: domain) { observer.callWaiting() }
        } else {
            _ = loop.running?.post { observer.callWaiting() }
        }
    }
}
