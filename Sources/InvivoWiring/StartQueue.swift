internal import InvivoBase

/// The objects of a build that are to be started when its graph is complete, each after those that it uses.
struct StartQueue {
    /// An object that is to be started.
    struct Entry {
        let lease: ObjectLease
        let record: Record
        let key: String
        let place: Place
        /// Entries that must be started before, by their index.
        let needs: Set<Int>
    }

    private(set) var entries: [Entry] = []
    /// The entries that must be started before the dependents of an object, by object.
    private var needs: [UInt64: Set<Int>] = [:]

    /// The entries that must be started before a user of the object.
    func needs(of object: UInt64) -> Set<Int>? { needs.isEmpty ? nil : needs[object] }

    /// Adds an object. Returns the index that its users wait for.
    mutating func add(_ entry: Entry) -> Int {
        entries.append(entry)
        return entries.count - 1
    }

    /// Users of an object wait for these entries.
    mutating func require(_ indices: Set<Int>, for object: UInt64) { needs[object] = indices }

    /// Users of a decorated object use its replacement.
    mutating func replace(_ object: UInt64, by other: UInt64) { needs[other] = needs[object] }

    /// Forgets the entries from an index on: they failed.
    mutating func truncate(to count: Int) {
        guard entries.count > count else { return }
        entries.removeLast(entries.count - count)
        needs = needs.mapValues { $0.filter { $0 < count } }.filter { !$0.value.isEmpty }
    }

    /// Takes over the entries of another build.
    mutating func append(_ other: StartQueue) {
        let offset = entries.count
        for entry in other.entries {
            entries.append(
                Entry(
                    lease: entry.lease, record: entry.record, key: entry.key, place: entry.place,
                    needs: Set(entry.needs.map { $0 + offset })))
        }
        for (object, indices) in other.needs { needs[object] = Set(indices.map { $0 + offset }) }
    }

    /// Forgets who waits for what, and keeps the entries.
    mutating func forgetUsers() { needs = [:] }
}
