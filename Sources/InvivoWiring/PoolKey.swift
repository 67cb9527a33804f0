internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// The key of an entry, ready to be looked for: where it is, and what it must be equal to.
struct PoolKey {
    /// What a key is. Numbers of all widths are one kind, so that equal ones are one key.
    enum Kind: UInt64 {
        case null = 1
        case bool, negative, natural, fraction, enumeration, string, bytes, object, type, callable, list
    }

    let hash: UInt64
    /// As in `iv_pool_slot`: never 0.
    let head: UInt64
    let word: UInt64
    /// Where the bytes are that do not fit into the word; borrowed.
    let bytes: UnsafeRawPointer?

    var length: Int { Int(head >> 32 & 0x7ff_ffff) }
    @inline(__always)
    var shard: UInt64 { hash >> 58 }

    /// Longer ones are refused.
    static let mostBytes = 65_535

    @inline(__always)
    init(_ kind: Kind, number: UInt64, seed: UInt64) {
        // Twice: numbers in a row stay in rows after one product.
        hash = KeyTable.fold(KeyTable.fold(number ^ seed) ^ seed ^ kind.rawValue &* 0x9e37_79b9_7f4a_7c15)
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
        hash = KeyTable.fold(seed ^ kind.rawValue)
        head = hash & 0xffff_ffff | kind.rawValue << 59
        word = 0
        bytes = nil
    }

    // Keys come from outside. So nobody must be able to choose many that meet: the seed, which nobody knows, takes part in both
    // factors of every product, from the first bytes on (after wyhash, public domain).

    @inline(__always)
    private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    @inline(__always)
    private static func other(_ seed: UInt64) -> UInt64 { (seed << 29 | seed >> 35) ^ 0xa076_1d64_78bd_642f }

    /// Of more than 8 bytes.
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

    /// Up to 8 bytes, the first one lowest.
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

    /// Texts and integers, which most keys are; nil for all else.
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

    /// Any key, for the length of `body`.
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

/// A key that is neither a text nor an integer, as a number or written out.
private struct PoolKeyBytes {
    var kind: PoolKey.Kind
    var number: UInt64?
    var bytes: [UInt8] = []

    init(_ value: invivo_value, depth: Int = 0) throws(Failure) {
        kind = .null
        switch value.kind {
        case UInt32(INVIVO_KIND_NULL): number = 0
        case UInt32(INVIVO_KIND_BOOL): (kind, number) = (.bool, value.as.boolean ? 1 : 0)
        case UInt32(INVIVO_KIND_INT8)...UInt32(INVIVO_KIND_INT64):
            kind = value.as.signed_integer < 0 ? .negative : .natural
            number = UInt64(bitPattern: value.as.signed_integer)
        case UInt32(INVIVO_KIND_UINT8)...UInt32(INVIVO_KIND_UINT64):
            (kind, number) = (.natural, value.as.unsigned_integer)
        case UInt32(INVIVO_KIND_FLOAT): try take(Double(value.as.single))
        case UInt32(INVIVO_KIND_DOUBLE): try take(value.as.number)
        case UInt32(INVIVO_KIND_ENUMERATION):
            (kind, number) = (.enumeration, UInt64(bitPattern: value.as.enumeration.number))
        case UInt32(INVIVO_KIND_OBJECT): (kind, number) = (.object, value.as.object.bits)
        case UInt32(INVIVO_KIND_TYPE): (kind, number) = (.type, value.as.type.bits)
        case UInt32(INVIVO_KIND_CALLABLE): (kind, number) = (.callable, value.as.callable.bits)
        case UInt32(INVIVO_KIND_STRING): try take(value.as.string.data, value.as.string.length, as: .string)
        case UInt32(INVIVO_KIND_BYTES): try take(value.as.bytes.data, value.as.bytes.length, as: .bytes)
        case UInt32(INVIVO_KIND_LIST):
            guard depth < 16 else { throw Failure(.tooLarge, "a key's lists lie deeper in each other than 16") }
            guard value.as.list.count == 0 || value.as.list.items != nil else {
                throw Failure(.argument, "a key's list has items, and where they are is NULL")
            }
            kind = .list
            for index in 0..<Int(clamping: value.as.list.count) {
                append(try PoolKeyBytes(value.as.list.items[index], depth: depth + 1))
                guard bytes.count <= PoolKey.mostBytes else { throw Self.tooLong(bytes.count) }
            }
        default:
            throw Failure(
                .type,
                "a \(ValueKind(rawValue: value.kind)?.name ?? "value of no known kind") cannot be the key of a pool")
        }
    }

