internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// The objects of a build that are started when its graph is complete, each after those that it uses. Used by the thread of the
/// build.
final class StartPhase {
    /// An object that is to be started.
    struct Entry {
        let lease: ObjectLease
        let record: Record
        let key: String
        let location: Location
        /// Entries that must be started before, by their index.
        let needs: Set<Int>
    }

    private var entries: [Entry] = []
    /// The entries that must be started before the dependents of an object, by object.
    private var needs: [UInt64: Set<Int>] = [:]
    /// The entries that were started, in this order, so that they can be stopped again.
    private var started: [Entry] = []

    // MARK: objects to start

    /// The number of objects that are to be started.
    var count: Int { entries.count }

    /// The entries that must be started before a user of the object.
    func needs(of object: UInt64) -> Set<Int>? { needs.isEmpty ? nil : needs[object] }

    /// Adds an object. Returns the index that its users wait for.
    func add(_ entry: Entry) -> Int {
        entries.append(entry)
        return entries.count - 1
    }

    /// Users of an object wait for these entries.
    func require(_ indices: Set<Int>, for object: UInt64) { needs[object] = indices }

    /// Users of a decorated object use its replacement.
    func replace(_ object: UInt64, by other: UInt64) { needs[other] = needs[object] }

    /// Forgets the entries from an index on: they failed.
    func truncate(to count: Int) {
        guard entries.count > count else { return }
        entries.removeLast(entries.count - count)
        needs = needs.mapValues { $0.filter { $0 < count } }.filter { !$0.value.isEmpty }
    }

    /// Takes over the objects that another build was to start.
    func takeEntries(of other: StartPhase) {
        let offset = entries.count
        for entry in other.entries {
            entries.append(
                Entry(
                    lease: entry.lease, record: entry.record, key: entry.key, location: entry.location,
                    needs: Set(entry.needs.map { $0 + offset })))
        }
        for (object, indices) in other.needs { needs[object] = Set(indices.map { $0 + offset }) }
        (other.entries, other.needs) = ([], [:])
    }

    /// Forgets the users of objects, and keeps the entries.
    func forgetUsers() { needs = [:] }

    // MARK: starting

    /// Prepares and starts the objects of `build`. After a failure none of them is started.
    func startAll(of build: Build) throws(Failure) {
        let entries = entries
        guard !entries.isEmpty else { return }
        try prepareAll(of: build)
        (self.entries, needs) = ([], [:])
        let container = build.container
        let lifecycle = container.lifecycle
        let steps = entries.map { Lifecycle.Run.Step(domain: ObjectType.of($0.record).domain, needs: $0.needs) }
        let objects = entries.map { ($0.lease, $0.key) }
        let run = Lifecycle.Run(
            container, steps, endsWithFailure: true, describe: { "the start of '\(objects[$0].1)'" }
        ) { (index) throws(Failure) in
            let (lease, key) = objects[index]
            guard let record = ObjectTable.record(lease.bits) else { return }
            try lifecycle.start(record, key, build)
        }
        let (failures, done) = run.run()
        started += done.map { entries[$0] }
        guard let first = failures.first else { return }
        var failure = first
        failure.others += failures.dropFirst().flatMap(\.all)
        failure.others += stopStarted(of: build, lifecycle)
        throw failure
    }

    /// Prepares the objects that were created so far, in the order of creation.
    func prepareAll(of build: Build) throws(Failure) {
        let lifecycle = build.container.lifecycle
        for entry in entries where lifecycle.state(of: entry.record) == .made {
            do throws(Failure) { try lifecycle.prepare(entry.record, build) } catch {
                throw error.named(entry.key, entry.location)
            }
        }
    }

    /// Stops the objects that it has started, the last first. Returns all failures. Without a build, the stop functions do not
    /// see its objects.
    func stopStarted(of build: Build?, _ lifecycle: Lifecycle) -> [Failure] {
        let last = started.reversed()
        started = []
        return last.compactMap { lifecycle.stop($0.record, $0.key, build) }
    }

    /// The objects stay started: the build is over.
    func keepStarted() { started = [] }
}
