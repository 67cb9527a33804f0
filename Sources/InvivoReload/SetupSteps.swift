internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The objects that a commit sets up again, and those that it calls afterwards. Used by the thread of the commit.
final class SetupSteps {
    private let container: Container
    private let build: Build
    private let visits: DomainVisits
    private let timeout: UInt64
    /// The objects that were torn down, in this order, and whether their new setup has succeeded.
    private var tornDown: [(lease: ObjectLease, isSetUp: Bool)] = []
    /// The objects that `finalize` is called for, beside those that are refreshed.
    private var called: [ObjectLease] = []
    /// About objects whose setup has failed again.
    private var warnings: [Report.Warning] = []

    init(_ container: Container, _ build: Build, _ visits: DomainVisits, timeout: UInt64) {
        self.container = container
        self.build = build
        self.visits = visits
        self.timeout = timeout
    }

    /// Notes an object whose properties the commit sets.
    func noteTuned(_ lease: ObjectLease) { called.append(lease) }

    /// Tears objects down and sets them up again, each in its domain. The last step of a commit that can fail; objects whose setup
    /// failed before do not make it fail again.
    func run(_ kept: Owners.Concerned) throws(Failure) {
        for object in kept.retried where canRetry(object) {
            do throws(Failure) { try setUp(object) } catch {
                if tornDown.last?.isSetUp == false { tornDown.removeLast() }
                var described = error
                described.location = Location()  // the warning has it
                warnings.append(
                    Report.Warning(.setup, "\(described.text); each later commit tries again", at: error.location))
            }
        }
        for object in kept.setUp { try setUp(object) }
    }

    /// A change set that does not need a domain does not wait for it.
    private func canRetry(_ object: UInt64) -> Bool {
        guard let lease = container.retiredObjects.leaseForChange(object), let record = ObjectTable.record(object)
        else { return true }
        defer { withExtendedLifetime(lease) {} }
        return container.lifecycle.canSetUp(record)
    }

    private func setUp(_ object: UInt64) throws(Failure) {
        guard let lease = container.retiredObjects.leaseForChange(object), let record = ObjectTable.record(object),
            container.lifecycle.isStarted(record)
        else { return container.life.owners.setUnfinished(object, false) }
        if let domain = ObjectType.of(record).domain, let commit = build.commit {
            try visits.enter(domain, commit.abandonment)
        }
        tornDown.append((lease, false))
        do throws(Failure) { try container.lifecycle.setUpAgain(record, build, timeout: timeout) } catch {
            var failure = error
            if failure.path.isEmpty { failure.path = container.name(of: record) }
            if failure.location.file.isEmpty, record.pointee.key > 0 {
                failure.location = build.graph.recipe(record.pointee.key - 1)?.definition.location ?? Location()
            }
            throw failure
        }
        tornDown[tornDown.count - 1].isSetUp = true
    }

    /// After success: the children of the former setups end.
    func end() {
        for (lease, _) in tornDown {
            container.life.owners.setUnfinished(lease.bits, false)
            if let record = ObjectTable.record(lease.bits) { container.lifecycle.dropFormerChildren(of: record) }
        }
        called = tornDown.map(\.lease) + called
        tornDown = []
    }

    /// The domain that did not answer in time, if it was in a setup: its objects are left alone.
    private func isStuck(_ record: Record) -> Bool {
        guard build.commit?.abandonment.isBegun == true else { return false }
        guard let last = tornDown.last, !last.isSetUp, let stuck = ObjectTable.record(last.lease.bits) else {
            return true
        }
        return stuck == record || ObjectType.of(stuck).domain.map { $0 === ObjectType.of(record).domain } ?? false
    }

    /// The objects that are left alone.
    var stuck: [ObjectLease] {
        tornDown.map(\.lease).filter { lease in ObjectTable.record(lease.bits).map(isStuck) ?? false }
    }

    /// After a failure: tears down what was set up, the last first.
    func undo() -> [Failure] {
        tornDown.reversed().compactMap { (lease, isSetUp) in
            guard isSetUp, let record = ObjectTable.record(lease.bits), !isStuck(record) else { return nil }
            return container.lifecycle.undoSetup(record, timeout: timeout)
        }
    }

    /// After a failure, when everything else is undone: sets the objects up in the former generation. Later commits try again with those
    /// that fail.
    func restore() -> [Failure] {
        var failures: [Failure] = []
        for (lease, _) in tornDown {
            guard let record = ObjectTable.record(lease.bits) else { continue }
            var failure: Failure?
            let isStuck = isStuck(record)
            if isStuck {
                failure = Failure(.timeout, "it has not answered in time")
            } else {
                do throws(Failure) {
                    try container.lifecycle.setUpAgain(record, nil, timeout: timeout)
                    if ObjectType.of(record).description.functions.finalize != nil {
                        try container.lifecycle.finalize(record, timeout: timeout)
                    }
                } catch { failure = error }
            }
            container.life.owners.setUnfinished(lease.bits, failure != nil)
            // A setup that still runs may use them.
            if !isStuck { container.lifecycle.dropFormerChildren(of: record) }
            guard var described = failure else { continue }
            if described.path.isEmpty { described.path = container.name(of: record) }
            described.message =
                "it could not be set up again in the former generation; each later commit tries again: \(described.message)"
            failures.append(described)
        }
        tornDown = []
        return failures
    }

    /// Calls `refresh` and `finalize` of kept objects. Returns the errors as warnings.
    func callKept(_ refreshed: [UInt64]) -> [Report.Warning] {
        let lifecycle = container.lifecycle
        var warnings = warnings
        func call(_ what: String, _ object: UInt64, _ body: (Record) throws(Failure) -> Void) {
            guard let lease = container.retiredObjects.leaseForChange(object), let record = ObjectTable.record(object)
            else { return }
            do throws(Failure) {
                if let domain = ObjectType.of(record).domain, let commit = build.commit {
                    try visits.enter(domain, commit.abandonment)
                }
                try body(record)
            } catch {
                warnings.append(
                    Report.Warning(
                        .setup, "\(container.name(of: record)): \(what) failed after the commit: \(error.message)",
                        at: error.location))
            }
            withExtendedLifetime(lease) {}
        }
        for object in refreshed {
            call("refresh", object) { (record) throws(Failure) in
                guard ObjectType.of(record).description.functions.refresh != nil else { return }
                try lifecycle.refresh(record, timeout: timeout)
            }
        }
        var seen: Set<UInt64> = []
        for object in called.map(\.bits) + refreshed where seen.insert(object).inserted {
            call("finalize", object) { (record) throws(Failure) in
                guard ObjectType.of(record).description.functions.finalize != nil else { return }
                try lifecycle.finalize(record, timeout: timeout)
            }
        }
        called = []
        return warnings
    }
}
