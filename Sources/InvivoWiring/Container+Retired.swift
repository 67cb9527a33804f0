internal import CPlatform
public import InvivoBase

/// What is known of an object for the time after it has been replaced or removed. Guarded by the container's monitor.
struct Retirement {
    /// References that its language had before anything received the object, those that its start left included; nil where
    /// they are not counted.
    var firstReferences: UInt64?
    /// Its start has been counted in `firstReferences`.
    var isStartCounted = false
    /// When it was replaced or removed; 0: it was not.
    var since: UInt64 = 0
    /// Since when only its language has referred to it; 0: it is used otherwise, or not known yet.
    var idleSince: UInt64 = 0
    /// Nothing refers to it any more, or its grace time is over: its last claim ends it.
    var isReleased = false
    /// A weak singleton that has not been replaced or removed: it lives as long as its language refers to it.
    var isCurrent = false
    /// The number of resolves that have received it. A look during which this changes does not end the object.
    var received: UInt64 = 0
    /// Disposals that are on their way although a resolve has received the object meanwhile: each of them ends nothing.
    var calledOff: UInt64 = 0

    /// It was replaced or removed: its grace time begins.
    mutating func retire() {
        guard isCurrent else { return }
        isCurrent = false
        idleSince = 0
        if since == 0 { since = monotonicNow() }
    }
}

/// Retired objects whose language may refer to them. The graph's hold keeps each of them. Guarded by the container's monitor.
struct Lingering {
    struct Entry {
        let sequence: UInt64
        let extra: ObjectExtra
        let entered: UInt64
    }

    var entries: [UInt64: Entry] = [:]
    /// A thread is ending objects, and looks again when another one asks for it meanwhile.
    var isEnding = false
    var isDue = false
    /// Close has begun: nothing is ended here any more.
    var isPaused = false
    /// Replaced objects that were found referred to and that no report has named yet.
    var referred: Set<UInt64> = []
    /// Domains that have a job to look at their objects.
    var posted: Set<ObjectIdentifier> = []
}

/// Ending retired objects: a type that counts references has an object stopped only when its language has let go of it.
///
/// Objects come here when their generation has ended, or when their last claim has gone. One thread at a time looks at them, and
/// the language is asked only about those that nothing else uses.
extension Container {
    // MARK: coming here

    /// Counts the references that its language has to a new object, before anything else receives it.
    func countFirstReferences(_ record: Record) {
        let description = Self.type(record).description
        guard description.countsReferences, let instance = record.pointee.instance else { return }
        let extra = extra(record)
        guard monitor.locked({ extra.retirement.firstReferences == nil }) else { return }
        // Where it cannot be told, every reference counts.
        let found = apart { (try? description.countReferences(instance)) ?? 0 }
        monitor.locked { extra.retirement.firstReferences = found }
    }

    /// Runs the first start of an object. References that it leaves, as of a thread that it starts, are there before anything else
    /// receives the object: they do not count.
    func countingStart(of record: Record, _ start: () throws(Failure) -> Void) throws(Failure) {
        let description = Self.type(record).description
        let extra = extra(record)
        guard description.countsReferences, let instance = record.pointee.instance,
            monitor.locked({ extra.retirement.firstReferences != nil && !extra.retirement.isStartCounted })
        else { return try start() }
        let before = apart { try? description.countReferences(instance) }
        try start()
        let after = apart { try? description.countReferences(instance) }
        monitor.locked {
            extra.retirement.isStartCounted = true
            if let before, let after, after > before { extra.retirement.firstReferences? += after - before }
        }
    }

    /// Under the monitor: objects that a reload replaces or removes.
    public func noteRetired(_ cells: [Cell]) {
        var now: UInt64 = 0
        func note(_ object: UInt64, _ claim: Bool) {
            guard let extra = Self.knownExtra(object), extra.life == .started, extra.retirement.since == 0 else {
                return
            }
            // What another definition has is not retired with a claim on it.
            if claim, ObjectTable.claims(object)?.isHeld != false { return }
            if now == 0 { now = monotonicNow() }
            extra.retirement.since = now
        }
        for cell in cells {
            for (_, object) in cell.heldObjects() { note(object, false) }
            for claim in cell.claims() { note(claim.bits, true) }
        }
    }

