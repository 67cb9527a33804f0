internal import CInvivo
internal import Synchronization

/// A key of a function that `invivo keys` has generated: its name is looked up once for each runtime.
///
/// Only the runtime of the last use is cached. A key stays valid for its name across reloads.
public final class WrittenKey: Sendable {
    /// `assembly.name`.
    public let name: String
    private let known = Atomic<UInt64>(0)

    /// The key of a name.
    public init(_ name: String) { self.name = name }

    func found(in core: Core) throws(InvivoError) -> invivo_key {
        var key = invivo_key(bits: known.load(ordering: .relaxed))
        if !invivo_key_is_of(key, core.handle) {
            try core.call(naming: name) { $0.pointee.key_find(core.handle, $1, &key, $2) }
            known.store(key.bits, ordering: .relaxed)
        }
        return key
    }
}
