internal import InvivoBase
internal import InvivoWiring

/// Notifies observers of phases of edits of followed files that are not part of a change set yet.
///
/// All pending files together begin one reload. Observers are called without the monitor.
final class EditDetection: Sendable {
    private struct State {
        /// The numbers of the reloads that the pending edits belong to; several after an edit was put off.
        var numbers = ReloadNumbers()
        var pending: [Document] = []

        mutating func add(_ documents: [Document]) {
            pending += documents.filter { document in !pending.contains { $0 === document } }
        }

        /// Removes documents. Returns the numbers if none is left.
        mutating func remove(_ documents: [Document]) -> ReloadNumbers {
            pending.removeAll { document in documents.contains { $0 === document } }
            return pending.isEmpty ? numbers.take() : ReloadNumbers()
        }
    }

    private let container: Container
    private let observers: PhaseObservers
    private let state: Guarded<State>

    init(_ container: Container, _ observers: PhaseObservers) {
        (self.container, self.observers) = (container, observers)
        state = Guarded(State(), by: container.monitor)
    }

    var isAskedFor: Bool { observers.areAskedFor }

    /// On the loop thread: edits of documents were noticed, and others turned out to change nothing. `find` is called with the monitor
    /// held.
    func note(_ find: () -> (begun: [Document], dropped: [Document])) {
        let (begun, numbers, ended) = container.monitor.locked { () -> ([Document], ReloadNumbers, ReloadNumbers) in
            let (begun, dropped) = find()
            return state.held { state in
                let new = begun.filter { document in !state.pending.contains { $0 === document } }
                if !new.isEmpty && state.numbers.isEmpty { state.numbers = observers.nextNumberHeld() }
                state.add(new)
                let numbers = state.numbers
                return (new, numbers, state.remove(dropped))
            }
        }
        detected(begun, numbers)
        observers.notify(.unchanged, of: ended, "")
    }

    /// On the loop thread: these documents become a change set. Returns the numbers of its reload. Edits that are still pending begin
    /// another one.
    func take(_ reported: [Document]) -> ReloadNumbers {
        guard isAskedFor else { return ReloadNumbers() }
        let (taken, isNew, rest, later) = state.locked { state -> (ReloadNumbers, Bool, [Document], ReloadNumbers) in
            let isKnown = state.pending.contains { document in reported.contains { $0 === document } }
            guard isKnown, !state.numbers.isEmpty else {
                return (observers.nextNumberHeld(), true, [], ReloadNumbers())
            }
            let numbers = state.numbers.take()
            _ = state.remove(reported)
            if !state.pending.isEmpty { state.numbers = observers.nextNumberHeld() }
            return (numbers, false, state.pending, state.numbers)
        }
        if isNew { detected(reported, taken) }
        detected(rest, later)
        return taken
    }

    /// The edits of a reload are reported again, because their files are being written: the reload goes on then.
    func putOff(_ documents: [Document], _ numbers: ReloadNumbers) {
        guard !numbers.isEmpty else { return }
        state.locked { state in
            state.numbers.add(numbers)
            state.add(documents)
        }
    }

    /// A document was closed.
    func forget(_ document: Document) {
        let ended = state.locked { $0.remove([document]) }
        observers.notify(.unchanged, of: ended, document.name)
    }

    /// For close: the numbers of the reloads that do not take place.
    func takeAll() -> ReloadNumbers {
        state.locked { state in
            state.pending = []
            return state.numbers.take()
        }
    }

    private func detected(_ documents: [Document], _ numbers: ReloadNumbers) {
        for document in documents { observers.notify(.detected, of: numbers, document.name) }
    }
}
