internal import CPlatform
public import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// Records the former values of the properties that a trait sets through the runtime. Used on the thread that applies the trait.
public final class SetRecorder {
    private struct Entry {
        /// Not leased: an object that has ended needs no former value.
        let object: UInt64
        let property: Property
        let value: Value
        let kept: Property.Kept?
    }

    /// The former values that are not restored yet.
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Runs `body`, and records the properties that it sets.
    func recording(_ body: () throws(Failure) -> Void) throws(Failure) {
        let thread = currentThread()
        let former = thread.pointee.recorder
        thread.pointee.recorder = Unmanaged.passUnretained(self).toOpaque()
        defer { thread.pointee.recorder = former }
        try body()
    }

    /// Records the value of a property before the calling thread sets it for the first time. Does nothing outside of a trait.
    public static func note(
        _ object: UInt64, _ instance: UnsafeMutableRawPointer, _ property: Property
    ) throws(Failure) {
        guard let recorder = currentThread().pointee.recorder else { return }
        let noted = Unmanaged<SetRecorder>.fromOpaque(recorder).takeUnretainedValue()
        guard !noted.entries.contains(where: { $0.object == object && $0.property === property }) else { return }
        var kept: Property.Kept?
        let value = try property.capture(instance, &kept)
        noted.entries.append(Entry(object: object, property: property, value: value, kept: kept))
    }

    func forget() { entries = [] }

    /// Restores the recorded values, the last one first, and forgets them. Keeps those that are refused. Returns the failures.
    func revert() -> [Failure] {
        var failures: [Failure] = []
        var refused: [Entry] = []
        defer { entries = refused.reversed() }
        for entry in entries.reversed() {
            guard ObjectTable.retain(entry.object) else { continue }
            let lease = ObjectLease(owning: entry.object)
            defer { withExtendedLifetime(lease) {} }
            guard let instance = ObjectTable.record(entry.object)?.pointee.instance else { continue }
            do throws(Failure) { try entry.property.restore(instance, entry.value, entry.kept) } catch {
                failures.append(error)
                refused.append(entry)
            }
        }
        return failures
    }
}
