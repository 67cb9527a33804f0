internal import CInvivo
internal import Synchronization

/// A key as a function knows it that `invivo keys` has written: its name is looked up once for each runtime.
///
/// Of several runtimes the one that was last asked is known; a key stays that of its name whatever reloads do.
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
