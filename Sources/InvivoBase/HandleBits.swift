public import CPlatform

/// The parts of a handle: `[kind: 4][tag of the runtime, or generation: 28][index: 32]`.
///
/// The tag contains the index of the runtime's core. The kinds are those of `HandleKind`; as constants, because the hot paths compare
/// them.
@frozen
public struct HandleBits: Sendable {
    public static var runtimeKind: UInt64 { @inlinable @inline(__always) get { 1 } }
    public static var keyKind: UInt64 { @inlinable @inline(__always) get { 3 } }
    public static var poolKind: UInt64 { @inlinable @inline(__always) get { 15 } }

    public let bits: UInt64

    @inlinable @inline(__always)
    public init(_ bits: UInt64) { self.bits = bits }

    @inlinable @inline(__always)
    public init(kind: UInt64, tag: UInt64, index: UInt32 = 0) { bits = (kind << 28 | tag) << 32 | UInt64(index) }

    @inlinable @inline(__always)
    public var kind: UInt64 { bits >> 60 }

    /// The tag of the runtime, or the generation of the handle.
    @inlinable @inline(__always)
    public var tag: UInt64 { (bits >> 32) & Self.tagMask }

    @inlinable @inline(__always)
    public var index: UInt32 { UInt32(truncatingIfNeeded: bits) }

    /// The core of the runtime with this tag, or NULL.
    @inlinable @inline(__always)
    public var core: Core? { iv_core_at(UInt32(truncatingIfNeeded: bits >> 48) & 0xfff) }

    /// The handle of the runtime with this tag.
    @inlinable @inline(__always)
    public var runtime: UInt64 { HandleBits(kind: Self.runtimeKind, tag: tag).bits }

    public static var tagMask: UInt64 { @inlinable @inline(__always) get { 0xfff_ffff } }
}
