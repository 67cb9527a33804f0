internal import InvivoBase

/// The keys of a component that concern the life of its objects and the updates in reloads.
public struct ManifestLife: Sendable {
    public var isExclusive = false
    public var waits = false
    public var isTracked = false
    /// Milliseconds; 0 stands for the limit of the runtime.
    public var startTimeout: UInt64 = 0
    public var stopTimeout: UInt64 = 0

    static let keys = ["exclusive", "waits", "tracked", "start_timeout", "stop_timeout"]

    init(_ map: [SpecEntry], _ checker: inout DocumentChecker, _ path: SpecPath) {
        func flag(_ key: String) -> Bool {
            guard let node = map[key] else { return false }
            if case .bool(let value) = node.content { return value }
            checker.expected("true or false", node, path: path.key(key))
            return false
        }
        func milliseconds(_ key: String) -> UInt64 {
            guard let node = map[key] else { return 0 }
            if case .integer(let value) = node.content, value > 0, value < 1 << 32 { return UInt64(value) }
            checker.expected("a number of milliseconds from 1", node, path: path.key(key))
            return 0
        }
        isExclusive = flag("exclusive")
        waits = flag("waits")
        isTracked = flag("tracked")
        startTimeout = milliseconds("start_timeout")
        stopTimeout = milliseconds("stop_timeout")
    }
}
