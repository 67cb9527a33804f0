internal import CPlatform
public import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// Objects that reloads have replaced or removed and that are not stopped yet, because their language still refers to them.
///
/// An object of a type that counts references is entered when its generation has ended, or when its last claim has been released.
/// The graph's hold keeps it. One thread at a time looks at these objects, and asks the language only about those that nothing else
/// uses.
public final class RetiredObjects: Sendable {
    private struct Entry {
        let sequence: UInt64
        let extra: ObjectExtra
        let entered: UInt64
    }

    private struct State {
        /// Set once, by the runtime that owns this.
        unowned var runtime: (any RetirementRuntime)?
        var onWaiting: (@Sendable () -> Void)?
        var entries: [UInt64: Entry] = [:]
        /// A thread is ending objects.
        var isEnding = false
        /// Whether another thread has requested a check meanwhile: the thread that ends objects checks again.
        var isDue = false
        /// Close has begun: no objects are ended here.
        var isPaused = false
        /// The runtime is closing: no object outlives its claims.
        var isClosing = false
        /// Replaced objects that were found referred to and that no report has named yet.
        var referred: Set<UInt64> = []
        /// Domains that have a job to look at their objects.
        var posted: Set<ObjectIdentifier> = []

        /// Whether its language decides when an object ends.
        func waitsForReferences(_ extra: ObjectExtra) -> Bool { !isClosing && extra.outlivesLeases }

        mutating func enter(_ object: UInt64, _ sequence: UInt64, _ extra: ObjectExtra) {
            let now = monotonicNow()
            if extra.retirement.since == 0, !extra.retirement.isCurrent { extra.retirement.since = now }
            entries[object] = Entry(sequence: sequence, extra: extra, entered: now)
        }

        /// An object whose last claim has been released lives on.
        mutating func revive(_ record: Record, _ extra: ObjectExtra) {
            let object = ObjectTable.handle(record)
            ObjectTable.revive(object)
            enter(object, iv_record_order(record), extra)
        }

        /// Adds a lease to an object that has not been stopped and is not about to be.
        mutating func receive(_ object: UInt64, _ extra: ObjectExtra) -> Bool {
            guard !extra.retirement.isReleased else { return false }
            extra.retirement.received &+= 1
            if ObjectTable.retain(object) { return true }
            // Another thread has released the last lease and has not reached `linger` yet: the record exists until
            // then.
            guard waitsForReferences(extra), !ObjectTable.isExhausted(object), let record = ObjectTable.record(object)
            else { return false }
            extra.retirement.calledOff += 1
            revive(record, extra)
            return ObjectTable.retain(object)
        }

        var mayEnd: Bool { !entries.isEmpty && !isPaused }
    }

    let monitor: Monitor
    private let tag: UInt64
    private let domains: DomainTable
    private let options: LiveOptions
    private let state: Guarded<State>

    /// `tag` is the runtime's.
    init(_ monitor: Monitor, tag: UInt64, domains: DomainTable, options: LiveOptions) {
        self.monitor = monitor
        self.tag = tag
        self.domains = domains
        self.options = options
        state = .init(State(), by: monitor)
    }

    func connect(to runtime: any RetirementRuntime) { state.locked { $0.runtime = runtime } }

    private var runtime: (any RetirementRuntime)? { state.locked { $0.runtime } }

    /// The nanoseconds for which an object may wait for its language; `.max`: no limit.
    private var grace: UInt64 { options.current.stopGrace }

    /// Called without the monitor when there are objects to look at again.
    public var onWaiting: (@Sendable () -> Void)? {
        get { state.locked { $0.onWaiting } }
        set { state.locked { $0.onWaiting = newValue } }
    }

    func detached<Result>(_ body: () -> Result) -> Result {
        guard let runtime else { return body() }
        return runtime.detached(body)
    }

    // MARK: entering

    /// Notes objects that a reload replaces or removes. With the monitor held.
    public func noteRetired(_ cells: [Cell]) {
        var now: UInt64 = 0
        func note(_ object: UInt64, _ claim: Bool) {
            guard let extra = Self.extra(of: object), extra.life == .started, extra.retirement.since == 0 else {
                return
            }
            // An object that another definition holds is not retired with a claim on it.
            if claim, ObjectTable.claims(object)?.isHeld != false { return }
            if now == 0 { now = monotonicNow() }
            extra.retirement.since = now
        }
        for cell in cells {
            for (_, object) in cell.heldObjects() { note(object, false) }
            for claim in cell.claims() { note(claim.bits, true) }
        }
    }

