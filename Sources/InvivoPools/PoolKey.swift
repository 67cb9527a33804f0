internal import CInvivo
internal import InvivoBase

/// A key in the form in which tables look for it. Equal keys have equal kinds, and equal numbers or bytes.
struct PoolKey {
    /// Integers of all widths have the same kinds, so that equal ones are the same key.
    enum Kind: UInt64 {
        case null = 1
        case bool, negative, natural, fraction, enumeration, string, bytes, object, type, callable, list
    }

    let hash: UInt64
    /// As in `iv_pool_slot`: the low half of the hash, the kind and the length. Never 0.
    let head: UInt64
    /// A number, or up to 8 bytes.
    let word: UInt64
    /// The bytes of a longer key; borrowed.
    let bytes: UnsafeRawPointer?

    var length: Int { Int(head >> 32 & 0x7ff_ffff) }
    @inline(__always)
    var shard: UInt64 { hash >> 58 }

    /// Longer ones are refused.
    static let mostBytes = 65_535

    @inline(__always)
    init(_ kind: Kind, number: UInt64, seed: UInt64) {
        // Twice: after one product, consecutive numbers still form sequences.
        hash = Self.fold(Self.fold(number ^ seed) ^ seed ^ kind.rawValue &* 0x9e37_79b9_7f4a_7c15)
        head = hash & 0xffff_ffff | (kind.rawValue << 27 | 8) << 32
        word = number
        bytes = nil
    }

    @inline(__always)
    init(_ kind: Kind, bytes: UnsafeRawPointer, length: Int, seed: UInt64) {
        guard length > 0 else {
            self.init(empty: kind, seed: seed)
            return
        }
        self.init(filled: kind, bytes, length, seed)
    }

    @inline(__always)
    private init(filled kind: Kind, _ bytes: UnsafeRawPointer, _ length: Int, _ seed: UInt64) {
        if length > 8 {
            word = 0
            hash = Self.hash(bytes, length, seed)
            self.bytes = bytes
        } else {
            word = Self.packed(bytes, length)
            hash = Self.mix(Self.mix(word ^ Self.other(seed), UInt64(length) ^ seed) ^ seed, Self.other(seed))
            self.bytes = nil
        }
        head = hash & 0xffff_ffff | (kind.rawValue << 27 | UInt64(length)) << 32
    }

    init(empty kind: Kind, seed: UInt64) {
        hash = Self.fold(seed ^ kind.rawValue)
        head = hash & 0xffff_ffff | kind.rawValue << 59
        word = 0
        bytes = nil
    }

    // An attacker that supplies keys must not be able to choose colliding ones: the secret seed is part of both factors of
    // each product, from the first bytes on (after wyhash, public domain).

    @inline(__always)
    private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    @inline(__always)
    private static func fold(_ value: UInt64) -> UInt64 { mix(value, 0xa076_1d64_78bd_642f) }

    @inline(__always)
    private static func other(_ seed: UInt64) -> UInt64 { (seed << 29 | seed >> 35) ^ 0xa076_1d64_78bd_642f }

    /// Creates a key of more than 8 bytes.
    @inline(__always)
    private static func hash(_ bytes: UnsafeRawPointer, _ length: Int, _ seed: UInt64) -> UInt64 {
        let other = other(seed)
        var state = seed
        var offset = 0
        while offset &+ 16 < length {
            state = mix(
                bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ other,
                bytes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self) ^ state)
            offset &+= 16
        }
        // The last 16, or all when there are fewer.
        let first = bytes.loadUnaligned(fromByteOffset: length > 16 ? length &- 16 : 0, as: UInt64.self)
        let last = bytes.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
        return mix(mix(first ^ other, last ^ state) ^ seed, other ^ UInt64(length))
    }

    /// Up to 8 bytes as a number, the first one lowest.
    @inline(__always)
    private static func packed(_ bytes: UnsafeRawPointer, _ length: Int) -> UInt64 {
        if length == 8 { return bytes.loadUnaligned(as: UInt64.self) }
        if length >= 4 {
            let last = UInt64(bytes.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self))
            return UInt64(bytes.loadUnaligned(as: UInt32.self)) | last << UInt64((length &- 4) &* 8)
        }
        func byte(_ offset: Int) -> UInt64 {
            UInt64(bytes.load(fromByteOffset: offset, as: UInt8.self)) << UInt64(offset &* 8)
        }
        return byte(0) | byte(length / 2) | byte(length &- 1)
    }

    /// A string or an integer, as most keys are; nil for other values.
    @inline(__always)
    init?(simple value: UnsafePointer<invivo_value>, seed: UInt64) {
        let kind = value.pointee.kind
        if kind == UInt32(INVIVO_KIND_STRING) {
            let length = Int(truncatingIfNeeded: value.pointee.as.string.length)
            guard length >= 0, length <= Self.mostBytes else { return nil }
            guard let data = value.pointee.as.string.data else {
                guard length == 0 else { return nil }
                self.init(empty: .string, seed: seed)
                return
            }
            self.init(.string, bytes: data, length: length, seed: seed)
            return
        }
        if kind >= UInt32(INVIVO_KIND_INT8), kind <= UInt32(INVIVO_KIND_INT64) {
            let number = value.pointee.as.signed_integer
            self.init(number < 0 ? .negative : .natural, number: UInt64(bitPattern: number), seed: seed)
            return
        }
        if kind >= UInt32(INVIVO_KIND_UINT8), kind <= UInt32(INVIVO_KIND_UINT64) {
            self.init(.natural, number: value.pointee.as.unsigned_integer, seed: seed)
            return
        }
        return nil
    }

    /// Calls `body` with the key of any value.
    static func with<Result>(
        _ value: UnsafePointer<invivo_value>, seed: UInt64, _ body: (PoolKey) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let key = PoolKey(simple: value, seed: seed) { return try body(key) }
        let written = try PoolKeyBytes(value.pointee)
        if let number = written.number { return try body(PoolKey(written.kind, number: number, seed: seed)) }
        let outcome = written.bytes.withUnsafeBytes { bytes -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                guard let start = bytes.baseAddress, !bytes.isEmpty else {
                    return .success(try body(PoolKey(empty: written.kind, seed: seed)))
                }
                return .success(try body(PoolKey(written.kind, bytes: start, length: bytes.count, seed: seed)))
            } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
