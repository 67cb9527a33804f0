internal import CInvivo

/// The life cycle state of a key's shared instances. See `Runtime.states`.
public struct KeyState: Sendable, Hashable {
    /// The key, `assembly.name`.
    public let key: String
    public let state: State
    /// The number of instances.
    public let objects: Int
    /// The missing dependencies of a blocked definition: keys, names of types, and paths of the configuration as
    /// `config.path`.
    public let waits: [String]
    /// The error of the last attempt to create or start an instance; empty without one.
    public let error: String

    public enum State: String, Sendable {
        /// Not built yet.
        case cold
        case building
        /// Created, and not started if its type is started.
        case made
        case prepared, starting, started, stopping, stopped
        /// The last attempt to create or start it failed.
        case failed
        /// Blocked on a missing dependency.
        case dormant
    }
}

/// An object that a reload has replaced or removed and that has not been stopped. See `Runtime.retired`.
public struct RetiredObject: Sendable, Hashable {
    /// The key for which it was created; empty if there is none.
    public let key: String
    /// The name of its type.
    public let type: String
    public let reason: Reason
    /// The number of leases on it, with those of the objects that it was injected into.
    public let leases: Int
    /// The time since it was replaced or removed.
    public let age: Duration
    /// The time during which only references of its own language have been left.
    public let idle: Duration

    /// Why it has not been stopped.
    public enum Reason: String, Sendable {
        /// A view reads its generation.
        case read
        /// There are leases on it, or objects that use it have not ended.
        case leased
        /// At most its own language refers to it.
        case referenced
    }
}

extension Runtime {
    /// The objects that reloads have replaced or removed and that have not been stopped, in order of creation.
    public var retired: [RetiredObject] {
        get throws(InvivoError) {
            var raw = invivo_value()
            try core.call { $0.pointee.runtime_retired(core.handle, &raw, $1) }
            guard case .list(let entries) = try InvivoValue(taking: &raw, core) else { return [] }
            return entries.compactMap { entry in
                guard case .map(let fields) = entry else { return nil }
                func text(_ name: String) -> String { if case .string(let text)? = fields[name] { text } else { "" } }
                func number(_ name: String) -> UInt64 {
                    if case .uint64(let number)? = fields[name] { number } else { 0 }
                }
                return RetiredObject(
                    key: text("key"), type: text("type"),
                    reason: RetiredObject.Reason(rawValue: text("reason")) ?? .referenced,
                    leases: Int(clamping: number("leases")),
                    age: .nanoseconds(Int64(clamping: number("retired_ns"))),
                    idle: .nanoseconds(Int64(clamping: number("idle_ns"))))
            }
        }
    }

    /// The states of all keys with shared instances and of all blocked keys, sorted by key.
    public var states: [KeyState] {
        get throws(InvivoError) {
            var raw = invivo_value()
            try core.call { $0.pointee.runtime_states(core.handle, &raw, $1) }
            let value = try InvivoValue(taking: &raw, core)
            guard case .list(let entries) = value else { return [] }
            return entries.compactMap { entry in
                guard case .map(let fields) = entry else { return nil }
                func text(_ name: String) -> String { if case .string(let text)? = fields[name] { text } else { "" } }
                var waits: [String] = []
                if case .list(let names)? = fields["waits"] {
                    for case .string(let name) in names { waits.append(name) }
                }
                let objects: UInt64 = if case .uint64(let objects)? = fields["objects"] { objects } else { 0 }
                return KeyState(
                    key: text("key"), state: KeyState.State(rawValue: text("name")) ?? .cold,
                    objects: Int(clamping: objects), waits: waits, error: text("error"))
            }
        }
    }

    /// Starts a key's shared instance again after `stop`, and builds it if necessary. A started instance is left
    /// unchanged.
    public func start<Value>(_ key: Key<Value>) throws(InvivoError) {
        try core.call { $0.pointee.start(core.handle, key.handle, $1) }
    }

    /// Stops a key's shared instance, which remains the instance of the key. One that is not started is left unchanged.
    public func stop<Value>(_ key: Key<Value>) throws(InvivoError) {
        try core.call { $0.pointee.stop(core.handle, key.handle, $1) }
    }

    /// Drops the shared instances of a key, as a reload. Dependents are updated; a new instance is created on demand.
    ///
    /// - Parameter dependencies: Also drops the instances of all its dependencies.
    public func reset(_ key: String, dependencies: Bool = false) throws(InvivoError) {
        let changes = try ChangeSet(core)
        try changes.reset(key, dependencies: dependencies)
        try changes.commit()
    }

    /// Drops all instances of a scope, as a reload. The cost depends on the number of instances, not of definitions.
    public func reset(_ scope: Scope) throws(InvivoError) {
        let changes = try ChangeSet(core)
        try changes.reset(scope)
        try changes.commit()
    }
}

extension ChangeSet {
    /// Drops the shared instances of a key, with `dependencies` also those of all its dependencies.
    public func reset(_ key: String, dependencies: Bool = false) throws(InvivoError) {
        try core.call(naming: key) {
            $0.pointee.changes_reset(handle, $1, dependencies ? UInt32(INVIVO_RESET_DEPENDENCIES) : 0, $2)
        }
    }

    /// Drops all instances of a scope.
    public func reset(_ scope: Scope) throws(InvivoError) {
        try core.call { $0.pointee.changes_reset_scope(handle, scope.code, $1) }
    }
}
