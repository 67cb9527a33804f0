internal import CInvivo

/// A live instance of any language, held by one lease. It stays alive until the last holder releases it.
///
/// May be passed between threads. An object of a confined type fails with `InvivoError.Code.domain` outside its thread.
public final class Object: Sendable {
    let core: Core
    let handle: invivo_object
    private let holder: Holder

    /// The holder of the object: the program, which must release it before the runtime closes, or a component that
    /// received it, which releases it when it is disposed of.
    enum Holder { case program, component }

    /// Takes over one lease.
    init(taking handle: invivo_object, _ core: Core, _ holder: Holder = .program) {
        self.core = core
        self.handle = handle
        self.holder = holder
        core.count(holder, 1)
    }

    /// Creates an object with a new lease.
    convenience init(holding handle: invivo_object, _ core: Core, _ holder: Holder = .program) throws(InvivoError) {
        let status = core.table.pointee.object_retain(handle)
        guard status == 0 else { throw InvivoError(taking: nil, status: status, table: core.table) }
        self.init(taking: handle, core, holder)
    }

    deinit {
        core.count(holder, -1)
        _ = core.table.pointee.object_release(handle)
    }

    /// Throws if it belongs to another runtime.
    func require(in core: Core) throws(InvivoError) {
        guard self.core === core else {
            throw InvivoError(
                .handle, "the object belongs to another runtime: use that runtime")
        }
    }

    /// Reads a property.
    public func get<Value: InvivoConvertible>(
        _ property: String, as type: Value.Type = Value.self
    ) throws(InvivoError) -> Value {
        var value = invivo_null()
        try core.call(naming: property) { $0.pointee.object_get(handle, $1, &value, $2) }
        return try InvivoValue(taking: &value, core).get(type)
    }

    /// Writes a property. The value is checked and converted; a change of a block property is a separate reload.
    public func set(_ property: String, _ value: some InvivoConvertible) throws(InvivoError) {
        let value = try value.asInvivo()
        try withArena { arena throws(InvivoError) in
            var value = try value.borrowed(arena, core)
            try core.call(naming: property) { $0.pointee.object_set(handle, $1, &value, $2) }
        }
    }

    /// Calls a method.
    @discardableResult
    public func call(_ method: String, _ arguments: any InvivoConvertible...) throws(InvivoError) -> InvivoValue {
        try call(method, with: arguments)
    }

    /// Calls a method with arguments that are in an array.
    @discardableResult
    public func call(_ method: String, with arguments: [any InvivoConvertible]) throws(InvivoError) -> InvivoValue {
        var result = invivo_null()
        try withArena { arena throws(InvivoError) in
            let values = try InvivoValue.table(try arguments.values(), arena, core)
            try core.call(naming: method) { $0.pointee.object_call(handle, $1, values, arguments.count, &result, $2) }
        }
        return try InvivoValue(taking: &result, core)
    }

    /// The identical Swift instance behind the object. Fails when it is not an instance of one of this program's Swift
    /// classes.
    public func instance<Instance>(as type: Instance.Type = Instance.self) throws(InvivoError) -> Instance {
        let instance = try core.value(of: handle, as: type)
        if type is AnyClass, !(instance is Object) { core.know(instance as AnyObject, as: handle) }
        return instance
    }

    /// The type under which it is registered.
    public var type: TypeReference {
        get throws(InvivoError) {
            var type = invivo_type()
            try core.call { $0.pointee.object_type(handle, &type, $1) }
            return TypeReference(core, type)
        }
    }

    /// The name of the key for which it was created; nil if it was created without a definition.
    public var key: String? {
        get throws(InvivoError) {
            var key = invivo_key()
            try core.call { $0.pointee.object_key(handle, &key, $1) }
            return key.bits == 0 ? nil : core.table.pointee.key_name(key).map { String(cString: $0) }
        }
    }
}

/// Equal when it is the same object of the same runtime.
extension Object: Hashable {
    public static func == (left: Object, right: Object) -> Bool {
        left.handle.bits == right.handle.bits && left.core === right.core
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(handle.bits) }
}

extension Object: CustomStringConvertible {
    public var description: String {
        let name = (try? type.name) ?? "object"
        return (try? key).flatMap { $0 }.map { "\(name) \($0)" } ?? name
    }
}

extension Object: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.object) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Self {
        guard case .object(let object) = value, let object = object as? Self else { throw value.mismatch("an object") }
        return object
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .object(self) }
}

extension Array where Element == any InvivoConvertible {
    func values() throws(InvivoError) -> [InvivoValue] {
        var values: [InvivoValue] = []
        values.reserveCapacity(count)
        for element in self { values.append(try element.asInvivo()) }
        return values
    }
}
