public import InvivoBase
internal import InvivoContexts
internal import Synchronization

/// The objects with life cycle functions that live in contexts, and the results of ends that failed. Any thread.
public final class ContextObjects: Sendable {
    private struct State {
        /// By context. An object is removed when it is disposed of.
        var living: [UInt64: Set<UInt64>] = [:]
        /// The failures of the last ends that failed, by context, and these contexts in the order of their ends.
        var failures: [UInt64: Failure] = [:]
        var failed: [UInt64] = []
        /// Contexts whose ends are under way, and have no result yet.
        var ending: Set<UInt64> = []
        /// Why the work in contexts that are ending failed.
        var reasons: [UInt64: EndReason] = [:]
        /// Contexts that nobody holds any more, and that end when the code of their objects has returned.
        var released: [ContextHandle] = []
    }
    /// Whether there may be such contexts: known without the lock.
    private let hasReleased = Atomic<Bool>(false)
    private let state: Guarded<State>
    /// The number of results that are kept, for calls that end a context again.
    private static let mostResults = 256

    init(_ monitor: Monitor) { state = .init(State(), by: monitor) }

    /// With the monitor: notes an object that the end of its context stops.
    func add(_ object: UInt64, in context: ContextHandle) {
        state.held { _ = $0.living[context.bits, default: []].insert(object) }
    }

    func remove(_ object: UInt64, in context: ContextHandle) {
        state.locked { state in
            state.living[context.bits]?.remove(object)
            if state.living[context.bits]?.isEmpty == true { state.living[context.bits] = nil }
        }
    }

    /// Removes and returns the objects of a context.
    func takeAll(in context: ContextHandle) -> Set<UInt64> {
        state.locked { $0.living.removeValue(forKey: context.bits) ?? [] }
    }

    /// Removes and returns all objects. For close.
    public func takeAll() -> Set<UInt64> {
        state.locked { state in
            defer { state.living = [:] }
            return state.living.values.reduce(into: []) { $0.formUnion($1) }
        }
    }

    func addReleased(_ context: ContextHandle) {
        state.locked { state in
            state.released.append(context)
            hasReleased.store(true, ordering: .relaxed)
        }
    }

    func takeReleased() -> [ContextHandle] {
        guard hasReleased.load(ordering: .relaxed) else { return [] }
        return state.locked { state in
            defer { state.released = [] }
            hasReleased.store(false, ordering: .relaxed)
            return state.released
        }
    }

    private func note(_ failure: Failure, of context: ContextHandle) {
        state.locked { state in
            if state.failures.updateValue(failure, forKey: context.bits) == nil { state.failed.append(context.bits) }
            guard state.failed.count > Self.mostResults else { return }
            state.failures[state.failed.removeFirst()] = nil
        }
    }

    /// The end of a context begins.
    func begin(_ context: ContextHandle, _ reason: EndReason?) {
        state.locked { state in
            state.ending.insert(context.bits)
            state.reasons[context.bits] = reason
        }
    }

    /// The end of a context is over.
    func finish(_ context: ContextHandle, _ failure: Failure?) {
        if let failure { note(failure, of: context) }
        state.locked { state in
            state.ending.remove(context.bits)
            state.reasons[context.bits] = nil
        }
    }

    /// With the monitor: whether the end of a context has no result yet.
    func isEnding(_ context: ContextHandle) -> Bool { state.held { $0.ending.contains(context.bits) } }

    func reason(of context: ContextHandle) -> EndReason? { state.locked { $0.reasons[context.bits] } }

    /// The failure of the end of a context; nil if it did not fail, or is long ago.
    func failure(of context: ContextHandle) -> Failure? { state.locked { $0.failures[context.bits] } }
}

/// Why the work in a context failed.
public final class EndReason: Sendable {
    public let status: Int32
    public let text: CText?
    private let texts: CStrings

    public init(status: Int32, message: String?) {
        let texts = CStrings()
        (self.status, self.texts, text) = (status, texts, message.map { texts.text($0) })
    }
}
