internal import CInvivo

/// A change set being written: all of it takes effect as one reload, or nothing does. See `Runtime.changes`.
public final class ChangeSet {
    let core: Core
    let handle: invivo_changes
    private var isOpen = true
    /// The recorded actions of assemblies: the inverse runs when the change set fails, the completion when it succeeds.
    private var undo: [() -> Void] = []
    private var finish: [() -> Void] = []
    /// Whether the set adds, removes or changes assemblies.
    private(set) var hasAssemblies = false
    /// The assemblies that were active when the set was opened.
    private let formerAssemblies: [String: ActiveAssembly]
    /// The generation to which the set rolls back.
    private var restored: UInt64?

    init(_ core: Core) throws(InvivoError) {
        var handle = invivo_changes()
        try core.call { $0.pointee.changes_open(core.handle, &handle, $1) }
        self.core = core
        self.handle = handle
        formerAssemblies = core.registry.withLock { $0.assemblies }
    }

    /// Fills a change set that the caller commits. The caller then calls `complete` or `rollBack`.
    init(borrowing handle: invivo_changes, _ core: Core) {
        self.core = core
        self.handle = handle
        formerAssemblies = core.registry.withLock { $0.assemblies }
        isOpen = false
    }

    deinit {
        guard isOpen else { return }
        core.table.pointee.changes_discard(handle)
        rollBack()
    }

    /// The set has failed.
    func rollBack() {
        for step in undo.reversed() { step() }
        (undo, finish) = ([], [])
    }

    func commit() throws(InvivoError) {
        isOpen = false
        let generation = hasAssemblies ? core.generation : 0
        do throws(InvivoError) { try core.call { $0.pointee.changes_commit(handle, $1) } } catch {
            rollBack()
            throw error
        }
        if hasAssemblies { core.note(formerAssemblies, in: generation) }
        complete()
        if let restored { core.restoreAssemblies(of: restored) }
    }

    /// Submits the set without waiting. Observers receive the outcome.
    func submit() throws(InvivoError) {
        guard !hasAssemblies else {
            throw InvivoError(
                .unsupported,
                "assemblies come and go in a change set that is waited for: their properties are factories when it has "
                    + "succeeded. Say `changes` in the place of `submit`, outside of callbacks")
        }
        isOpen = false
        try core.call { $0.pointee.changes_submit(handle, $1) }
    }

    /// Discards a set without changes.
    func end() {
        isOpen = false
        core.table.pointee.changes_discard(handle)
        complete()
    }

    /// The set has succeeded.
    func complete() {
        for step in finish { step() }
        (undo, finish) = ([], [])
    }

    /// Records the actions of assemblies in the change set.
    func stage(isAny: Bool, undo: [() -> Void], finish: [() -> Void]) {
        hasAssemblies = hasAssemblies || isAny
        self.undo += undo
        self.finish += finish
    }

    /// Checks the set so far. Throws all errors at once, each with its rule and its dependents. Creates no object and runs
    /// no initializer or factory.
    public func check() throws(InvivoError) { try core.call { $0.pointee.changes_check(handle, $1) } }

    /// Makes the set depend on the generation that it was written for (`Runtime.generation`).
    ///
    /// If another generation is current when its reload begins, the set is refused: `.stale`. A submitted set that expects a
    /// generation is a reload of its own. The last call wins.
    public func expect(generation: UInt64) throws(InvivoError) {
        try core.call { $0.pointee.changes_expect(handle, generation, $1) }
    }

    /// Makes the set roll back to a kept generation (`Runtime.rollBack`). It changes nothing else then. For `submit`, which does not
    /// wait, and for `check`.
    public func rollBack(to generation: UInt64) throws(InvivoError) {
        try core.call { $0.pointee.changes_rollback(handle, generation, $1) }
        restored = generation
    }

    /// Defines a key by a described Swift class, which declares its initializer.
    @discardableResult
    public func define<Instance>(
        _ key: String, _ type: ObjectType<Instance>, scope: Scope = .lazySingleton, initializer: Injections = [:],
        properties: Injections = [:]
    ) throws(InvivoError) -> Key<Instance> {
        let type = try core.described(type)
        return try define(key, type, Draft(type, scope, initializer: initializer, properties: properties))
    }

    /// Defines a key by the name of a type that any language or module has registered.
    @discardableResult
    public func define(
        _ key: String, type: String, scope: Scope = .lazySingleton, initializer: Injections = [:],
        properties: Injections = [:]
    ) throws(InvivoError) -> Key<Object> {
        var handle = invivo_type()
        try core.call(naming: type) { $0.pointee.type_find(core.handle, $1, &handle, $2) }
        return try define(key, handle, Draft(handle, scope, initializer: initializer, properties: properties))
    }

