public import CInvivo
internal import Glibc

extension Value {
    /// The maximum nesting of lists and maps in a value from C.
    static let deepest = 64

    /// Marks values that `owned()` allocated, in the `reserved` word. `free` touches nothing else, so that a callback
    /// may return a string of its own, and clearing a borrowed value is safe.
    private static let ownedMark: UInt32 = 0x6F77_6E64

    // MARK: In

    /// Checks a borrowed value and copies all of it.
    public init(borrowing value: invivo_value) throws(Failure) {
        try self.init(borrowing: value, depth: 0)
    }

    /// Reads a value through a pointer. NULL is an error, which names `what`.
    public init(borrowing pointer: UnsafePointer<invivo_value>?, _ what: String) throws(Failure) {
        guard let pointer else { throw Failure(.argument, "\(what) is NULL") }
        try self.init(borrowing: pointer.pointee, depth: 0)
    }

    /// Reads an array of arguments.
    public static func borrowed(_ values: UnsafePointer<invivo_value>?, _ count: Int) throws(Failure) -> [Value] {
        guard count != 0 else { return [] }
        let items = try Self.array(values, UInt64(truncatingIfNeeded: count), "the arguments")
        var result: [Value] = []
        result.reserveCapacity(items.count)
        for item in items { result.append(try Value(borrowing: item, depth: 0)) }
        return result
    }

    private init(borrowing value: invivo_value, depth: Int) throws(Failure) {
        guard let kind = ValueKind(rawValue: value.kind), kind != .any else {
            throw Failure(.argument, "\(value.kind) is not the kind of a value")
        }
        let signed = value.as.signed_integer
        let unsigned = value.as.unsigned_integer
        switch kind {
        case .null, .any: self = .null
        // Read as a byte: a `bool` from C that is neither 0 nor 1 must not be read as a Swift Bool.
        case .bool: self = .bool(unsigned & 0xFF != 0)
        case .int8: self = .int8(try Self.narrowed(signed, kind))
        case .int16: self = .int16(try Self.narrowed(signed, kind))
        case .int32: self = .int32(try Self.narrowed(signed, kind))
        case .int64: self = .int64(signed)
        case .uint8: self = .uint8(try Self.narrowed(unsigned, kind))
        case .uint16: self = .uint16(try Self.narrowed(unsigned, kind))
        case .uint32: self = .uint32(try Self.narrowed(unsigned, kind))
        case .uint64: self = .uint64(unsigned)
        case .float: self = .float(value.as.single)
        case .double: self = .double(value.as.number)
        case .string: self = .string(try Self.text(value.as.string.data, value.as.string.length, "a string"))
        case .bytes:
            self = .bytes(Array(try Self.array(value.as.bytes.data, value.as.bytes.length, "bytes")))
        case .list: self = .list(try Self.items(value, depth: depth + 1))
        case .map: self = .map(try Self.pairs(value, depth: depth + 1))
        case .object: self = .object(try ObjectLease.retaining(value.as.object.bits))
        case .type: self = .type(try TypeDescription.find(value.as.type.bits))
        case .callable: self = .callable(try Callable.find(value.as.callable.bits))
        case .enumeration:
            let name = try optionalText(value.as.enumeration.name, "the name of an enumeration")
            self = .enumeration(number: value.as.enumeration.number, name: name)
        }
    }

    private static func narrowed<Wide: FixedWidthInteger, Narrow: FixedWidthInteger>(
        _ number: Wide, _ kind: ValueKind
    ) throws(Failure) -> Narrow {
        guard let narrow = Narrow(exactly: number) else {
            throw Failure(.range, "\(number) is outside \(Narrow.min)...\(Narrow.max) (\(kind.name))")
        }
        return narrow
    }

