internal import InvivoBase
internal import InvivoGraph

/// The history of an object after it has been replaced or removed. Guarded by the container's monitor.
final class Retirement {
    /// References that its language had before anything received the object, including those that its start left; nil where
    /// references are not counted.
    var firstReferences: UInt64?
    /// Its start has been counted in `firstReferences`.
    var isStartCounted = false
    /// The time at which it was replaced or removed; 0: it was not.
    var since: UInt64 = 0
    /// The time since which only its language has referred to it; 0: it is used otherwise, or that is not known yet.
    var idleSince: UInt64 = 0
    /// Whether no reference to it is left, or its grace time is over: its last claim ends it.
    var isReleased = false
    /// A weak singleton that has not been replaced or removed: it lives as long as its language refers to it.
    var isCurrent = false
    /// The number of resolves that have received it. A look during which this changes does not end the object.
    var received: UInt64 = 0
    /// The number of disposals on their way although a resolve has received the object meanwhile. They end nothing.
    var calledOff: UInt64 = 0

    /// Begins the grace time of a replaced or removed object.
    func retire() {
        guard isCurrent else { return }
        isCurrent = false
        idleSince = 0
        if since == 0 { since = monotonicNow() }
    }
}

/// The runtime around retired objects.
protocol RetirementRuntime: AnyObject, Sendable {
    func keyName(_ id: UInt32) -> String
    /// Stops objects, users before the objects that they use, and reports failures.
    func stopRetired(_ records: [Record])
    /// Runs host code detached from the current build.
    func detached<Result>(_ body: () -> Result) -> Result
}

extension RetiredObjects {
    /// A retired object that has not been stopped.
    public struct Facts: Sendable {
        public enum Reason: String, Sendable { case read, leased, referenced }
        public var key: String
        public var type: String
        public var reason: Reason
        public var leases: UInt64
        /// Nanoseconds.
        public var retired: UInt64
        public var idle: UInt64
    }

    /// Counts the references that its language has to a new object, before anything else receives it.
    func countFirstReferences(_ record: Record) {
        let description = ObjectType.of(record).description
        guard description.countsReferences, let instance = record.pointee.instance else { return }
        let extra = ObjectExtra.of(record)
        guard monitor.locked({ extra.retirement.firstReferences == nil }) else { return }
        // If counting fails, the object is treated as referenced.
        let found = detached { (try? description.countReferences(instance)) ?? 0 }
        monitor.locked { extra.retirement.firstReferences = found }
    }

    /// Runs the first start of an object. References that the start leaves, for example of a thread, exist before other
    /// code receives the object, so they are not counted.
    func countingStart(of record: Record, _ start: () throws(Failure) -> Void) throws(Failure) {
        let description = ObjectType.of(record).description
        let extra = ObjectExtra.of(record)
        guard description.countsReferences, let instance = record.pointee.instance,
            monitor.locked({ extra.retirement.firstReferences != nil && !extra.retirement.isStartCounted })
        else { return try start() }
        let before = detached { try? description.countReferences(instance) }
        try start()
        let after = detached { try? description.countReferences(instance) }
        monitor.locked {
            extra.retirement.isStartCounted = true
            if let before, let after, after > before { extra.retirement.firstReferences? += after - before }
        }
    }

    /// Sets an object up again. The functions that its setup registers may refer to it, and end with it.
    func countingSetup(of record: Record, _ setup: () throws(Failure) -> Void) throws(Failure) {
        let description = ObjectType.of(record).description
        let extra = ObjectExtra.of(record)
        guard description.countsReferences, let instance = record.pointee.instance,
            monitor.locked({ extra.retirement.firstReferences != nil })
        else { return try setup() }
        let before = detached { try? description.countReferences(instance) }
        try setup()
        let after = detached { try? description.countReferences(instance) }
        monitor.locked {
            guard let before, let after, let first = extra.retirement.firstReferences else { return }
            extra.retirement.firstReferences =
                after >= before ? first + (after - before) : first - min(first, before - after)
        }
    }
}
