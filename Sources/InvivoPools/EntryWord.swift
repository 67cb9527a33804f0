internal import CPlatform
internal import InvivoBase
internal import InvivoWiring

typealias RawWeak = UnsafeMutablePointer<iv_pool_weak>

/// The content of an entry: nothing, an object, a weak reference, or the creation that is under way for it.
struct EntryWord: Equatable {
    /// As in `iv_pool_slot.value`.
    let bits: UInt64

    static let none = EntryWord(bits: 0)

    @inline(__always)
    init(bits: UInt64) { self.bits = bits }
    @inline(__always)
    init(object: UInt64) { bits = object }
    @inline(__always)
    init(creation: Creation) { bits = Self.creationTag << 60 | UInt64(UInt(bitPattern: creation)) }
    init(weak: RawWeak) { bits = Self.weakTag << 60 | UInt64(UInt(bitPattern: weak)) }

    /// In the top 4 bits, where handles have their kind. Computed, because the hot paths read them.
    @inline(__always)
    private static var objectTag: UInt64 { 2 }
    @inline(__always)
    private static var creationTag: UInt64 { 0xe }
    @inline(__always)
    private static var weakTag: UInt64 { 0xf }

    /// The handle of an object.
    @inline(__always)
    var object: UInt64? { bits >> 60 == Self.objectTag ? bits : nil }
    @inline(__always)
    var weak: RawWeak? { bits >> 60 == Self.weakTag ? RawWeak(bitPattern: address) : nil }
    @inline(__always)
    var creation: Creation? { bits >> 60 == Self.creationTag ? Creation(bitPattern: address) : nil }

    @inline(__always)
    private var address: UInt { UInt(bits & ~(0xf << 60)) }

    /// The content under the key of an entry.
    enum Living {
        /// With a lease for the caller.
        case object(UInt64)
        /// The instance must be requested, which runs host code.
        case weak(RawWeak)
        case nothing
    }

    /// Leases the object of the entry if it lives. In a reading section.
    @inline(__always)
    func lease() -> Living {
        if let object { return ObjectTable.retain(object) ? .object(object) : .nothing }
        guard let weak else { return .nothing }
        return Self.leaseKnown(weak)
    }

    @inline(never)
    private static func leaseKnown(_ weak: RawWeak) -> Living {
        let known = iv_load_u64(iv_pool_weak_object(weak))
        return ObjectTable.retain(known) ? .object(known) : .weak(weak)
    }

    /// Whether the entry is kept when its table is rebuilt: its object lives, is being created, or may live. Runs no host code.
    var isKept: Bool {
        if let object { return ObjectTable.isClaimed(object) }
        if let weak { return iv_load_u64(iv_pool_weak_ended(weak)) == 0 }
        return self != .none
    }
}