    private static func array<Element>(
        _ data: UnsafePointer<Element>?, _ count: UInt64, _ what: String
    ) throws(Failure) -> UnsafeBufferPointer<Element> {
        guard let data else {
            guard count == 0 else { throw Failure(.argument, "\(what): NULL with a length of \(count)") }
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        guard count <= UInt64(Int.max / MemoryLayout<Element>.stride) else {
            throw Failure(.tooLarge, "\(what): a length of \(count) is more than there can be")
        }
        return UnsafeBufferPointer(start: data, count: Int(count))
    }

    private static func text(
        _ data: UnsafePointer<CChar>?, _ length: UInt64, _ what: String
    ) throws(Failure) -> String {
        let bytes = UnsafeRawBufferPointer(try array(data, length, what))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.encoding, "\(what) is not UTF-8")
        }
        return text
    }

    private static func checkDepth(_ depth: Int) throws(Failure) {
        guard depth <= deepest else { throw Failure(.tooLarge, "lists and maps are nested deeper than \(deepest)") }
    }

    private static func items(_ value: invivo_value, depth: Int) throws(Failure) -> [Value] {
        try checkDepth(depth)
        let items = try array(value.as.list.items, value.as.list.count, "a list")
        var result: [Value] = []
        result.reserveCapacity(items.count)
        for item in items { result.append(try Value(borrowing: item, depth: depth)) }
        return result
    }

    private static func pairs(_ value: invivo_value, depth: Int) throws(Failure) -> [(name: String, value: Value)] {
        try checkDepth(depth)
        let pairs = try array(value.as.map.pairs, value.as.map.count, "a map")
        var result: [(name: String, value: Value)] = []
        result.reserveCapacity(pairs.count)
        for pair in pairs {
            let name = try text(pair.name, pair.length, "a name in a map")
            result.append((name, try Value(borrowing: pair.value, depth: depth)))
        }
        return result
    }

    // MARK: Out

    /// A deep copy for C, which owns it: objects and callables in it hold leases. Freed by `free`.
    public func owned() -> invivo_value { cValue(owned: true) }

    /// Frees the contents of an owned value and makes it null.
    public static func free(_ value: inout invivo_value) {
        if value.reserved == ownedMark {
            dispose(value, owned: true)
        } else if value.reserved == sharedMark {
            releaseShared(value)
        }
        value = invivo_null()
    }

    /// Passes borrowed values to a callback for the duration of the call. Only strings, bytes, lists and maps allocate.
    public static func withBorrowed<Result>(
        _ values: [Value], _ body: (UnsafePointer<invivo_value>?, Int) -> Result
    ) -> Result {
        guard !values.isEmpty else { return body(nil, 0) }
        return withUnsafeTemporaryAllocation(of: invivo_value.self, capacity: values.count) { borrowed in
            for (index, value) in values.enumerated() {
                borrowed.initializeElement(at: index, to: value.cValue(owned: false))
            }
            defer { for value in borrowed { dispose(value, owned: false) } }
            return withExtendedLifetime(values) { body(UnsafePointer(borrowed.baseAddress), borrowed.count) }
        }
    }

    private func cValue(owned: Bool) -> invivo_value {
        var value = invivo_null()
        value.kind = kind.rawValue
        value.reserved = owned ? Self.ownedMark : 0
        switch self {
        case .null: break
        case .bool(let boolean): value.as.boolean = boolean
        case .int8(let number): value.as.signed_integer = Int64(number)
        case .int16(let number): value.as.signed_integer = Int64(number)
        case .int32(let number): value.as.signed_integer = Int64(number)
        case .int64(let number): value.as.signed_integer = number
        case .uint8(let number): value.as.unsigned_integer = UInt64(number)
        case .uint16(let number): value.as.unsigned_integer = UInt64(number)
        case .uint32(let number): value.as.unsigned_integer = UInt64(number)
        case .uint64(let number): value.as.unsigned_integer = number
        case .float(let number): value.as.single = number
        case .double(let number): value.as.number = number
        case .string(let text):
            let (data, length) = Self.copy(text)
            value.as.string.data = data
            value.as.string.length = length
        case .bytes(let bytes):
            value.as.bytes.data = Self.table(bytes)
            value.as.bytes.length = UInt64(bytes.count)
        case .list(let items):
            value.as.list.items = Self.table(items.map { $0.cValue(owned: owned) })
            value.as.list.count = UInt64(items.count)
        case .map(let pairs):
            let copies = pairs.map { pair in
                let (name, length) = Self.copy(pair.name)
                return invivo_pair(name: name, length: length, value: pair.value.cValue(owned: owned))
            }
            value.as.map.pairs = Self.table(copies)
            value.as.map.count = UInt64(pairs.count)
        case .object(let lease):
            // The object can be retained while the lease is held. If that failed nevertheless, C would get null instead
            // of a dangling handle.
            if owned, !ObjectLease.addLease(lease.bits) { return invivo_null() }
            value.as.object.bits = lease.bits
        case .type(let type): value.as.type.bits = type.handleBits
        case .callable(let callable):
            if owned { callable.addLease() }
            value.as.callable.bits = callable.handleBits
        case .enumeration(let number, let name):
            value.as.enumeration.number = number
            value.as.enumeration.name = name.map { Self.copy($0).data }
        }
        return value
    }

    /// Frees what `owned` has allocated.
    static func disposeOwned(_ value: invivo_value) { dispose(value, owned: true) }

    /// Frees a value that `cValue` created in the same mode.
    private static func dispose(_ value: invivo_value, owned: Bool) {
        switch ValueKind(rawValue: value.kind) {
        case .string: Glibc.free(UnsafeMutableRawPointer(mutating: value.as.string.data))
        case .bytes: Glibc.free(UnsafeMutableRawPointer(mutating: value.as.bytes.data))
        case .list:
            guard let items = value.as.list.items else { return }
            for item in UnsafeBufferPointer(start: items, count: Int(clamping: value.as.list.count)) {
                dispose(item, owned: owned)
            }
            Glibc.free(UnsafeMutableRawPointer(mutating: items))
        case .map:
            guard let pairs = value.as.map.pairs else { return }
            for pair in UnsafeBufferPointer(start: pairs, count: Int(clamping: value.as.map.count)) {
                Glibc.free(UnsafeMutableRawPointer(mutating: pair.name))
                dispose(pair.value, owned: owned)
            }
            Glibc.free(UnsafeMutableRawPointer(mutating: pairs))
        case .enumeration: Glibc.free(UnsafeMutableRawPointer(mutating: value.as.enumeration.name))
        case .object where owned: ObjectLease.takeLease(value.as.object.bits)
        case .callable where owned: try? Callable.release(value.as.callable.bits)
        default: break
        }
    }

    /// A NUL-terminated copy by malloc, so that C may print it.
    private static func copy(_ text: String) -> (data: UnsafePointer<CChar>, length: UInt64) {
        var text = text
        return text.withUTF8 { utf8 in
            let copy = allocate(utf8.count + 1)
            if let base = utf8.baseAddress { copy.copyMemory(from: base, byteCount: utf8.count) }
            copy.storeBytes(of: 0, toByteOffset: utf8.count, as: UInt8.self)
            return (UnsafePointer(copy.assumingMemoryBound(to: CChar.self)), UInt64(utf8.count))
        }
    }

    private static func table<Element>(_ elements: [Element]) -> UnsafePointer<Element>? {
        guard !elements.isEmpty else { return nil }
        return elements.withUnsafeBytes { bytes in
            let copy = allocate(bytes.count)
            if let base = bytes.baseAddress { copy.copyMemory(from: base, byteCount: bytes.count) }
            return UnsafePointer(copy.bindMemory(to: Element.self, capacity: elements.count))
        }
    }

    /// Swift's own allocations end the process when memory is out; so does this one, at the same point.
    private static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        if let memory = malloc(count) { return memory }
        abort()
    }
}
