/// Reads and writes fields in place. Nothing here allocates for numbers; alignment does not matter.
extension Property {
    /// The value of a field in the struct at `base`. Null for a property by function.
    @inline(__always)
    public func read(_ base: UnsafeRawPointer) -> Value {
        if kind == .double, isField { return .double((base + offset).loadUnaligned(as: Double.self)) }
        return readAny(base)
    }

    private func readAny(_ base: UnsafeRawPointer) -> Value {
        guard isField else { return .null }
        let location = base + offset
        let value: Value =
            switch kind {
            // Read as a byte: memory of the host may contain other values than 0 and 1.
            case .bool: .bool(location.load(as: UInt8.self) != 0)
            case .int8: .int8(location.load(as: Int8.self))
            case .int16: .int16(location.loadUnaligned(as: Int16.self))
            case .int32: .int32(location.loadUnaligned(as: Int32.self))
            case .int64: .int64(location.loadUnaligned(as: Int64.self))
            case .uint8: .uint8(location.load(as: UInt8.self))
            case .uint16: .uint16(location.loadUnaligned(as: UInt16.self))
            case .uint32: .uint32(location.loadUnaligned(as: UInt32.self))
            case .uint64: .uint64(location.loadUnaligned(as: UInt64.self))
            case .float: .float(location.loadUnaligned(as: Float.self))
            case .double: .double(location.loadUnaligned(as: Double.self))
            case .string: .string(Self.text(at: location, size))
            case .bytes: .bytes(Array(UnsafeRawBufferPointer(start: location, count: size)))
            case .map: .map(fields.map { (name: $0.name, value: $0.read(location)) })
            default: .null
            }
        if isEnumeration, let number = value.signedInteger { return choice(number) }
        return value
    }

    /// The string up to the NUL, or to the end of the field. Invalid UTF-8 is repaired.
    private static func text(at location: UnsafeRawPointer, _ size: Int) -> String {
        let bytes = UnsafeRawBufferPointer(start: location, count: size)
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Writes a value from `check`, `read` or `capture` into the struct at `base`. A value of another kind, which these
    /// never return, writes nothing.
    @inline(__always)
    public func write(_ value: Value, to base: UnsafeMutableRawPointer) {
        if case .double(let number) = value, kind == .double, isField {
            (base + offset).storeBytes(of: number, as: Double.self)
        } else {
            writeAny(value, to: base)
        }
    }

    private func writeAny(_ value: Value, to base: UnsafeMutableRawPointer) {
        guard isField else { return }
        let location = base + offset
        switch (kind, value) {
        case (.bool, .bool(let boolean)): location.storeBytes(of: boolean ? 1 : 0, as: UInt8.self)
        case (.bool, .uint8(let byte)): location.storeBytes(of: byte, as: UInt8.self)
        case (.int8, .int8(let number)): location.storeBytes(of: number, as: Int8.self)
        case (.int16, .int16(let number)): location.storeBytes(of: number, as: Int16.self)
        case (.int32, .int32(let number)): location.storeBytes(of: number, as: Int32.self)
        case (.int64, .int64(let number)): location.storeBytes(of: number, as: Int64.self)
        case (.uint8, .uint8(let number)): location.storeBytes(of: number, as: UInt8.self)
        case (.uint16, .uint16(let number)): location.storeBytes(of: number, as: UInt16.self)
        case (.uint32, .uint32(let number)): location.storeBytes(of: number, as: UInt32.self)
        case (.uint64, .uint64(let number)): location.storeBytes(of: number, as: UInt64.self)
        case (.float, .float(let number)): location.storeBytes(of: number, as: Float.self)
        case (.double, .double(let number)): location.storeBytes(of: number, as: Double.self)
        case (_, .enumeration(let number, _)) where isEnumeration: writeNumber(number, to: location)
        case (.string, .string(let text)): fill(location, with: Array(text.utf8), reserving: 1)
        case (.bytes, .bytes(let bytes)), (.string, .bytes(let bytes)): fill(location, with: bytes, reserving: 0)
        case (.map, .map(let pairs)):
            for pair in pairs { fields.property(named: pair.name)?.write(pair.value, to: location) }
        default: break
        }
    }

    /// The number of an enumeration; with its choices it was checked against the width.
    private func writeNumber(_ number: Int64, to location: UnsafeMutableRawPointer) {
        switch kind.width {
        case 1: location.storeBytes(of: Int8(truncatingIfNeeded: number), as: Int8.self)
        case 2: location.storeBytes(of: Int16(truncatingIfNeeded: number), as: Int16.self)
        case 4: location.storeBytes(of: Int32(truncatingIfNeeded: number), as: Int32.self)
        case 8: location.storeBytes(of: number, as: Int64.self)
        default: break
        }
    }

    /// Fills the field, with zeros after the content: equal values have equal bytes.
    private func fill(_ location: UnsafeMutableRawPointer, with bytes: [UInt8], reserving tail: Int) {
        let count = min(bytes.count, max(size - tail, 0))
        bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { location.copyMemory(from: start, byteCount: count) }
        }
        for index in count..<max(size, count) { location.storeBytes(of: 0, toByteOffset: index, as: UInt8.self) }
    }

    /// Whether both properties have the same initial value of their own, or none.
    public func hasSameOwnInitial(as other: Property) -> Bool {
        let own = isInitialFromImage ? nil : initial
        let others = other.isInitialFromImage ? nil : other.initial
        switch (own, others) {
        case (let own?, let others?): return own.isSame(as: others)
        case (nil, nil):
            return fields.count == other.fields.count
                && zip(fields, other.fields).allSatisfy { $0.hasSameOwnInitial(as: $1) }
        default: return false
        }
    }

    /// Writes the initial value of a field, and of the fields in it.
    func writeInitial(to base: UnsafeMutableRawPointer) {
        guard isField else { return }
        if isNested {
            for field in fields { field.writeInitial(to: base + offset) }
        } else if let initial, !isInitialFromImage {
            write(initial, to: base)
        }
    }
}
