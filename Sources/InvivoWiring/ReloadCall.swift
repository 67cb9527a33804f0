/// The code of the host that a reload calls, for messages of those that wait for the reload.
public enum ReloadCall: Sendable {
    case creating(UInt32)
    case observer
    case converter(String)
}

extension Container {
    /// Notes what the reload that has the turn calls from now on, on its thread. Returns what was noted before.
    @discardableResult
    public func noteReloadCall(_ call: ReloadCall?) -> ReloadCall? {
        monitor.locked {
            defer { reloadCall = call }
            return reloadCall
        }
    }

    /// Under the monitor: what the reload is in, for a message.
    public var reloadCallText: String {
        switch reloadCall {
        case .creating(let id): ", which is creating '\(keys.name(id))'"
        case .observer: ", which is in the callback of an observer"
        case .converter(let name): ", which is in the converter '\(name)'"
        case nil: ""
        }
    }
}
