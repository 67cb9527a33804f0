public import InvivoBase
public import InvivoContexts
internal import InvivoWiring

/// The observers of the contexts of a runtime. Any thread. Observers are called without locks.
public final class ContextObservers: Sendable {
    private struct State {
        /// By each context whose changes concern them: their own and those above it.
        var byLevel: [ContextHandle: [UInt32: [ContextObserver]]] = [:]
        /// By their own context, with the contexts whose changes concern them.
        var own: [ContextHandle: [(observer: ContextObserver, levels: [ContextHandle])]] = [:]
        var isClosed = false

        mutating func remove(_ observer: ContextObserver) {
            guard let index = own[observer.context]?.firstIndex(where: { $0.observer === observer }),
                let levels = own[observer.context]?.remove(at: index).levels
            else { return }
            if own[observer.context]?.isEmpty == true { own[observer.context] = nil }
            for level in levels {
                byLevel[level]?[observer.key]?.removeAll { $0 === observer }
                if byLevel[level]?[observer.key]?.isEmpty == true { byLevel[level]?[observer.key] = nil }
                if byLevel[level]?.isEmpty == true { byLevel[level] = nil }
            }
        }
    }

    let container: Container
    private let state: Guarded<State>

    init(_ container: Container) {
        self.container = container
        state = Guarded(State(), by: Monitor())
    }

    /// Adds an observer, and returns its handle.
    public func add(
        _ context: ContextHandle, _ key: UInt32, domain: UInt64, destroy: (@Sendable () -> Void)?,
        _ callback: @escaping ContextObserver.Callback
    ) throws(Failure) -> UInt64 {
        let domain = domain == 0 ? nil : try container.domains.domain(domain)
        let levels = try Contexts.observedChain(from: context)
        let observer = ContextObserver(self, context, key, domain: domain, destroy: destroy, callback)
        try state.locked { state throws(Failure) in
            guard !state.isClosed else { throw Failure(.closed, "the runtime is closing") }
            state.own[context, default: []].append((observer, levels))
            for level in levels { state.byLevel[level, default: [:]][key, default: []].append(observer) }
        }
        let handle = observer.open()
        // The context may have ended meanwhile.
        if context.core == nil { end(context) }
        return handle
    }

    func remove(_ observer: ContextObserver) { state.locked { $0.remove(observer) } }

    /// Ends the observers of a context.
    private func end(_ context: ContextHandle) {
        let observers = state.locked { state -> [ContextObserver] in
            let observers = (state.own[context] ?? []).map(\.observer)
            for observer in observers { state.remove(observer) }
            return observers
        }
        for observer in observers {
            observer.silence()
            observer.closeHandle()
        }
    }

    /// For close: ends all observers.
    func close() {
        let contexts = state.locked { state -> [ContextHandle] in
            state.isClosed = true
            return Array(state.own.keys)
        }
        for context in contexts { end(context) }
    }
}

extension ContextObservers: ContextObserving {
    public func changed(_ changes: [ContextChange]) {
        let concerned = state.locked { state -> [ContextObserver] in
            var seen: Set<ObjectIdentifier> = []
            var found: [ContextObserver] = []
            for change in changes {
                let ofLevel = state.byLevel[change.context]
                let observers = change.key.map { ofLevel?[$0] ?? [] } ?? ofLevel?.values.flatMap(\.self) ?? []
                found += observers.filter { $0.context.core != nil && seen.insert(ObjectIdentifier($0)).inserted }
            }
            return found
        }
        for observer in concerned { observer.notify() }
    }

    public func ended(_ contexts: [ContextHandle]) {
        guard state.locked({ !$0.own.isEmpty }) else { return }
        for context in contexts { end(context) }
    }
}