    private static func extra(of object: UInt64) -> ObjectExtra? {
        ObjectTable.record(object).flatMap(ObjectExtra.known(of:))
    }

    /// Called when the last claim on an object has been released. True when the object lives on, because its language decides
    /// when it ends.
    func linger(_ record: Record) -> Bool {
        guard let extra = ObjectExtra.known(of: record) else { return false }
        let lives = state.locked { state -> Bool in
            if extra.retirement.calledOff > 0 {
                extra.retirement.calledOff -= 1
                return true
            }
            guard state.waitsForReferences(extra) else {
                extra.retirement.isReleased = true
                return false
            }
            state.revive(record, extra)
            return true
        }
        if lives { end() }
        return lives
    }

    /// Called with the monitor held when nothing but each other claims these objects. True when they live on, because the language
    /// of one of them decides when it ends: the others end with it.
    func linger(_ records: [Record]) -> Bool {
        let members = records.map { (record: $0, extra: ObjectExtra.of($0)) }
        return state.held { state in
            guard members.contains(where: { state.waitsForReferences($0.extra) }) else { return false }
            for (record, extra) in members {
                let object = ObjectTable.handle(record)
                ObjectTable.hold(object)
                state.enter(object, iv_record_order(record), extra)
            }
            return true
        }
    }

    /// Leases the object of a weak singleton. Nil when it has ended, and when it was stopped or is about to be, which
    /// is final. With the monitor held.
    func receiveWeak(_ cell: Cell) -> UInt64? {
        let object = cell.weakObject
        guard let extra = cell.weakExtra else { return ObjectTable.retain(object) ? object : nil }
        return state.held { $0.receive(object, extra) } ? object : nil
    }

    /// Leases an object that a commit changes, even while another thread releases the last lease and a resolve can
    /// still receive the object. Nil when the object has ended.
    public func leaseForChange(_ object: UInt64) -> ObjectLease? {
        let isLeased =
            ObjectTable.retain(object)
            || state.locked { state in Self.extra(of: object).map { state.receive(object, $0) } ?? false }
        return isLeased ? ObjectLease(owning: object) : nil
    }

    // MARK: ending

    /// With the monitor held.
    public var isEmpty: Bool { state.held { $0.entries.isEmpty } }

    /// Ends objects that the graph is about to release, and all others that nothing refers to any more. Those to which only their
    /// language refers are kept, and looked at again later.
    public func end(_ gone: [(sequence: UInt64, object: UInt64)] = []) {
        var gone = gone
        let isMine = state.locked { state -> Bool in
            gone.removeAll { each in
                guard let extra = Self.extra(of: each.object), state.waitsForReferences(extra) else { return false }
                state.enter(each.object, each.sequence, extra)
                return true
            }
            guard state.mayEnd else { return false }
            guard !state.isEnding else {
                state.isDue = true
                return false
            }
            state.isEnding = true
            return true
        }
        guard isMine else {
            let stopping = monitor.locked { InjectedReferences.endingTogether(gone.map(\.object)) }
            return release(gone, stopping: stopping)
        }
        var isOver = false
        while !isOver {
            let hasEnded = endIdle(with: gone)
            gone = []
            isOver = state.locked { state in
                defer { state.isDue = false }
                if hasEnded || state.isDue, state.mayEnd { return false }
                state.isEnding = false
                monitor.broadcast()
                return true
            }
        }
        askOtherDomains()
        if monitor.locked({ !isEmpty }) { onWaiting?() }
    }

    /// Stops objects, and drops the graph's hold, in reverse order of creation.
    private func release(_ objects: [(sequence: UInt64, object: UInt64)], stopping: [Record]) {
        if !stopping.isEmpty { runtime?.stopRetired(stopping) }
        for (_, object) in objects.sorted(by: { $0.sequence > $1.sequence }) { ObjectTable.dropHold(object) }
    }

