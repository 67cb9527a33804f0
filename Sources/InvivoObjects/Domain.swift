internal import CPlatform
public import InvivoBase
internal import Synchronization

/// The thread, or the host's executor, on which confined objects may be touched.
public final class Domain: Sendable {
    public enum Kind: Sendable {
        /// Jobs are queued and run when the thread polls or waits inside the runtime.
        case thread(identity: UInt64)
        /// Jobs are handed to a loop or to host code, which runs them.
        case posted(anyThread: Bool, post: @Sendable (Job) throws(Failure) -> Void)
    }

    public let name: String
    public let kind: Kind
    private let destroy: (@Sendable () -> Void)?
    /// For a posted domain that is not one thread: whether the calling code may touch its objects. Safe under any lock.
    public let isHere: (@Sendable () -> Bool)?
    /// Called in the domain before and after the work of a commit there.
    public let notices: (begin: @Sendable () -> Void, end: @Sendable () -> Void)?
    private let handle = Atomic<UInt64>(0)
    private let running = Atomic<UInt64>(0)
    private let fixed = Atomic<UInt64>(0)

    public init(
        name: String, kind: Kind, isHere: (@Sendable () -> Bool)? = nil,
        notices: (begin: @Sendable () -> Void, end: @Sendable () -> Void)? = nil,
        destroy: (@Sendable () -> Void)? = nil
    ) {
        self.notices = notices
        self.name = name
        self.kind = kind
        self.isHere = isHere
        self.destroy = destroy
    }

    deinit { if let destroy { ending(destroy) } }

    public var handleBits: UInt64 { handle.load(ordering: .acquiring) }

    public func register() -> UInt64 {
        if handleBits == 0 { handle.store(HandleTable.insert(self, kind: .domain), ordering: .releasing) }
        return handleBits
    }

    public func closeHandle() {
        if handleBits != 0 { _ = HandleTable.remove(handleBits, .domain) }
    }

    /// The thread that runs a job of a posted domain at this moment; 0: none. A thread that finds itself here wrote it.
    var runningThread: UInt64 {
        get { running.load(ordering: .relaxed) }
        set { running.store(newValue, ordering: .relaxed) }
    }

    /// The thread that a loop domain belongs to; 0 while it is not known.
    public var fixedThread: UInt64 {
        get { fixed.load(ordering: .acquiring) }
        set { fixed.store(newValue, ordering: .releasing) }
    }

    /// Whether the calling thread may touch the domain's objects now.
    public var isCurrent: Bool {
        switch kind {
        case .thread(let identity): return identity == currentThread().identity
        case .posted(let anyThread, _):
            let me = currentThread().identity
            return anyThread || fixedThread == me || runningThread == me || isHere?() == true
        }
    }

    /// Whether a job runs where it is posted: the host's code takes its own lock once for the whole job. Nothing else keeps two jobs apart.
    public var runsWherePosted: Bool {
        if case .posted(anyThread: true, _) = kind { isHere == nil } else { false }
    }

    /// Whether the domain cannot tell if the calling code runs where its jobs run.
    var isBlind: Bool {
        if case .posted = kind { isHere == nil && fixedThread == 0 } else { false }
    }

    /// The only thread that may resolve its objects. 0: any thread; `.max`: only jobs may.
    public var thread: UInt64 {
        switch kind {
        case .thread(let identity): identity
        case .posted(let anyThread, _): anyThread ? 0 : fixedThread != 0 ? fixedThread : .max
        }
    }

    /// Whether the calling thread, which waits, may run its jobs. Safe under any lock.
    var isServedByWaiting: Bool {
        switch kind {
        case .thread(let identity): identity == currentThread().identity
        case .posted: isHere?() == true
        }
    }
}
