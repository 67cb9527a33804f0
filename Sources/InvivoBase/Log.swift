internal import CPlatform
import Synchronization

/// The receiver of messages, until the runtime is closed.
public final class Log: Sendable {
    public typealias Sink = @Sendable (UInt32, String, String, [(String, Value)]) -> Void

    /// Messages below it are dropped. Read without ordering: it guards nothing.
    private let level: Atomic<UInt32>
    /// The lowest level that the sink takes, whatever the level is.
    private let floor: UInt32
    private let home = HomeProcess()
    private struct State {
        var sink: Sink?
        var ended: (@Sendable () -> Void)?
        /// Threads that are inside the sink.
        var active: [UInt64] = []
    }
    private let monitor = Monitor()
    private let state: Guarded<State>

    /// `ended` is called once, by `end`.
    public init(level: UInt32, from floor: UInt32 = 0, sink: Sink?, ended: (@Sendable () -> Void)? = nil) {
        self.level = Atomic(max(level, floor))
        self.floor = floor
        state = Guarded(State(sink: sink, ended: ended), by: monitor)
    }

    /// The log of a host that has none of its own: warnings and errors go to standard error, each written at once.
    public static func standardError(
        name: String, level: UInt32 = Level.warning.rawValue, ended: (@Sendable () -> Void)? = nil
    ) -> Log {
        let sink: Sink = { level, message, _, _ in
            let word = Level(rawValue: level).map { "\($0)" } ?? "error"
            var line = "\(name): \(word): \(message)\n"
            line.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { iv_write_error($0.baseAddress, $0.count) }
            }
        }
        return Log(level: level, from: Level.warning.rawValue, sink: sink, ended: ended)
    }

    /// Sets the lowest level that is logged. Messages of threads that are inside the log are delivered.
    func setLevel(_ level: UInt32) { self.level.store(max(level, floor), ordering: .relaxed) }

    /// Never call it with a lock held. Does nothing in a forked child.
    public func callAsFunction(
        _ level: Level, _ message: @autoclosure () -> String, path: String = "", _ fields: [(String, Value)] = []
    ) {
        guard level.rawValue >= self.level.load(ordering: .relaxed), home.isHere else { return }
        let me = currentThread().identity
        let begun = state.locked { state -> Sink? in
            if state.sink != nil { state.active.append(me) }
            return state.sink
        }
        guard let begun else { return }
        asCallback { begun(level.rawValue, message(), path, fields) }
        state.locked { state in
            if let index = state.active.lastIndex(of: me) { state.active.remove(at: index) }
            monitor.broadcast()
        }
    }

    /// Ends logging, and waits until other threads have delivered their current messages.
    public func end() {
        let me = currentThread().identity
        let ended = monitor.locked { () -> (@Sendable () -> Void)? in
            state.held { $0.sink = nil }
            while state.held({ $0.active.contains { $0 != me } }) { monitor.wait() }
            return state.held { state in
                defer { state.ended = nil }
                return state.ended
            }
        }
        if let ended { ending(ended) }
    }

    /// Returns the ownership of the sink's user data to its owner. `end` then does not call the destroy function.
    public func giveBack() { state.locked { $0.ended = nil } }

    public enum Level: UInt32, Sendable {
        case trace = 0
        case debug = 1
        case info = 2
        case warning = 3
        case error = 4
    }
}
