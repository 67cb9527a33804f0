internal import CInvivo

extension Runtime {
    /// Describes changes, then commits them as one reload. If it fails, nothing changes, and the error contains all
    /// errors.
    @discardableResult
    public func changes<Result>(_ describe: (ChangeSet) throws -> Result) throws -> Result {
        let changes = try ChangeSet(core)
        let result = try describe(changes)
        try changes.commit()
        return result
    }

    /// Describes changes, then passes them to the scheduler without waiting. For observers, hooks, factories and other
    /// callbacks, where `changes` is refused because it would wait for itself. Any thread may call it.
    ///
    /// Throws the errors of the description only. Observers receive the outcome; a failure is also logged and stored as
    /// `lastError`. Change sets that are pending at the same time become one reload, in which the last definition of a
    /// key wins. A change set that activates, mounts or removes assemblies is refused: `.unsupported`.
    @discardableResult
    public func submit<Result>(_ describe: (ChangeSet) throws -> Result) throws -> Result {
        let changes = try ChangeSet(core)
        let result = try describe(changes)
        try changes.submit()
        return result
    }

    private func change<Result>(_ describe: (ChangeSet) throws(InvivoError) -> Result) throws(InvivoError) -> Result {
        let changes = try ChangeSet(core)
        let result = try describe(changes)
        try changes.commit()
        return result
    }

    /// Registers a description, so that documents and other languages find the type by its name.
    @discardableResult
    public func register<Instance>(_ type: ObjectType<Instance>) throws(InvivoError) -> TypeReference {
        TypeReference(core, try core.described(type))
    }

    /// A registered type by its name.
    public func type(_ name: String) throws(InvivoError) -> TypeReference {
        var type = invivo_type()
        try core.call(naming: name) { $0.pointee.type_find(core.handle, $1, &type, $2) }
        return TypeReference(core, type)
    }

    /// Defines a key by a described Swift class, which declares its initializer.
    @discardableResult
    public func define<Instance>(
        _ key: String, _ type: ObjectType<Instance>, scope: Scope = .lazySingleton, initializer: Injections = [:],
        properties: Injections = [:]
    ) throws(InvivoError) -> Key<Instance> {
        try change { changes throws(InvivoError) in
            try changes.define(key, type, scope: scope, initializer: initializer, properties: properties)
        }
    }

    /// Defines a key by the name of a type that any language or module has registered.
    @discardableResult
    public func define(
        _ key: String, type: String, scope: Scope = .lazySingleton, initializer: Injections = [:],
        properties: Injections = [:]
    ) throws(InvivoError) -> Key<Object> {
        try change { changes throws(InvivoError) in
            try changes.define(key, type: type, scope: scope, initializer: initializer, properties: properties)
        }
    }

    /// Defines a key by a closure that creates a value for any thread.
    @discardableResult
    public func define<Value: Sendable>(
        _ key: String, scope: Scope = .lazySingleton, properties: Injections = [:],
        make: @escaping @Sendable (Resolver) throws -> Value
    ) throws(InvivoError) -> Key<Value> {
        try change { changes throws(InvivoError) in
            try changes.define(key, scope: scope, properties: properties, make: make)
        }
    }

    /// Defines a key by a closure that creates a value for the thread that opened the runtime; a prototype belongs to
    /// the thread that resolves it.
    @discardableResult
    public func define<Value>(
        _ key: String, scope: Scope = .lazySingleton, properties: Injections = [:],
        confined make: @escaping @Sendable (Resolver) throws -> Value
    ) throws(InvivoError) -> Key<Value> {
        try change { changes throws(InvivoError) in
            try changes.define(key, scope: scope, properties: properties, confined: make)
        }
    }

    /// Defines a key that is nothing but a block.
    @discardableResult
    public func define<Content>(_ block: Block<Content>) throws(InvivoError) -> BlockKey<Content> {
        try change { changes throws(InvivoError) in try changes.define(block) }
    }

    /// Removes a definition.
    public func remove(_ key: String) throws(InvivoError) {
        try change { changes throws(InvivoError) in try changes.remove(key) }
    }
}
