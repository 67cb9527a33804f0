internal import InvivoBase
internal import InvivoGraph

/// The code of the host that a reload calls, for messages of those that wait for the reload.
public enum ReloadCall: Sendable {
    case creating(UInt32)
    case observer
    case converter(String)
    /// Functions of the plan: "the rule 'low < high'".
    case planned([String])

    /// For a message.
    func text(_ keys: KeyTable) -> String {
        switch self {
        case .creating(let id): ", which is creating '\(keys.name(id))'"
        case .observer: ", which is in the callback of an observer"
        case .converter(let name): ", which is in the converter '\(name)'"
        case .planned(let functions):
            functions.count == 1
                ? ", which is in \(functions[0])"
                : ", which runs \(functions.count) functions, the first is \(functions[0])"
        }
    }
}

/// The host function that the reload with the turn is calling.
public final class CurrentReloadCall: Sendable {
    private let call: Guarded<ReloadCall?>
    private let keys: KeyTable

    /// `monitor` is the runtime's, and guards `keys`.
    init(_ monitor: Monitor, _ keys: KeyTable) {
        call = .init(nil, by: monitor)
        self.keys = keys
    }

    /// Records the function that the reload calls from now on, on its thread. Returns the former one.
    @discardableResult
    public func note(_ next: ReloadCall?) -> ReloadCall? {
        call.locked { call in
            defer { call = next }
            return call
        }
    }

    /// The current phase of the reload, for a message. With the monitor held.
    public var text: String { call.held { $0 }?.text(keys) ?? "" }
}
