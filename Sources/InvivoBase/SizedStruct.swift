/// A C struct whose first member is its `struct_size`.
public protocol SizedStruct {
    /// The bytes of each field.
    static var fieldRanges: [Range<Int>] { get }
}

func fieldRange<Struct, Field>(of field: KeyPath<Struct, Field>) -> Range<Int> {
    let start = MemoryLayout<Struct>.offset(of: field) ?? 0
    return start..<start + MemoryLayout<Field>.size
}

/// Reads a C struct whose first member is its `struct_size`: copies the members that both sides know; the rest is zero.
/// `least` is the smallest accepted size.
public func versioned<Struct: SizedStruct>(
    _ pointer: UnsafeRawPointer, _ what: String, least: Int, as type: Struct.Type
) throws(Failure) -> Struct {
    let size = try structSize(pointer, what, least: least, as: type)
    return withUnsafeTemporaryAllocation(of: Struct.self, capacity: 1) { copy in
        let raw = UnsafeMutableRawBufferPointer(copy)
        raw.initializeMemory(as: UInt8.self, repeating: 0)
        let known = min(size, MemoryLayout<Struct>.size)
        raw.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: known))
        return copy[0]
    }
}

/// Reads a C struct whose first member is its `struct_size`, over another one: members that the host does not know keep their value.
public func versioned<Struct: SizedStruct>(
    _ pointer: UnsafeRawPointer, _ what: String, least: Int, over base: Struct
) throws(Failure) -> Struct {
    let size = try structSize(pointer, what, least: least, as: Struct.self)
    var copy = base
    withUnsafeMutableBytes(of: &copy) { bytes in
        bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, bytes.count)))
    }
    return copy
}

/// The `struct_size` that a C struct begins with, of a plausible length: at least `least`, no more than any version
/// of the library can have, and no end within a field.
public func structSize<Struct: SizedStruct>(
    _ pointer: UnsafeRawPointer, _ what: String, least: Int, as type: Struct.Type
) throws(Failure) -> Int {
    let size = pointer.loadUnaligned(as: UInt.self)
    let cutsField =
        size < UInt(MemoryLayout<Struct>.size) && Struct.fieldRanges.contains { $0.dropFirst().contains(Int(size)) }
    guard size >= UInt(least), size <= 1 << 20, !cutsField else {
        throw Failure(
            .argument,
            "\(what) has struct_size \(size): set it to sizeof(its type), \(MemoryLayout<Struct>.size) in this version")
    }
    return Int(size)
}

/// Fills an out struct of C that begins with its `struct_size` (0 means the size in this version), as far as both sides
/// know its members.
public func fill<Struct: SizedStruct>(
    _ out: UnsafeMutablePointer<Struct>, _ what: String, least: Int, with value: Struct
) throws(Failure) {
    let raw = UnsafeMutableRawPointer(out)
    let whole = MemoryLayout<Struct>.size
    let isUnsized = raw.loadUnaligned(as: UInt.self) == 0
    let size = isUnsized ? whole : try structSize(raw, what, least: least, as: Struct.self)
    withUnsafeBytes(of: value) { bytes in
        guard let source = bytes.baseAddress else { return }
        raw.copyMemory(from: source, byteCount: min(size, whole))
    }
    raw.storeBytes(of: size, as: Int.self)
}
