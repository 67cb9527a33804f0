internal import InvivoBase

/// The handles of a runtime and of its keys.
struct RuntimeHandle {
    /// The lower 28 bits of the upper half of each handle.
    let tag: UInt64

    var bits: UInt64 { (HandleKind.runtime.rawValue << 28 | tag) << 32 }

    /// The upper half of the handle of a key.
    var keyOwner: UInt32 { UInt32(truncatingIfNeeded: HandleKind.key.rawValue << 28 | tag) }

    func key(_ id: UInt32) -> UInt64 { UInt64(keyOwner) << 32 | UInt64(id) }
}