    private static func knownExtra(_ object: UInt64) -> ObjectExtra? {
        guard let record = ObjectTable.record(object), let pointer = iv_load_pointer(iv_record_extra(record)) else {
            return nil
        }
        return Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Under the monitor: whether its language decides when the object ends.
    private func waitsForReferences(_ extra: ObjectExtra) -> Bool {
        !isClosing && extra.outlivesLeases
    }

    /// Under the monitor.
    private func enter(_ object: UInt64, _ sequence: UInt64, _ extra: ObjectExtra) {
        let now = monotonicNow()
        if extra.retirement.since == 0, !extra.retirement.isCurrent { extra.retirement.since = now }
        lingering.entries[object] = Lingering.Entry(sequence: sequence, extra: extra, entered: now)
    }

    /// The last claim on an object has gone. True when it lives on, because its language decides when it ends.
    func linger(_ record: Record) -> Bool {
        guard let pointer = iv_load_pointer(iv_record_extra(record)) else { return false }
        let extra = Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue()
        let lives = monitor.locked { () -> Bool in
            if extra.retirement.calledOff > 0 {
                extra.retirement.calledOff -= 1
                return true
            }
            guard waitsForReferences(extra) else {
                extra.retirement.isReleased = true
                return false
            }
            giveBackHold(record, extra)
            return true
        }
        if lives { endRetired() }
        return lives
    }

    /// Under the monitor: nothing but themselves claims these objects. True when they live on, because the language of one of them
    /// decides when it ends: the others end with it.
    func linger(_ records: [Record]) -> Bool {
        let members = records.map { (record: $0, extra: extra($0)) }
        guard members.contains(where: { waitsForReferences($0.extra) }) else { return false }
        for (record, extra) in members {
            let object = ObjectTable.handle(record)
            ObjectTable.hold(object)
            enter(object, iv_record_order(record), extra)
        }
        return true
    }

    /// Under the monitor: an object whose last claim has gone lives on.
    private func giveBackHold(_ record: Record, _ extra: ObjectExtra) {
        let object = ObjectTable.handle(record)
        ObjectTable.revive(object)
        enter(object, iv_record_order(record), extra)
    }

    /// Under the monitor: leases the instance of a weak singleton. Nil when it is gone, or when it has been or is about to be
    /// stopped, which is final.
    func receiveWeak(_ cell: Cell) -> UInt64? {
        guard let extra = cell.weakExtra else {
            return ObjectTable.retain(cell.weakObject) ? cell.weakObject : nil
        }
        return receive(cell.weakObject, extra) ? cell.weakObject : nil
    }

    /// Leases an object that a commit changes, also while another thread gives the last lease back and a resolve can still
    /// receive the object. Nil when the object is gone.
    public func leaseForChange(_ object: UInt64) -> ObjectLease? {
        let isLeased =
            ObjectTable.retain(object)
            || monitor.locked { () -> Bool in
                guard let extra = Self.knownExtra(object) else { return false }
                return receive(object, extra)
            }
        return isLeased ? ObjectLease(owning: object) : nil
    }

    /// Under the monitor: one lease more on an object that has not been and is not about to be stopped.
    private func receive(_ object: UInt64, _ extra: ObjectExtra) -> Bool {
        guard !extra.retirement.isReleased else { return false }
        extra.retirement.received &+= 1
        if ObjectTable.retain(object) { return true }
        // Another thread has given the last lease back, and has not come to `linger` yet: the record is there until then.
        guard waitsForReferences(extra), !ObjectTable.isExhausted(object), let record = ObjectTable.record(object)
        else { return false }
        extra.retirement.calledOff += 1
        giveBackHold(record, extra)
        return ObjectTable.retain(object)
    }

    // MARK: ending

    /// Under the monitor.
    public var hasLingering: Bool { !lingering.entries.isEmpty }

    /// Ends objects that the graph is about to let go of, and whatever else nothing refers to any more. Those to which only their
    /// language refers are kept, and looked at again later.
    public func endRetired(_ gone: [(sequence: UInt64, object: UInt64)] = []) {
        var gone = gone
        let isMine = monitor.locked { () -> Bool in
            gone.removeAll { each in
                guard let extra = Self.knownExtra(each.object), waitsForReferences(extra) else { return false }
                enter(each.object, each.sequence, extra)
                return true
            }
            guard !lingering.entries.isEmpty, !lingering.isPaused else { return false }
            guard !lingering.isEnding else {
                lingering.isDue = true
                return false
            }
            lingering.isEnding = true
            return true
        }
        guard isMine else { return letGo(of: gone, stopping: lifecycle.endingTogether(gone.map(\.object))) }
        var isOver = false
        while !isOver {
            let hasEnded = endIdle(with: gone)
            gone = []
            isOver = monitor.locked {
                defer { lingering.isDue = false }
                if hasEnded || lingering.isDue, !lingering.entries.isEmpty, !lingering.isPaused { return false }
                lingering.isEnding = false
                monitor.broadcast()
                return true
            }
        }
        askOtherDomains()
        if monitor.locked({ hasLingering }) { onLingering?() }
    }

    /// Stops objects, users before what they use, and lets go of the graph's hold, in reverse order of creation.
    private func letGo(of objects: [(sequence: UInt64, object: UInt64)], stopping: [Record]) {
        for failure in lifecycle.stopTogether(stopping) { lifecycle.noteStopFailure(failure) }
        for (_, object) in objects.sorted(by: { $0.sequence > $1.sequence }) { ObjectTable.dropHold(object) }
    }

    /// One look at all lingering objects, by the thread that ends them. True when some have ended.
    private func endIdle(with gone: [(sequence: UInt64, object: UInt64)]) -> Bool {
        let (entries, received) = monitor.locked {
            (lingering.entries, lingering.entries.mapValues { $0.extra.retirement.received })
        }
        let all = gone.map(\.object) + entries.keys
        // What was stopped meanwhile, by hand, waits for nobody.
        let idle = Set(
            lifecycle.endingTogether(all).filter { lifecycle.state(of: $0) == .started }.map { ObjectTable.handle($0) })
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
        // Again: what is used keeps what it uses, and somebody may have taken a lease meanwhile.
        // Those that were leased before are not held here any more. Who received one meanwhile may refer to it without a lease.
        var released = gone
        let ending = monitor.locked { () -> [Record] in
            let unused = entries.filter { object, entry in
                idle.contains(object) && !used.contains(object) && entry.extra.retirement.received == received[object]
            }
            let ending = lifecycle.endingNow(gone.map(\.object) + unused.keys)
            for record in ending {
                let object = ObjectTable.handle(record)
                guard let entry = lingering.entries.removeValue(forKey: object) else { continue }
                entry.extra.retirement.isReleased = true
                released.append((entry.sequence, object))
            }
            return ending
        }
        for (_, object) in released where overdue.contains(object) { warnOfUse(object) }
        letGo(of: released, stopping: ending)
        return released.count > gone.count
    }

    /// What somebody leases comes here again with its last lease, unless it was stopped.
    private func leave(_ entries: [UInt64: Lingering.Entry]) {
        guard !entries.isEmpty else { return }
        monitor.locked {
            for (object, entry) in entries {
                lingering.entries[object] = nil
                entry.extra.retirement.idleSince = 0
            }
        }
        for (object, _) in entries.sorted(by: { $0.value.sequence > $1.value.sequence }) {
            ObjectTable.dropHold(object)
        }
    }

    private enum Use { case none, some, overdue }

    /// Asks the language of an object that nothing else uses. Where that is up to another domain, it is in use.
    private func use(of object: UInt64, _ entry: Lingering.Entry) -> Use {
        guard let record = ObjectTable.record(object), let instance = record.pointee.instance,
            let first = monitor.locked({ entry.extra.retirement.firstReferences })
        else { return .none }
        let type = Self.type(record)
        guard isHere(type.domain) else { return .some }
        let count = apart { try? type.description.countReferences(instance) }
        guard count ?? .max > first else { return .none }
        let now = monotonicNow()
        let idleSince = monitor.locked { () -> UInt64 in
            if entry.extra.retirement.idleSince == 0 {
                entry.extra.retirement.idleSince = now
                if !entry.extra.retirement.isCurrent { lingering.referred.insert(object) }
            }
            return entry.extra.retirement.isCurrent ? now : entry.extra.retirement.idleSince
        }
        return stopGrace != .max && now - idleSince >= stopGrace ? .overdue : .some
    }

    private func isHere(_ domain: Domain?) -> Bool {
        guard let domain, !domain.isCurrent else { return true }
        if case .posted(anyThread: true, _) = domain.kind { return domain.isHere == nil }
        return false
    }

    private func warnOfUse(_ object: UInt64) {
        guard let record = ObjectTable.record(object) else { return }
        let key = record.pointee.key == 0 ? "" : keyName(record.pointee.key - 1)
        log(
            .warning,
            "\(key.isEmpty ? "an object" : "'\(key)'") of type '\(Self.type(record).name)' is stopped although its language still "
                + "refers to it: it was replaced or removed more than \(stopGrace / 1_000_000_000).\(stopGrace / 100_000_000 % 10) s ago (stop_grace). "
                + "A reference cycle or a thread may hold it", path: key)
    }

    /// Objects of other domains are looked at there.
    private func askOtherDomains() {
        let domains = monitor.locked { () -> [Domain] in
            guard !lingering.isPaused else { return [] }
            var found: [Domain] = []
            for object in lingering.entries.keys {
                guard let record = ObjectTable.record(object), let domain = Self.type(record).domain, !isHere(domain),
                    lingering.posted.insert(ObjectIdentifier(domain)).inserted
                else { continue }
                found.append(domain)
            }
            return found
        }
        for domain in domains {
            let isDone = { [self] in _ = monitor.locked { lingering.posted.remove(ObjectIdentifier(domain)) } }
            post(to: domain, onDrop: isDone) { [self] in
                isDone()
                endRetired()
            }
        }
    }

    /// Waits until the thread that is ending objects has finished, at most until `deadline`.
    public func waitForEnding(until deadline: UInt64) {
        monitor.locked { wait(until: deadline) { !lingering.isEnding } }
    }

    // MARK: later

    /// Under the monitor: when the lingering objects are to be looked at again, on the monotonic clock. Nil when there are none.
    public func nextLook(_ now: UInt64) -> UInt64? {
        guard !lingering.isPaused, let youngest = lingering.entries.values.map(\.entered).max() else { return nil }
        var next = now + min(max((now - youngest) / 2, Self.shortestWait), Self.longestWait)
        guard stopGrace != .max else { return next }
        for entry in lingering.entries.values
        where entry.extra.retirement.idleSince != 0 && !entry.extra.retirement.isCurrent {
            next = min(next, max(now, entry.extra.retirement.idleSince + stopGrace))
        }
        return next
    }

    /// In nanoseconds, between two looks at lingering objects.
    private static let shortestWait: UInt64 = 1_000_000
    private static let longestWait: UInt64 = 1_000_000_000

    // MARK: close

    /// Waits until no thread ends retired objects; none begins to until `resumeRetired`.
    public func pauseRetired(until deadline: UInt64) throws(Failure) {
        let isOver = monitor.locked { () -> Bool in
            lingering.isPaused = true
            wait(until: deadline) { !lingering.isEnding }
            return !lingering.isEnding
        }
        if !isOver { throw Failure(.busy, "replaced objects are still being stopped; the runtime stays open") }
    }

    /// Close was refused.
    public func resumeRetired() {
        monitor.locked { lingering.isPaused = false }
        endRetired()
    }

    /// Close disposes of all of them.
    public func takeLingering() -> [UInt64] {
        monitor.locked {
            defer { lingering.entries = [:] }
            return Array(lingering.entries.keys)
        }
    }

    // MARK: facts

    /// The keys of replaced objects that stay started because their language still refers to them, each object once.
    public func takeReferred() -> [String] {
        monitor.locked {
            defer { lingering.referred = [] }
            return lingering.referred.compactMap { object -> (UInt64, String)? in
                guard lingering.entries[object] != nil, let record = ObjectTable.record(object),
                    record.pointee.key != 0
                else { return nil }
                return (iv_record_order(record), keys.name(record.pointee.key - 1))
            }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// A retired object that has not been stopped.
    public struct RetiredObject: Sendable {
        public enum Reason: String, Sendable { case read, leased, referenced }
        public var key: String
        public var type: String
        public var reason: Reason
        public var leases: UInt64
        /// Nanoseconds.
        public var retired: UInt64
        public var idle: UInt64
    }

    /// All of them, in order of creation. `read`: those of generations that are still read.
    public func retiredObjects(_ read: () -> Set<UInt64>) -> [RetiredObject] {
        // What the graph holds needs no lease, which would look like use.
        let held = monitor.locked { read().union(lingering.entries.keys) }
        var leases: [ObjectLease] = []
        for object in ObjectTable.all(of: tag) where !held.contains(object) && ObjectTable.retain(object) {
            leases.append(ObjectLease(owning: object))
        }
        let now = monotonicNow()
        let found = monitor.locked { () -> [(order: UInt64, RetiredObject)] in
            let read = read()
            let leased = Set(leases.map(\.bits))
            return leased.union(read).union(lingering.entries.keys).compactMap { object in
                guard let extra = Self.knownExtra(object), extra.retirement.since != 0, extra.life == .started,
                    let record = ObjectTable.record(object)
                else { return nil }
                let (since, idle) = (extra.retirement.since, extra.retirement.idleSince)
                // One lease may be this look's.
                let count = ObjectTable.leases(object) - (leased.contains(object) ? 1 : 0)
                let reason: RetiredObject.Reason =
                    read.contains(object) ? .read : count > 0 ? .leased : .referenced
                return (
                    iv_record_order(record),
                    RetiredObject(
                        key: record.pointee.key == 0 ? "" : keys.name(record.pointee.key - 1),
                        type: Self.type(record).name, reason: reason, leases: count, retired: now - min(since, now),
                        idle: reason == .referenced ? now - min(idle, now) : 0)
                )
            }
        }
        withExtendedLifetime(leases) {}
        return found.sorted { $0.order < $1.order }.map(\.1)
    }
}