    private static func tooLong(_ length: Int) -> Failure {
        Failure(.tooLarge, "the key has \(length) bytes; a pool takes \(PoolKey.mostBytes)")
    }

    /// Whole numbers are what the integers are.
    private mutating func take(_ double: Double) throws(Failure) {
        guard !double.isNaN else {
            throw Failure(.argument, "a key that is no number (NaN) would never be found again")
        }
        if let whole = Int64(exactly: double) {
            (kind, number) = (whole < 0 ? .negative : .natural, UInt64(bitPattern: whole))
        } else if let whole = UInt64(exactly: double) {
            (kind, number) = (.natural, whole)
        } else {
            (kind, number) = (.fraction, double.bitPattern)
        }
    }

    private mutating func take(_ data: UnsafeRawPointer?, _ length: UInt64, as what: PoolKey.Kind) throws(Failure) {
        kind = what
        guard length > 0 else { return }
        guard let data else { throw Failure(.argument, "a key has \(length) bytes, and where they are is NULL") }
        guard length <= UInt64(PoolKey.mostBytes) else { throw Self.tooLong(Int(clamping: length)) }
        bytes = Array(UnsafeRawBufferPointer(start: data, count: Int(length)))
    }

    /// Kind, length, content: no two lists are written alike.
    private mutating func append(_ item: PoolKeyBytes) {
        bytes.append(UInt8(item.kind.rawValue))
        if let number = item.number {
            bytes.append(0xff)
            withUnsafeBytes(of: number) { bytes += $0 }
        } else {
            bytes.append(0)
            withUnsafeBytes(of: UInt32(item.bytes.count)) { bytes += $0 }
            bytes += item.bytes
        }
    }
}

extension PoolKey.Kind {
    /// The key of an entry as a value again.
    func value(number: UInt64) -> Value {
        switch self {
        case .null: .null
        case .bool: .bool(number != 0)
        case .negative: .int64(Int64(bitPattern: number))
        case .natural: Int64(exactly: number).map { .int64($0) } ?? .uint64(number)
        case .fraction: .double(Double(bitPattern: number))
        case .enumeration: .enumeration(number: Int64(bitPattern: number), name: nil)
        case .object:
            // The key is the identity: an object that is gone has none to show.
            ObjectTable.retain(number) ? .object(ObjectLease(owning: number)) : .null
        case .type: (try? TypeDescription.find(number)).map { .type($0) } ?? .null
        case .callable: (try? Callable.find(number)).map { .callable($0) } ?? .null
        case .string: .string("")
        case .bytes: .bytes([])
        case .list: .list([])
        }
    }

    func value(bytes: UnsafeRawBufferPointer) -> Value {
        switch self {
        case .string: .string(String(decoding: bytes, as: UTF8.self))
        case .list: Self.list(bytes)
        default: .bytes(Array(bytes))
        }
    }

    private static func list(_ bytes: UnsafeRawBufferPointer) -> Value {
        var items: [Value] = []
        var at = 0
        while at + 2 <= bytes.count, let kind = Self(rawValue: UInt64(bytes[at])) {
            let isNumber = bytes[at + 1] == 0xff
            at += 2
            if isNumber {
                items.append(kind.value(number: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
                at += 8
            } else {
                let length = Int(bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
                at += 4
                items.append(kind.value(bytes: UnsafeRawBufferPointer(rebasing: bytes[at..<at + length])))
                at += length
            }
        }
        return .list(items)
    }
}
