internal import InvivoBase
internal import InvivoWiring
internal import Synchronization

/// Calls the observers of a runtime that ask for the phases of reloads.
///
/// Any thread may call. Observers are called without the monitor, on the thread that does the work.
final class PhaseObservers: Sendable {
    private struct State {
        /// In the order of subscription, each with the number of the last reload that began before.
        var observers: [(observer: Observer, since: UInt64)] = []
        var lastReload: UInt64 = 0
    }

    private let container: Container
    private let state: Guarded<State>
    private let areThere = Atomic<Bool>(false)

    init(_ container: Container) {
        self.container = container
        state = Guarded(State(), by: container.monitor)
    }

    /// Whether an observer asks for phases. Everything else costs only then.
    var areAskedFor: Bool { areThere.load(ordering: .acquiring) }

    /// For callers that hold the monitor.
    func add(_ observer: Observer) {
        guard observer.callbacks.progress != nil else { return }
        state.held { $0.observers.append((observer, $0.lastReload)) }
        areThere.store(true, ordering: .releasing)
    }

    /// For callers that hold the monitor.
    func remove(_ observer: Observer) {
        guard observer.callbacks.progress != nil else { return }
        areThere.store(
            state.held { state in
                state.observers.removeAll { $0.observer === observer }
                return !state.observers.isEmpty
            }, ordering: .releasing)
    }

    func removeAll() {
        areThere.store(false, ordering: .releasing)
        state.locked { $0.observers = [] }
    }

    // MARK: reloads

    /// Returns the number of a reload that begins; none if no observer asks for phases.
    func nextNumber() -> ReloadNumbers {
        areAskedFor ? state.locked { Self.next(&$0) } : ReloadNumbers()
    }

    /// The same for callers that hold the monitor.
    func nextNumberHeld() -> ReloadNumbers { areAskedFor ? state.held { Self.next(&$0) } : ReloadNumbers() }

    private static func next(_ state: inout State) -> ReloadNumbers {
        state.lastReload += 1
        return ReloadNumbers(state.lastReload)
    }

    /// Begins the reload of a change set, unless its edits have begun it.
    func begin(_ set: inout ChangeSet) {
        guard areAskedFor, set.numbers.isEmpty else { return }
        set.numbers = nextNumber()
        notify(.detected, of: set.numbers, set.cause(besides: []).text)
    }

    /// Notifies the observers of a phase of these reloads.
    func notify(
        _ phase: Progress.Phase, of numbers: ReloadNumbers, _ cause: @autoclosure () -> String,
        _ failure: Failure? = nil
    ) {
        guard areAskedFor, !numbers.isEmpty else { return }
        let (generation, cause) = (container.currentGraph().generation, cause())
        for number in numbers.all {
            notify(Progress(phase: phase, reload: number, generation: generation, cause: cause, failure: failure)) {
                $0 < number
            }
        }
    }

    /// Notifies the observers that former generations have ended.
    func notifyRetired(_ generations: [UInt64]) {
        guard areAskedFor else { return }
        for generation in generations {
            notify(Progress(phase: .retired, reload: 0, generation: generation, cause: "", failure: nil)) { _ in true }
        }
    }

    /// `isConcerned`: whether an observer is notified that was added when this was the number of the last reload.
    private func notify(_ progress: Progress, _ isConcerned: (UInt64) -> Bool) {
        let observers = state.locked(\.observers)
        Pins.outside(container.core) {
            for (observer, since) in observers where isConcerned(since) { observer.notify(progress) }
        }
    }
}
