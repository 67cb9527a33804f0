internal import InvivoBase

/// The keys of a component that concern the life of its objects and the updates in reloads.
public struct ManifestLife: Sendable {
    public var isExclusive = false
    public var waits = false
    public var isTracked = false
    public var restarts = false
    public var onChange: ManifestOnChange?
    public var onChangeReason: String?
    /// The key whose traits apply to its objects, or "none".
    public var specKey: String?
    /// Milliseconds; 0 stands for the limit of the runtime.
    public var startTimeout: UInt64 = 0
    public var stopTimeout: UInt64 = 0

    static let keys = [
        "exclusive", "waits", "tracked", "restart", "start_timeout", "stop_timeout", "on_change", "on_change_reason",
        "spec_key",
    ]

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
        restarts = flag("restart")
        startTimeout = milliseconds("start_timeout")
        stopTimeout = milliseconds("stop_timeout")
        if let node = map["on_change"] { onChange = checker.onChange(node, path: path.key("on_change")) }
        specKey = map["spec_key"].flatMap { checker.text($0, "a key, or 'none'", path: path.key("spec_key")) }
        onChangeReason = map["on_change_reason"].flatMap {
            checker.text($0, "the reason of a refusal", path: path.key("on_change_reason"))
        }
    }
}

/// How an object follows a change of a dependency.
public enum ManifestOnChange: String, Sendable, CaseIterable {
    case follow, keep, rebuild, refuse
}

extension DocumentChecker {
    mutating func onChange(_ node: SpecNode, path: SpecPath) -> ManifestOnChange? {
        if case .text(let text) = node.content, let known = ManifestOnChange(rawValue: text) { return known }
        expected("'follow', 'keep', 'rebuild' or 'refuse'", node, path: path)
        return nil
    }
}
