internal import InvivoBase
internal import Synchronization

/// The handle of an object, which is opened at most once.
struct OwnHandle: ~Copyable, Sendable {
    private let kind: HandleKind
    private let opened = Atomic<UInt64>(0)

    init(_ kind: HandleKind) { self.kind = kind }

    /// 0 before it is opened.
    var bits: UInt64 { opened.load(ordering: .acquiring) }

    /// Opens the handle of `object`, or returns it if it is open.
    func open(_ object: any AnyObject & Sendable) -> UInt64 {
        if bits == 0 { opened.store(HandleTable.insert(object, kind: kind), ordering: .releasing) }
        return bits
    }

    func close() { if bits != 0 { _ = HandleTable.remove(bits, kind) } }
}
