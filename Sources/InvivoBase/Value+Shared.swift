public import CInvivo
internal import CPlatform
internal import Glibc

/// Values that are copied without an allocation: the content of a string, a list or a map has a count of its references in front of it.
///
/// For values that many threads read (contexts). Each copy is owned by its holder, and freed by `Value.free`. Nested objects and
/// callables have one lease for all copies.
extension Value {
    /// Marks shared values, in the `reserved` word.
    static let sharedMark: UInt32 = 0x7368_7264

    /// In front of the content.
    private struct Header {
        var references: UInt64
        /// Keeps the alignment of malloc.
        var padding: UInt64 = 0
    }

    /// A value for `copyShared`, freed by `free`.
    public func shared() -> invivo_value {
        var value = owned()
        switch self {
        case .string(let text): value.as.string.data = Self.withHeader(value.as.string.data, text.utf8.count + 1)
        case .bytes(let bytes): value.as.bytes.data = Self.withHeader(value.as.bytes.data, bytes.count)
        case .list(let items):
            value.as.list.items = Self.withHeader(value.as.list.items, items.count * MemoryLayout<invivo_value>.stride)
        case .map(let pairs):
            value.as.map.pairs = Self.withHeader(value.as.map.pairs, pairs.count * MemoryLayout<invivo_pair>.stride)
        case .enumeration(_, let name?):
            value.as.enumeration.name = Self.withHeader(value.as.enumeration.name, name.utf8.count + 1)
        case .callable(let callable):
            value.as.string.length = UInt64(UInt(bitPattern: Unmanaged.passUnretained(callable).toOpaque()))
            return value
        case .object: return value
        default:
            // Nothing is to be freed.
            value.reserved = 0
            return value
        }
        value.reserved = Self.sharedMark
        return value
    }

    /// Moves content that `owned` has allocated behind a header.
    private static func withHeader<Element>(_ content: UnsafePointer<Element>?, _ size: Int) -> UnsafePointer<Element>?
    {
        guard let content else { return nil }
        guard let memory = malloc(MemoryLayout<Header>.size + size) else { abort() }
        memory.initializeMemory(as: Header.self, repeating: Header(references: 1), count: 1)
        let moved = memory + MemoryLayout<Header>.size
        moved.copyMemory(from: content, byteCount: size)
        Glibc.free(UnsafeMutableRawPointer(mutating: content))
        return UnsafePointer(moved.assumingMemoryBound(to: Element.self))
    }

    /// A further copy of a value of `shared()`, which the caller keeps meanwhile. Takes no lock and allocates nothing. Nil for an object
    /// that takes no more leases.
    @inline(__always)
    public static func copyShared(_ value: invivo_value) -> invivo_value? {
        if value.reserved == sharedMark {
            if let header = header(of: value) { _ = iv_add_u64(references(header), 1) }
        } else if value.kind == UInt32(INVIVO_KIND_OBJECT) {
            guard ObjectLease.addLease(value.as.object.bits) else { return nil }
        } else if value.kind == UInt32(INVIVO_KIND_CALLABLE) {
            addCallableLease(value)
        }
        return value
    }

    private static func header(of value: invivo_value) -> UnsafeMutableRawPointer? {
        let content: UnsafeRawPointer? =
            switch ValueKind(rawValue: value.kind) {
            case .string: UnsafeRawPointer(value.as.string.data)
            case .bytes: UnsafeRawPointer(value.as.bytes.data)
            case .list: UnsafeRawPointer(value.as.list.items)
            case .map: UnsafeRawPointer(value.as.map.pairs)
            case .enumeration: UnsafeRawPointer(value.as.enumeration.name)
            default: nil
            }
        return content.map { UnsafeMutableRawPointer(mutating: $0 - MemoryLayout<Header>.size) }
    }

    private static func references(_ header: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt64> {
        header.assumingMemoryBound(to: UInt64.self)
    }

    static func releaseShared(_ value: invivo_value) {
        guard let header = header(of: value) else { return }
        // The value before the subtraction.
        guard iv_sub_u64(references(header), 1) == 1 else { return }
        // What is nested was allocated as by `owned`.
        for item in nested(in: value) { disposeOwned(item) }
        if value.kind == UInt32(INVIVO_KIND_MAP) {
            for pair in UnsafeBufferPointer(start: value.as.map.pairs, count: Int(clamping: value.as.map.count)) {
                Glibc.free(UnsafeMutableRawPointer(mutating: pair.name))
            }
        }
        Glibc.free(header)
    }

    private static func nested(in value: invivo_value) -> [invivo_value] {
        switch ValueKind(rawValue: value.kind) {
        case .list:
            Array(UnsafeBufferPointer(start: value.as.list.items, count: Int(clamping: value.as.list.count)))
        case .map:
            UnsafeBufferPointer(start: value.as.map.pairs, count: Int(clamping: value.as.map.count)).map(\.value)
        default: []
        }
    }

    /// The handles of the objects in a value, each as often as it has a lease of it.
    public static func objects(in value: invivo_value) -> [UInt64] {
        if value.kind == UInt32(INVIVO_KIND_OBJECT) { return [value.as.object.bits] }
        return nested(in: value).flatMap(objects(in:))
    }

    /// The word beside the handle of a shared callable is its address, so that no table is needed to count a lease.
    private static func addCallableLease(_ value: invivo_value) {
        guard let address = UnsafeRawPointer(bitPattern: UInt(value.as.string.length)) else { return }
        Unmanaged<Callable>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.addLease() }
    }
}
