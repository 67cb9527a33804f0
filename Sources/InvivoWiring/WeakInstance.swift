internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// A weak reference to an instance that is counted elsewhere, with the type whose functions made it: that of the object, which
/// may be another than its definition's.
struct WeakInstance: @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer
    let type: ObjectType

    /// Nil where the type has none. Nil where it has a stop, too: an instance without a record has been stopped, and a stopped
    /// one never comes back. Runs host code: no lock is held.
    init?(to record: Record) {
        let type = ObjectType.of(record)
        guard type.raw.pointee.has_stop == 0,
            let pointer = record.pointee.instance.flatMap({ type.description.makeWeak($0) })
        else { return nil }
        (self.pointer, self.type) = (pointer, type)
    }

    /// The instance with one reference more, or nil when it is gone. Runs host code: no lock is held.
    func load() -> UnsafeMutableRawPointer? { type.description.loadWeak(pointer) }

    /// Ends it.
    func free() { type.description.freeWeak(pointer) }
}