    /// Checks all objects once, by the thread that ends them. Returns true when some have ended.
    private func endIdle(with gone: [(sequence: UInt64, object: UInt64)]) -> Bool {
        let (entries, received, idle) = state.locked { state in
            let all = gone.map(\.object) + state.entries.keys
            // An object that was stopped by hand meanwhile waits for nothing.
            let idle = InjectedReferences.endingTogether(all).filter { ObjectExtra.known(of: $0)?.life == .started }
            return (
                state.entries, state.entries.mapValues { $0.extra.retirement.received },
                Set(idle.map { ObjectTable.handle($0) })
            )
        }
        leave(entries.filter { !idle.contains($0.key) })
        var used: Set<UInt64> = []
        var overdue: Set<UInt64> = []
        for (object, entry) in entries where idle.contains(object) {
            switch use(of: object, entry) {
            case .none: break
            case .overdue: overdue.insert(object)
            case .some: used.insert(object)
            }
        }
        // Again: an object that is used keeps those that it uses, and a thread may have taken a lease meanwhile. An object that a
        // thread has received meanwhile may be referred to without a lease.
        var released = gone
        let ending = state.locked { state -> [Record] in
            let unused = entries.filter { object, entry in
                idle.contains(object) && !used.contains(object) && entry.extra.retirement.received == received[object]
            }
            let ending = InjectedReferences.endingTogether(gone.map(\.object) + unused.keys)
            for record in ending {
                let object = ObjectTable.handle(record)
                // An object that was leased before is not entered any more.
                guard let entry = state.entries.removeValue(forKey: object) else { continue }
                entry.extra.retirement.isReleased = true
                released.append((entry.sequence, object))
            }
            return ending
        }
        for (_, object) in released where overdue.contains(object) { warnOfUse(object) }
        release(released, stopping: ending)
        return released.count > gone.count
    }

    /// Removes objects that are leased. They are entered again with their last lease, unless they were stopped.
    private func leave(_ entries: [UInt64: Entry]) {
        guard !entries.isEmpty else { return }
        state.locked { state in
            for (object, entry) in entries {
                state.entries[object] = nil
                entry.extra.retirement.idleSince = 0
            }
        }
        for (object, _) in entries.sorted(by: { $0.value.sequence > $1.value.sequence }) {
            ObjectTable.dropHold(object)
        }
    }

    private enum Use { case none, some, overdue }

    /// Asks the language of an object that nothing else uses. An object of another domain is treated as used.
    private func use(of object: UInt64, _ entry: Entry) -> Use {
        guard let record = ObjectTable.record(object), let instance = record.pointee.instance,
            let first = monitor.locked({ entry.extra.retirement.firstReferences })
        else { return .none }
        let type = ObjectType.of(record)
        guard Self.isHere(type.domain) else { return .some }
        let count = detached { try? type.description.countReferences(instance) }
        guard count ?? .max > first else { return .none }
        let now = monotonicNow()
        let idleSince = state.locked { state -> UInt64 in
            let isCurrent = entry.extra.retirement.isCurrent
            if entry.extra.retirement.idleSince == 0 {
                entry.extra.retirement.idleSince = now
                if !isCurrent { state.referred.insert(object) }
            }
            return isCurrent ? now : entry.extra.retirement.idleSince
        }
        let grace = grace
        return grace != .max && now - idleSince >= grace ? .overdue : .some
    }

    private static func isHere(_ domain: Domain?) -> Bool {
        guard let domain, !domain.isCurrent else { return true }
        if case .posted(anyThread: true, _) = domain.kind { return domain.isHere == nil }
        return false
    }

    private func warnOfUse(_ object: UInt64) {
        guard let record = ObjectTable.record(object) else { return }
        let grace = grace
        let key = record.pointee.key == 0 ? "" : runtime?.keyName(record.pointee.key - 1) ?? ""
        options.log(
            .warning,
            "\(key.isEmpty ? "an object" : "'\(key)'") of type '\(ObjectType.of(record).name)' is stopped although its language "
                + "still refers to it: it was replaced or removed more than "
                + "\(grace / 1_000_000_000).\(grace / 100_000_000 % 10) s ago (stop_grace). "
                + "A reference cycle or a thread may hold it", path: key)
    }

    /// Posts a look to each other domain that has objects here.
    private func askOtherDomains() {
        let others = state.locked { state -> [Domain] in
            guard !state.isPaused else { return [] }
            var found: [Domain] = []
            for object in state.entries.keys {
                guard let record = ObjectTable.record(object), let domain = ObjectType.of(record).domain,
                    !Self.isHere(domain), state.posted.insert(ObjectIdentifier(domain)).inserted
                else { continue }
                found.append(domain)
            }
            return found
        }
        for domain in others {
            let isDone = { [self] in _ = state.locked { $0.posted.remove(ObjectIdentifier(domain)) } }
            domains.post(to: domain, onDrop: isDone) { [self] in
                isDone()
                end()
            }
        }
    }

