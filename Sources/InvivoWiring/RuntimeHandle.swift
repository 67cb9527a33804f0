internal import InvivoBase

/// The handles of a runtime and of its keys.
struct RuntimeHandle {
    /// The lower 28 bits of the upper half of each handle.
    let tag: UInt64

    var bits: UInt64 { HandleBits(kind: HandleBits.runtimeKind, tag: tag).bits }

    /// The upper half of the handle of a key.
    var keyOwner: UInt32 { UInt32(truncatingIfNeeded: key(0) >> 32) }

    func key(_ id: UInt32) -> UInt64 { HandleBits(kind: HandleBits.keyKind, tag: tag, index: id).bits }
}
