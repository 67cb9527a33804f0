internal import CInvivo

/// A temporary replacement of a key's definition or object, for tests and trials.
///
/// It stays until `end`, or until the runtime is closed. Dropping the last reference does not end it: keep it and call
/// `end`, or use `overriding`, which ends it automatically.
public final class Override: Sendable {
    private let core: Core
    private let handle: Locked<invivo_override?>
    /// The overridden key.
    public let key: String

    fileprivate init(_ core: Core, _ key: String, _ draft: Draft, _ home: Assembly?) throws(InvivoError) {
        var handle = invivo_override()
        var describer = Describer(core, .override, home.map { Resolver.Home($0) })
        try withArena { arena throws(InvivoError) in
            try describer.described(key, draft, arena) { definition, _ throws(InvivoError) in
                try core.call { $0.pointee.override_begin(core.handle, &definition, &handle, $1) }
            }
        }
        self.core = core
        self.key = key
        self.handle = Locked(handle)
    }

    /// Ends the override. Overrides end in any order, and a second call is a no-op. If the call fails, the override
    /// stays and can be ended again.
    public func end() throws(InvivoError) {
        let open = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let open else { return }
        do {
            try core.call { $0.pointee.override_end(open, $1) }
        } catch {
            handle.withLock { $0 = open }
            throw error
        }
    }
}

extension Runtime {
    /// Overrides a definition by another one, as a reload. The key keeps its scope, visibility and rank; its dependents
    /// are updated. For an alias or a choice, the scope is that of the other definition. Overrides of one key stack: the last one wins.
    public func override<Value, each Argument>(
        _ definition: Definition<Value, repeat each Argument>, with other: Definition<Value, repeat each Argument>
    ) throws(InvivoError) -> Override {
        try override(definition as AnyDefinition, other.draft)
    }

    /// Overrides the object of a definition.
    public func override<Value, each Argument>(
        _ definition: Definition<Value, repeat each Argument>, with value: Value
    ) throws(InvivoError) -> Override {
        try override(definition as AnyDefinition, try Draft(instead: value))
    }

    /// Overrides the object of a key.
    public func override<Value>(_ key: String, with value: Value) throws(InvivoError) -> Override {
        try Override(core, key, try Draft(instead: value), nil)
    }

    /// Overrides the definition of a key, as a reload.
    public func override<Value, each Argument>(
        _ key: String, with other: Definition<Value, repeat each Argument>
    ) throws(InvivoError) -> Override {
        try Override(core, key, other.draft, nil)
    }

    /// Runs `body` while a definition is overridden by another one, and removes the override afterwards, also when
    /// `body` throws.
    public func overriding<Value, each Argument, Result>(
        _ definition: Definition<Value, repeat each Argument>, with other: Definition<Value, repeat each Argument>,
        _ body: () throws -> Result
    ) throws -> Result {
        try during(try override(definition, with: other), body)
    }

    /// Runs `body` while the object of a definition is overridden, and removes the override afterwards, also when
    /// `body` throws.
    public func overriding<Value, each Argument, Result>(
        _ definition: Definition<Value, repeat each Argument>, with value: Value, _ body: () throws -> Result
    ) throws -> Result {
        try during(try override(definition, with: value), body)
    }

    /// Runs `body` while the object of a key is overridden, and removes the override afterwards, also when `body`
    /// throws.
    public func overriding<Value, Result>(
        _ key: String, with value: Value, _ body: () throws -> Result
    ) throws -> Result {
        try during(try override(key, with: value), body)
    }

    /// Runs an asynchronous `body` while the object of a definition is overridden, and removes the override afterwards,
    /// also when `body` throws.
    public func overriding<Value, each Argument, Result>(
        isolation: isolated (any Actor)? = #isolation, _ definition: Definition<Value, repeat each Argument>,
        with value: Value, _ body: () async throws -> Result
    ) async throws -> Result {
        let override = try override(definition, with: value)
        do {
            let result = try await body()
            try override.end()
            return result
        } catch {
            try? override.end()
            throw error
        }
    }

    private func override(_ definition: AnyDefinition, _ draft: Draft) throws(InvivoError) -> Override {
        _ = try definition.standing()
        guard let place = definition.place, place.core === core else { throw definition.notActive() }
        let assembly = core.registry.withLock { registry in
            registry.assemblies.values.first { $0.members.values.contains { $0.name == place.name } }?.assembly
        }
        return try Override(core, place.name, draft, assembly)
    }

    private func during<Result>(_ override: Override, _ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            try override.end()
            return result
        } catch {
            // The error of the body is the one to report.
            try? override.end()
            throw error
        }
    }
}

extension Draft {
    fileprivate init<Value>(instead value: Value) throws(InvivoError) {
        guard let instance = instance(of: value) else {
            throw InvivoError(.null, "nil cannot replace the object of a definition")
        }
        self.init(Value.self, nil, isShared: nil, .constant(instance), "", 0)
    }
}
