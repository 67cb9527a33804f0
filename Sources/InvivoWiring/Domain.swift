internal import CPlatform
internal import Glibc
public import InvivoBase
internal import Synchronization

/// The thread on which objects may be touched, and the queue that leads there.
///
/// `queue` is guarded by the container's monitor; any thread may ask where the domain is. A job runs once: it is claimed,
/// withdrawn or dropped by one compare of its state under the monitor.
public final class Domain: @unchecked Sendable {
    public enum Kind {
        /// Jobs are queued and run when the thread polls or waits inside the runtime.
        case thread(identity: UInt64)
        /// Jobs are handed to a loop or to host code, which runs them.
        case posted(anyThread: Bool, post: @Sendable (Job) throws(Failure) -> Void)
    }

    public let name: String
    public let kind: Kind
    public private(set) var handleBits: UInt64 = 0
    private let destroy: (@Sendable () -> Void)?
    /// For a posted domain that is not one thread: whether the calling code may touch its objects. Safe under any lock.
    public let isHere: (@Sendable () -> Bool)?
    /// Jobs that wait for the domain's thread; of a posted domain only where `isHere` tells who may run them meanwhile.
    var queue: [Job] = []
    /// The thread that runs a job of a posted domain right now. Whoever finds itself there has written it itself.
    var runningThread: UInt64 {
        get { running.load(ordering: .relaxed) }
        set { running.store(newValue, ordering: .relaxed) }
    }
    private let running = Atomic<UInt64>(0)
    /// The thread that a loop domain belongs to, once known.
    public var fixedThread: UInt64 {
        get { fixed.load(ordering: .acquiring) }
        set { fixed.store(newValue, ordering: .releasing) }
    }
    private let fixed = Atomic<UInt64>(0)
    private var signal: Int32 = -1

    public init(
        name: String, kind: Kind, isHere: (@Sendable () -> Bool)? = nil, destroy: (@Sendable () -> Void)? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isHere = isHere
        self.destroy = destroy
    }

    deinit {
        if signal >= 0 {
            Glibc.close(signal)
            _ = iv_sub_u64(iv_live_descriptors(), 1)
        }
        if let destroy { ending(destroy) }
    }

    public func register() -> UInt64 {
        if handleBits == 0 { handleBits = HandleTable.insert(self, kind: .domain) }
        return handleBits
    }

    public func closeHandle() {
        if handleBits != 0 { _ = HandleTable.remove(handleBits, .domain) }
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

    /// Whether nobody can tell if the calling code is where its jobs are run.
    var isBlind: Bool {
        if case .posted = kind { isHere == nil && fixedThread == 0 } else { false }
    }

    /// 0 = any thread, else the only thread that may resolve; .max where only jobs may.
    public var thread: UInt64 {
        switch kind {
        case .thread(let identity): identity
        case .posted(let anyThread, _): anyThread ? 0 : fixedThread != 0 ? fixedThread : .max
        }
    }

    /// Readable while jobs wait; made when first asked for. Under the monitor.
    func descriptor() throws(Failure) -> Int32 {
        if signal < 0 {
            signal = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            guard signal >= 0 else { throw Failure(.system, "no eventfd: \(String(cString: strerror(errno)))") }
            _ = iv_add_u64(iv_live_descriptors(), 1)
            if !queue.isEmpty { raise() }
        }
        return signal
    }

    func raise() {
        guard signal >= 0 else { return }
        var one: UInt64 = 1
        _ = write(signal, &one, 8)
    }

    /// Under the monitor: a job that was claimed or given back waits no longer.
    func take(_ job: Job) {
        guard let index = queue.firstIndex(where: { $0 === job }) else { return }
        queue.remove(at: index)
        lower()
    }

    /// Under the monitor: whether the calling thread, which waits, may run its jobs.
    var isServedByWaiting: Bool {
        switch kind {
        case .thread(let identity): identity == currentThread().identity
        case .posted: isHere?() == true
        }
    }

    func lower() {
        guard signal >= 0, queue.isEmpty else { return }
        var count: UInt64 = 0
        _ = read(signal, &count, 8)
    }
}

/// Work for one domain. The state is guarded by the container's monitor.
public final class Job: @unchecked Sendable {
    enum State {
        case waiting
        case claimed
        /// Run, dropped or withdrawn.
        case done(Failure?)
    }
    let domain: Domain
    let container: Container
    /// Nil when it is done. Used only by the thread that has changed the state from waiting.
    private var body: (() throws(Failure) -> Void)?
    let postedAt: UInt64
    /// The chain of builds on whose behalf it runs.
    let chain: Build?
    var state = State.waiting
    /// Whether somebody waits for it; otherwise the container counts it.
    var isAwaited = true
    /// Whether it is left alone while its thread waits inside a build. Set before it is posted.
    var isPatient = false
    /// Of one that was begun and nobody waits for any more: what takes the rest. Guarded by the monitor.
    var abandonment: Abandonment?
    /// Called when it is given back unrun; set before it is posted.
    var onDrop: (() -> Void)?
    private(set) var handleBits: UInt64 = 0