    /// Defines a key by a closure that creates a value for any thread.
    @discardableResult
    public func define<Value: Sendable>(
        _ key: String, scope: Scope = .lazySingleton, properties: Injections = [:],
        make: @escaping @Sendable (Resolver) throws -> Value
    ) throws(InvivoError) -> Key<Value> {
        try define(key, scope, isShared: true, properties, make)
    }

    /// Defines a key by a closure that creates a value for the thread that opened the runtime; a prototype belongs to
    /// the thread that resolves it.
    @discardableResult
    public func define<Value>(
        _ key: String, scope: Scope = .lazySingleton, properties: Injections = [:],
        confined make: @escaping @Sendable (Resolver) throws -> Value
    ) throws(InvivoError) -> Key<Value> {
        try define(key, scope, isShared: false, properties, make)
    }

    /// Defines a key that is nothing but a block.
    @discardableResult
    public func define<Content>(_ block: Block<Content>) throws(InvivoError) -> BlockKey<Content> {
        let type = try core.blockType(block)
        let image = block.layout.image
        var draft = Draft(type, .lazySingleton, initializer: [:], properties: [:])
        draft.more.append { definition, arena, _ in
            definition.block_initial = UnsafeRawPointer(arena.table(image))
        }
        return BlockKey(try define(block.key, draft), type: type.bits, initial: block.layout.initial, name: block.key)
    }

    /// Makes a key another name of `other`.
    public func alias(_ key: String, of other: String) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            var definition = invivo_definition()
            definition.struct_size = MemoryLayout<invivo_definition>.size
            definition.key = try arena.name(key)
            definition.alias = try arena.name(other)
            try core.call { $0.pointee.changes_define(handle, &definition, nil, $1) }
        }
    }

    /// Removes a definition.
    public func remove(_ key: String) throws(InvivoError) {
        try core.call(naming: key) { $0.pointee.changes_remove(handle, $1, $2) }
    }

    /// Sets the base value of a tunable property of a key's definition. Layers of documents stay on top of it.
    public func set(_ key: String, _ property: String, _ value: some InvivoConvertible) throws(InvivoError) {
        let value = try value.asInvivo()
        try withArena { arena throws(InvivoError) in
            var value = try value.borrowed(arena, core)
            let property = try arena.name(property)
            try core.call(naming: key) { $0.pointee.changes_set(handle, $1, property, &value, $2) }
        }
    }

    /// Adds or replaces a document in memory; nil removes it.
    public func document(_ name: String, _ text: String?) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            let (data, length) = try arena.document(text)
            try core.call(naming: name) { $0.pointee.changes_document(handle, $1, data, length, $2) }
        }
    }

    /// Defines a key by a draft.
    @discardableResult
    func define(_ key: String, _ draft: Draft) throws(InvivoError) -> invivo_key {
        var describer = Describer(core, .changes(self), nil)
        describer.define(key, draft)
        if let error = InvivoError(all: describer.problems) { throw error }
        var handle = invivo_key()
        try core.call(naming: key) { $0.pointee.key_intern(core.handle, $1, &handle, $2) }
        return handle
    }

    private func define<Value>(
        _ key: String, _ type: invivo_type, _ draft: Draft
    ) throws(InvivoError) -> Key<Value> {
        core.key(try define(key, draft), key, type: type.bits)
    }

    private func define<Value>(
        _ key: String, _ scope: Scope, isShared: Bool, _ properties: Injections,
        _ make: @escaping @Sendable (Resolver) throws -> Value
    ) throws(InvivoError) -> Key<Value> {
        let making = Draft.Making.factory([]) { resolver, _ in try instance(of: make(resolver)) }
        var draft = Draft(Value.self, scope, isShared: isShared, making, "", 0)
        draft.steps = properties.map { Draft.Step(name: $0.key, action: .property, injections: [$0.value]) }
        return try define(key, try core.type(of: draft.value, isShared: isShared), draft)
    }
}

extension Arena {
    /// The text of a document; no text is NULL, an empty one is not.
    func document(_ text: String?) throws(InvivoError) -> (UnsafePointer<CChar>?, UInt64) {
        guard let text else { return (nil, 0) }
        let (data, length) = data(text)
        return (data ?? UnsafePointer(memory(1, of: CChar.self)), length)
    }
}
