internal import CInvivo

/// Registers what belongs to an instance while its setup runs (`ObjectType.setup`).
///
/// It must not be used after the function has returned: the calls then throw.
public struct Setup: Sendable {
    let core: Core

    /// Registers a function that undoes an effect of the setup. It is called exactly once: before the instance is set up again, or
    /// when it ends. If this call throws, it has been called already.
    public func effect(_ undo: @escaping @Sendable () throws -> Void) throws(InvivoError) {
        let box = Unmanaged.passRetained(UndoBox(core, undo)).toOpaque()
        try core.call {
            $0.pointee.effect(
                core.handle,
                { data, error in
                    guard let data else { return InvivoError.Code.internal.rawValue }
                    let box = Unmanaged<UndoBox>.fromOpaque(data).takeRetainedValue()
                    return answering(box.core, error) { try box.undo() }
                }, box, $1)
        }
    }

    /// Creates an instance of a prototype that belongs to the instance. While it is created, `Runtime.former` is the child that it
    /// replaces: the one of the same key and arguments.
    public func child<Value>(_ key: Key<Value>, _ arguments: any InvivoConvertible...) throws(InvivoError) -> Value {
        let values = try arguments.values()
        return try made(values, as: Value.self) { $0.pointee.child(core.handle, key.handle, $1, values.count, &$2, $3) }
    }

    /// The same by the name of the key.
    public func child<Value>(
        _ name: String, as type: Value.Type = Value.self, _ arguments: any InvivoConvertible...
    ) throws(InvivoError) -> Value {
        let values = try arguments.values()
        var key = invivo_key()
        try core.call(naming: name) { $0.pointee.key_find(core.handle, $1, &key, $2) }
        return try made(values, as: type) { $0.pointee.child(core.handle, key, $1, values.count, &$2, $3) }
    }

    /// Creates an instance of a registered type without a definition that belongs to the instance.
    public func child<Value: AnyObject>(
        making type: Value.Type, _ arguments: any InvivoConvertible...
    ) throws(InvivoError) -> Value {
        let values = try arguments.values()
        let handle = try core.type(of: type, isShared: nil)
        return try made(values, as: type) { $0.pointee.child_make(core.handle, handle, $1, values.count, &$2, $3) }
    }

    private func made<Value>(
        _ values: [InvivoValue], as type: Value.Type,
        _ call: (
            UnsafePointer<invivo_table>, UnsafePointer<invivo_value>?, inout invivo_object,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    ) throws(InvivoError) -> Value {
        var object = invivo_object()
        try withArena { arena throws(InvivoError) in
            let table = try InvivoValue.table(values, arena, core)
            try core.call { call($0, table, &object, $1) }
        }
        return try core.value(orNone: object, as: type, .component)
    }
}

/// An undo function, until it is called.
private final class UndoBox: Sendable {
    let core: Core
    let undo: @Sendable () throws -> Void

    init(_ core: Core, _ undo: @escaping @Sendable () throws -> Void) { (self.core, self.undo) = (core, undo) }
}

/// The functions of setup.h of a type.
struct SetupHooks: Sendable {
    typealias Hook = @Sendable (AnyObject) throws -> Void
    var setup: (@Sendable (AnyObject, Setup) throws -> Void)?
    var teardown: Hook?
    var refresh: Hook?
    var finalize: Hook?
    var keepsChildren = false

    /// Whether instances are torn down before they end.
    var isEnded: Bool { setup != nil || teardown != nil }

    func describe(in options: inout invivo_type_options) {
        options.keeps_children = keepsChildren ? 1 : 0
        if setup != nil {
            options.setup = { instance, data, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return 0 }
                return answering(box.core, error) { try box.setupHooks.setup?(object, Setup(core: box.core)) }
            }
        }
        if teardown != nil {
            options.teardown = { TypeBox.run($0, $1, $2) { $0.teardown } }
        }
        if refresh != nil {
            options.refresh = { TypeBox.run($0, $1, $2) { $0.refresh } }
        }
        if finalize != nil {
            options.finalize = { TypeBox.run($0, $1, $2) { $0.finalize } }
        }
    }
}

extension TypeBox {
    /// Runs a hook of the type for an instance.
    static func run(
        _ instance: UnsafeMutableRawPointer?, _ data: UnsafeMutableRawPointer?,
        _ error: UnsafeMutablePointer<OpaquePointer?>?, _ hook: (SetupHooks) -> SetupHooks.Hook?
    ) -> invivo_status {
        guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return 0 }
        return answering(box.core, error) { try hook(box.setupHooks)?(object) }
    }
}
