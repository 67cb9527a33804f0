internal import CInvivo

extension ChangeSet {
    /// Adds a decorator for the objects of a type, or for one key.
    ///
    /// `wrap` receives each created object and returns its replacement, or the same object to keep it. The commit
    /// rebuilds the affected objects.
    ///
    /// - Parameters:
    ///   - name: The name of the decorator. A later decorator of the same name replaces it; `unprocess` removes it.
    ///   - priority: The order: lower values are applied first, equal ones in the order in which they were added.
    public func decorate<Value>(
        _ name: String, _ type: Value.Type = Value.self, key: String? = nil, priority: Int32 = 0,
        _ wrap: @escaping @Sendable (Value) throws -> Value
    ) throws(InvivoError) {
        let described = try core.type(of: type, isShared: nil)
        let decorator = Decorator(core) { [core] (object: invivo_object) throws -> invivo_object in
            let former = try core.value(of: object, as: Value.self, .component)
            let value = try wrap(former)
            guard let instance = instance(of: value), instance !== identity(of: former) else {
                return invivo_object()
            }
            return try core.lease(of: instance, as: Value.self, isShared: nil)
        }
        try withArena { arena throws(InvivoError) in
            var options = try arena.processor(name, key: key, priority)
            if key == nil {
                options.type = core.table.pointee.type_name(described)
            }
            try give(&options, decorator)
        }
    }

    /// Adds a decorator for objects of any language, selected by the name of their type or of a supertype, by a key, or
    /// for all objects.
    public func decorate(
        _ name: String, ofType type: String?, key: String? = nil, priority: Int32 = 0,
        _ wrap: @escaping @Sendable (Object) throws -> Object
    ) throws(InvivoError) {
        let decorator = Decorator(core) { [core] (object: invivo_object) throws -> invivo_object in
            let former = try Object(holding: object, core, .component)
            let next = try wrap(former)
            return next == former ? invivo_object() : try core.lease(of: next)
        }
        try withArena { arena throws(InvivoError) in
            var options = try arena.processor(name, key: key, priority)
            options.type = try arena.name(type)
            try give(&options, decorator)
        }
    }

    /// Adds a decorator that is a component: the object of `component`, with the created object as its one runtime
    /// argument, replaces that object. With a method, the method is called with the created object and returns the
    /// replacement.
    public func decorate(
        _ name: String, by component: String, method: String? = nil, type: String? = nil, key: String? = nil,
        priority: Int32 = 0
    ) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            var options = try arena.processor(name, key: key, priority)
            options.type = try arena.name(type)
            options.component = try arena.name(component)
            options.method = try arena.name(method)
            try core.call { $0.pointee.changes_process(handle, &options, $1) }
        }
    }

    /// Removes a decorator or another processor by its name.
    public func unprocess(_ name: String) throws(InvivoError) {
        try core.call(naming: name) { $0.pointee.changes_unprocess(handle, $1, $2) }
    }

    private func give(_ options: inout invivo_processor, _ decorator: Decorator) throws(InvivoError) {
        let pointer = Unmanaged.passRetained(decorator)
        options.user_data = pointer.toOpaque()
        options.destroy = { data in if let data { Unmanaged<Decorator>.fromOpaque(data).release() } }
        options.decorate = { object, _, out, data, error in
            guard let data, let out else { return InvivoError.Code.internal.rawValue }
            let decorator = Unmanaged<Decorator>.fromOpaque(data).takeUnretainedValue()
            return answering(decorator.core, error) { out.pointee = try decorator.decorate(object) }
        }
        do throws(InvivoError) {
            try core.call { $0.pointee.changes_process(handle, &options, $1) }
        } catch {
            pointer.release()
            throw error
        }
    }
}

extension Arena {
    /// Adds a processor with the common attributes of all processors.
    func processor(_ name: String, key: String?, _ priority: Int32) throws(InvivoError) -> invivo_processor {
        var options = invivo_processor()
        options.struct_size = MemoryLayout<invivo_processor>.size
        options.name = try self.name(name)
        options.key = try self.name(key)
        options.priority = priority
        return options
    }
}

/// A Swift closure that decorates, as the C side holds it.
private final class Decorator: Sendable {
    let core: Core
    let decorate: @Sendable (invivo_object) throws -> invivo_object

    init(_ core: Core, _ decorate: @escaping @Sendable (invivo_object) throws -> invivo_object) {
        self.core = core
        self.decorate = decorate
    }
}

/// The instance of a former value, to be compared with the next; nil where values have no identity.
private func identity<Value>(of former: Value) -> AnyObject? {
    Swift.type(of: former) is AnyClass ? former as AnyObject : nil
}

extension Runtime {
    /// Adds a decorator, as one reload: see `ChangeSet.decorate`.
    public func decorate<Value>(
        _ name: String, _ type: Value.Type = Value.self, key: String? = nil, priority: Int32 = 0,
        _ wrap: @escaping @Sendable (Value) throws -> Value
    ) throws {
        try changes { try $0.decorate(name, type, key: key, priority: priority, wrap) }
    }

    /// Removes a decorator or another processor, as one reload.
    public func unprocess(_ name: String) throws { try changes { try $0.unprocess(name) } }
}
