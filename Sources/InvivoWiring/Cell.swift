public import CPlatform
internal import InvivoBase

/// Where the shared instance of one definition is. Everything but `raw` is guarded by the container's monitor.
public final class Cell: @unchecked Sendable {
    enum State {
        case cold
        case building(BuildChain)
        case built
    }

    public let raw: UnsafeMutablePointer<iv_cell>
    public let definition: Definition
    var state = State.cold
    /// How often it was tried; whoever waited for a try that failed gets that failure.
    var attempt = 0
    var failure: Failure?
    /// No graph to come holds it any more: what is still being built for it belongs to whoever asked.
    var retired = false
    /// Order of creation of the instance.
    public internal(set) var sequence: UInt64 = 0

    public init(_ definition: Definition) {
        self.definition = definition
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_cell())
        raw.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
        if definition.isPlainPrototype { raw.pointee.prototype = definition.type?.raw }
    }

    deinit { raw.deallocate() }

    /// The handle of the built object, or 0.
    public var object: UInt64 { iv_load_u64(iv_cell_object(raw)) }
    /// Under the monitor: no graph to come leads here.
    public func markRetired() { retired = true }
    /// Under the monitor.
    public var isBuilding: Bool { if case .building = state { true } else { false } }
}