    init(_ domain: Domain, _ container: Container, chain: Build?, body: @escaping () throws(Failure) -> Void) {
        self.domain = domain
        self.container = container
        self.chain = chain
        self.body = body
        postedAt = monotonicNow()
    }

    /// The handle that a host gets.
    public func open() -> UInt64 {
        if handleBits == 0 {
            handleBits = HandleTable.insert(self, kind: .job)
            container.monitor.locked { container.openJobs[handleBits] = self }
        }
        return handleBits
    }

    func closeHandle() {
        guard handleBits != 0 else { return }
        _ = HandleTable.remove(handleBits, .job)
        container.monitor.locked { _ = container.openJobs.removeValue(forKey: handleBits) }
    }

    /// Runs it on this thread. False when it was run, dropped or withdrawn before.
    public func run() -> Bool {
        // What waits further up on this thread goes on only when the job is over.
        let outer = container.isBuildingHere ? container.currentChain ?? container.chainBeneath : nil
        let beneath = outer.flatMap { $0.root === chain?.root ? nil : $0.root }
        let me = currentThread().identity
        // One that is run inside another one leaves that where it is.
        let isWithin = domain.runningThread == me
        let claimed = container.monitor.locked { () -> Bool in
            guard case .waiting = state else { return false }
            state = .claimed
            domain.take(self)
            if case .posted = domain.kind { domain.runningThread = me }
            if let beneath { container.waits.suspend(beneath, me) }
            return true
        }
        guard claimed else { return false }
        let failure = container.inside(chain) { () -> Failure? in
            // Its references end here, in its domain, before the waiting thread continues.
            defer { body = nil }
            do throws(Failure) {
                try body?()
                return nil
            } catch { return error }
        }
        // Where nobody waits for it any more, it is the last to touch what it worked on.
        let abandonment = container.monitor.locked { () -> Abandonment? in
            state = .done(failure)
            return self.abandonment
        }
        if let abandonment { container.end(abandonment) }
        container.monitor.locked {
            if case .posted = domain.kind, !isWithin { domain.runningThread = 0 }
            if let beneath { container.waits.resume(beneath, me) }
            letGoOfWaiting()
        }
        closeHandle()
        return true
    }

    /// Under the monitor, when it is done.
    private func letGoOfWaiting() {
        if !isAwaited { container.unawaitedJobs -= 1 }
        container.restoring[ObjectIdentifier(self)] = nil
        container.leftJobs[ObjectIdentifier(self)] = nil
        container.monitor.broadcast()
    }

    /// A host gives it back unrun. Where nobody waits for it, the host is all that knows.
    public func dropByHost() -> Bool {
        guard drop() else { return false }
        if !container.monitor.locked({ isAwaited }) {
            container.log(
                .warning,
                "the domain '\(domain.name)' dropped a job that nobody waits for: what it was to do is not done")
        }
        return true
    }

    /// Gives it back unrun.
    func drop() -> Bool {
        let dropped = container.monitor.locked { () -> Bool in
            guard case .waiting = state else { return false }
            domain.take(self)
            state = .done(Failure(.host, "the domain '\(domain.name)' dropped its job"))
            letGoOfWaiting()
            return true
        }
        if dropped {
            closeHandle()
            body = nil
            onDrop?()
        }
        return dropped
    }
}