    /// Waits until the thread that is ending objects has finished, at most until `deadline`.
    public func waitForEnding(until deadline: UInt64) {
        monitor.locked { domains.wait(until: deadline) { !isEnding } }
    }

    private var isEnding: Bool { state.held { $0.isEnding } }

    // MARK: later

    /// The interval between two checks, in nanoseconds.
    private static let shortestWait: UInt64 = 1_000_000
    private static let longestWait: UInt64 = 1_000_000_000

    /// The time of the next look, on the monotonic clock; nil when there is nothing to look at. With the monitor held.
    public func nextLook(_ now: UInt64) -> UInt64? {
        state.held { state in
            guard !state.isPaused, let youngest = state.entries.values.map(\.entered).max() else { return nil }
            var next = now + min(max((now - youngest) / 2, Self.shortestWait), Self.longestWait)
            let grace = grace
            guard grace != .max else { return next }
            for entry in state.entries.values
            where entry.extra.retirement.idleSince != 0 && !entry.extra.retirement.isCurrent {
                next = min(next, max(now, entry.extra.retirement.idleSince + grace))
            }
            return next
        }
    }

    // MARK: close

    /// Waits until no thread ends retired objects; none begins to until `resume`.
    public func pause(until deadline: UInt64) throws(Failure) {
        let isOver = monitor.locked { () -> Bool in
            state.held { $0.isPaused = true }
            domains.wait(until: deadline) { !isEnding }
            return !isEnding
        }
        if !isOver { throw Failure(.busy, "replaced objects are still being stopped; the runtime stays open") }
    }

    /// Called when close was refused.
    public func resume() {
        state.locked { $0.isPaused = false }
        end()
    }

    /// With the monitor held: from now on no object outlives its claims.
    public func close() { state.held { $0.isClosing = true } }

    /// Removes all objects; close disposes of them.
    public func takeAll() -> [UInt64] {
        state.locked { state in
            defer { state.entries = [:] }
            return Array(state.entries.keys)
        }
    }

    // MARK: facts

    /// The keys of replaced objects that stay started because their language still refers to them, each object once.
    public func takeReferred() -> [String] {
        let found = state.locked { state -> [(order: UInt64, key: UInt32)] in
            defer { state.referred = [] }
            return state.referred.compactMap { object in
                guard state.entries[object] != nil, let record = ObjectTable.record(object), record.pointee.key != 0
                else { return nil }
                return (iv_record_order(record), record.pointee.key - 1)
            }
        }
        return found.sorted { $0.order < $1.order }.map { runtime?.keyName($0.key) ?? "" }
    }

    /// All of them, in order of creation. `read` returns the objects of generations that are still read; it is called with the
    /// monitor held.
    public func facts(_ read: () -> Set<UInt64>) -> [Facts] {
        // An object that the graph holds needs no lease, which would look like use.
        let held = state.locked { read().union($0.entries.keys) }
        var leases: [ObjectLease] = []
        for object in ObjectTable.all(of: tag) where !held.contains(object) && ObjectTable.retain(object) {
            leases.append(ObjectLease(owning: object))
        }
        let now = monotonicNow()
        let found = state.locked { state -> [(order: UInt64, key: UInt32, Facts)] in
            let read = read()
            let leased = Set(leases.map(\.bits))
            return leased.union(read).union(state.entries.keys).compactMap { object in
                guard let extra = Self.extra(of: object), extra.retirement.since != 0, extra.life == .started,
                    let record = ObjectTable.record(object)
                else { return nil }
                let (since, idle) = (extra.retirement.since, extra.retirement.idleSince)
                // One of the leases may belong to this check.
                let count = ObjectTable.leases(object) - (leased.contains(object) ? 1 : 0)
                let reason: Facts.Reason = read.contains(object) ? .read : count > 0 ? .leased : .referenced
                return (
                    iv_record_order(record), record.pointee.key,
                    Facts(
                        key: "", type: ObjectType.of(record).name, reason: reason, leases: count,
                        retired: now - min(since, now), idle: reason == .referenced ? now - min(idle, now) : 0)
                )
            }
        }
        withExtendedLifetime(leases) {}
        return found.sorted { $0.order < $1.order }.map { _, key, facts in
            var facts = facts
            if key != 0 { facts.key = runtime?.keyName(key - 1) ?? "" }
            return facts
        }
    }
}
