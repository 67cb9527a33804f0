internal import CInvivo
internal import InvivoBase

/// A key of any kind as a number or as bytes.
struct PoolKeyBytes {
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
            guard depth < 16 else { throw Failure(.tooLarge, "the lists of a key are nested deeper than 16") }
            guard value.as.list.count == 0 || value.as.list.items != nil else {
                throw Failure(.argument, "a list in a key has items, but its pointer is NULL")
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

    /// A fraction, or the integer that it is equal to.
    private mutating func take(_ double: Double) throws(Failure) {
        guard !double.isNaN else {
            throw Failure(.argument, "NaN cannot be a key: it never equals itself")
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
        guard let data else { throw Failure(.argument, "a key has \(length) bytes, but its pointer is NULL") }
        guard length <= UInt64(PoolKey.mostBytes) else { throw Self.tooLong(Int(clamping: length)) }
        bytes = Array(UnsafeRawBufferPointer(start: data, count: Int(length)))
    }

    /// Appends kind, length and content, so that different lists have different bytes.
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
    /// The value of a key that is a number.
    func value(number: UInt64) -> Value {
        switch self {
        case .null: .null
        case .bool: .bool(number != 0)
        case .negative: .int64(Int64(bitPattern: number))
        case .natural: Int64(exactly: number).map { .int64($0) } ?? .uint64(number)
        case .fraction: .double(Double(bitPattern: number))
        case .enumeration: .enumeration(number: Int64(bitPattern: number), name: nil)
        case .object:
            // The key is the identity of an object; an object that has ended cannot be shown.
            ObjectTable.retain(number) ? .object(ObjectLease(owning: number)) : .null
        case .type: (try? TypeDescription.find(number)).map { .type($0) } ?? .null
        case .callable: (try? Callable.find(number)).map { .callable($0) } ?? .null
        case .string: .string("")
        case .bytes: .bytes([])
        case .list: .list([])
        }
    }

    /// The value of a key that is bytes.
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
