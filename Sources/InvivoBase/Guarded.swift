/// State that is accessible only while one monitor is held.
///
/// `body` must not wait on the monitor, and must not access the same state in a nested call. As with `Mutex`, the
/// compiler checks that no part of the state leaves the monitor. `lockedUnchecked` is for state that is
/// not `Sendable`, for example raw pointers: there the caller is responsible for values that leave `body`.
public final class Guarded<State>: @unchecked Sendable {
    @usableFromInline let monitor: Monitor
    @usableFromInline var state: State

    public init(_ state: State, by monitor: Monitor) {
        self.monitor = monitor
        self.state = state
    }

    /// Takes the monitor for the length of `body`.
    @inlinable @inline(__always)
    public func locked<Result, E: Error>(_ body: (inout sending State) throws(E) -> sending Result)
        throws(E) -> sending Result
    {
        monitor.lock()
        defer { monitor.unlock() }
        return try body(&state)
    }

    /// For callers that hold the monitor.
    @inlinable @inline(__always)
    public func held<Result, E: Error>(_ body: (inout sending State) throws(E) -> sending Result)
        throws(E) -> sending Result
    {
        monitor.assertHeld()
        return try body(&state)
    }

    /// As `locked`, without the compiler's check.
    @inlinable @inline(__always)
    public func lockedUnchecked<Result, E: Error>(_ body: (inout State) throws(E) -> Result) throws(E) -> Result {
        monitor.lock()
        defer { monitor.unlock() }
        return try body(&state)
    }
}
