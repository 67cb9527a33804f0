internal import CInvivo

extension InvivoValue {
    /// Reads a value of the C side, which stays the caller's. Objects and callables in it are held from now on.
    init(reading value: invivo_value, _ core: Core, _ holder: Object.Holder = .program) throws(InvivoError) {
        switch InvivoKind(rawValue: value.kind) {
        case .null: self = .null
        case .bool: self = .bool(value.as.boolean)
        case .int8: self = .int8(Int8(truncatingIfNeeded: value.as.signed_integer))
        case .int16: self = .int16(Int16(truncatingIfNeeded: value.as.signed_integer))
        case .int32: self = .int32(Int32(truncatingIfNeeded: value.as.signed_integer))
        case .int64: self = .int64(value.as.signed_integer)
        case .uint8: self = .uint8(UInt8(truncatingIfNeeded: value.as.unsigned_integer))
        case .uint16: self = .uint16(UInt16(truncatingIfNeeded: value.as.unsigned_integer))
        case .uint32: self = .uint32(UInt32(truncatingIfNeeded: value.as.unsigned_integer))
        case .uint64: self = .uint64(value.as.unsigned_integer)
        case .float: self = .float(value.as.single)
        case .double: self = .double(value.as.number)
        case .string: self = .string(try Self.text(value.as.string.data, value.as.string.length))
        case .bytes:
            self = .bytes(Array(UnsafeBufferPointer(start: value.as.bytes.data, count: Int(value.as.bytes.length))))
        case .list: self = .list(try Self.array(value.as.list.items, Int(value.as.list.count), core, holder))
        case .map: self = .map(try Self.dictionary(value.as.map.pairs, Int(value.as.map.count), core, holder))
        case .object: self = .object(try Object(holding: value.as.object, core, holder))
        case .type: self = .type(TypeReference(core, value.as.type))
        case .callable: self = .callable(try Callable.known(value.as.callable, core))
        case .enumeration:
            self = .enumeration(
                number: value.as.enumeration.number, name: value.as.enumeration.name.map { String(cString: $0) })
        case .any, nil:
            throw InvivoError(
                .type, "a value of the unknown kind \(value.kind); the library is newer than this package")
        }
    }

    /// Takes ownership of a value that a call has returned.
    init(taking value: inout invivo_value, _ core: Core) throws(InvivoError) {
        defer { core.table.pointee.value_clear(&value) }
        try self.init(reading: value, core)
    }

    static func array(
        _ items: UnsafePointer<invivo_value>?, _ count: Int, _ core: Core, _ holder: Object.Holder
    ) throws(InvivoError) -> [InvivoValue] {
        var values: [InvivoValue] = []
        values.reserveCapacity(count)
        for item in UnsafeBufferPointer(start: items, count: count) {
            values.append(try InvivoValue(reading: item, core, holder))
        }
        return values
    }

    static func dictionary(
        _ pairs: UnsafePointer<invivo_pair>?, _ count: Int, _ core: Core, _ holder: Object.Holder
    ) throws(InvivoError) -> [String: InvivoValue] {
        var values: [String: InvivoValue] = [:]
        for pair in UnsafeBufferPointer(start: pairs, count: count) {
            values[try text(pair.name, pair.length)] = try InvivoValue(reading: pair.value, core, holder)
        }
        return values
    }

    static func text(_ data: UnsafePointer<CChar>?, _ length: UInt64) throws(InvivoError) -> String {
        guard let text = String(validating: UnsafeBufferPointer(start: data, count: Int(length)), as: UTF8.self) else {
            throw InvivoError(.encoding, "a text of \(length) bytes is not UTF-8; pass other data as bytes")
        }
        return text
    }

    /// The value for the C side, borrowed from the arena.
    func borrowed(_ arena: Arena, _ core: Core) throws(InvivoError) -> invivo_value {
        switch self {
        case .null: return invivo_null()
        case .bool(let value): return invivo_bool(value)
        case .int8(let value): return .integer(.int8, Int64(value))
        case .int16(let value): return .integer(.int16, Int64(value))
        case .int32(let value): return .integer(.int32, Int64(value))
        case .int64(let value): return .integer(.int64, value)
        case .uint8(let value): return .unsigned(.uint8, UInt64(value))
        case .uint16(let value): return .unsigned(.uint16, UInt64(value))
        case .uint32(let value): return .unsigned(.uint32, UInt64(value))
        case .uint64(let value): return .unsigned(.uint64, value)
        case .float(let value): return invivo_float(value)
        case .double(let value): return invivo_double(value)
        case .string(let value):
            let (data, length) = arena.data(value)
            return invivo_string_n(data, length)
        case .bytes(let value): return invivo_bytes(arena.table(value), UInt64(value.count))
        case .list(let values):
            return invivo_list(try Self.table(values, arena, core), UInt64(values.count))
        case .map(let values):
            let pairs = arena.memory(values.count, of: invivo_pair.self)
            for (index, (name, value)) in values.enumerated() {
                let (data, length) = arena.data(name)
                pairs?[index] = invivo_pair(name: data, length: length, value: try value.borrowed(arena, core))
            }
            return invivo_map(pairs, UInt64(values.count))
        case .object(let object):
            try object.require(in: core)
            return invivo_object_value(object.handle)
        case .instance(let instance):
            let handle = try core.lease(of: instance, isDescribed: false)
            arena.atEnd { _ = core.table.pointee.object_release(handle) }
            return invivo_object_value(handle)
        case .type(let type): return invivo_type_value(type.handle)
        case .callable(let callable): return invivo_callable_value(try callable.borrowed(arena, core))
        case .enumeration(let number, let name):
            var value = invivo_null()
            value.kind = InvivoKind.enumeration.rawValue
            value.as.enumeration.number = number
            value.as.enumeration.name = try arena.name(name)
            return value
        }
    }

    static func table(
        _ values: [InvivoValue], _ arena: Arena, _ core: Core
    ) throws(InvivoError) -> UnsafeMutablePointer<invivo_value>? {
        let items = arena.memory(values.count, of: invivo_value.self)
        for (index, value) in values.enumerated() { items?[index] = try value.borrowed(arena, core) }
        return items
    }

    /// Stores the value in an out parameter. The receiver owns it.
    func answered(_ out: UnsafeMutablePointer<invivo_value>?, _ core: Core) throws(InvivoError) {
        guard let out else { return }
        try withArena { arena throws(InvivoError) in
            var value = try borrowed(arena, core)
            try core.call { $0.pointee.value_copy(out, &value, $1) }
        }
    }
}

extension invivo_value {
    fileprivate static func integer(_ kind: InvivoKind, _ number: Int64) -> invivo_value {
        var value = invivo_int64(number)
        value.kind = kind.rawValue
        return value
    }

    fileprivate static func unsigned(_ kind: InvivoKind, _ number: UInt64) -> invivo_value {
        var value = invivo_uint64(number)
        value.kind = kind.rawValue
        return value
    }
}
