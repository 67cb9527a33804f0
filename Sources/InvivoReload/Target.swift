internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
public import InvivoWiring

/// A live object attached to a spec key, held weakly: the target is removed when the object is disposed of.
public final class Target: Sendable {
    public let id: UInt32
    public let key: String
    public let object: UInt64
    let type: ObjectType
    private let handle = OwnHandle(.target)
    /// A lease on the object while a detachment waits for the worker.
    let kept: Guarded<ObjectLease?>
    /// Nil after close, which a call on another thread may overtake.
    public weak let runtime: Container?

    init(id: UInt32, key: String, object: UInt64, type: ObjectType, _ runtime: Container) {
        self.id = id
        self.key = key
        self.object = object
        self.type = type
        self.runtime = runtime
        kept = Guarded(nil, by: runtime.monitor)
    }

    public var handleBits: UInt64 { handle.bits }

    func open() -> UInt64 { handle.open(self) }

    func closeHandle() { handle.close() }
}

/// The attachment or detachment of a target.
enum TargetChange: Sendable {
    /// With a lease on its object, if nobody waits for it.
    case attach(Target, Targets.Attaching? = nil)
    case detach(Target)
}

extension [TargetChange] {
    var attached: [Target] { compactMap { if case .attach(let target, _) = $0 { target } else { nil } } }
    var detached: [Target] { compactMap { if case .detach(let target) = $0 { target } else { nil } } }
}
