internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// A weak reference to an instance whose type counts references, with that type: the type of the object, which may
/// differ from that of its definition.
struct WeakInstance: Sendable {
    private let weak: HostPointer
    let type: ObjectType

    /// Nil if the type has no weak references. Nil also for types with a stop function: an instance without a record
    /// has been stopped, which is final. Runs host code: no lock is held.
    init?(to record: Record) {
        let type = ObjectType.of(record)
        guard type.raw.pointee.has_stop == 0,
            let pointer = record.pointee.instance.flatMap({ type.description.makeWeak($0) })
        else { return nil }
        (weak, self.type) = (HostPointer(pointer), type)
    }

    /// The instance with one more reference; nil when it has ended. Runs host code: no lock is held.
    func load() -> UnsafeMutableRawPointer? { weak.raw.flatMap { type.description.loadWeak($0) } }

    /// Ends it.
    func free() {
        if let pointer = weak.raw { type.description.freeWeak(pointer) }
    }
}
