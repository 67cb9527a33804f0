internal import CInvivo

/// The runtime of code that received none.
enum CurrentRuntime {
    /// The runtime that `Runtime.with` entered for the running code, or that is creating an object with it.
    @TaskLocal static var entering: WeakCore?
    fileprivate static let chosen = Locked<Runtime?>(nil)

    static var entered: Core? { entering?.core }

    /// Runs a factory of `core` with this as the current runtime, and with the object that the new one replaces.
    static func creating<Result>(
        _ core: Core, _ build: UnsafePointer<invivo_build>?, _ body: () throws -> Result
    ) rethrows -> Result {
        try $entering.withValue(WeakCore(core: core, former: former(build)), operation: body)
    }

    /// Does the same for code that has no current runtime otherwise.
    static func replacing<Result>(
        _ core: Core, _ build: UnsafePointer<invivo_build>?, _ body: () throws -> Result
    ) rethrows -> Result {
        guard build?.pointee.former_instance != nil || entering?.former != nil else { return try body() }
        return try creating(core, build, body)
    }

    /// The former object has the type of the new one, which is a type of this package.
    private static func former(_ build: UnsafePointer<invivo_build>?) -> AnyObject? {
        build?.pointee.former_instance.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The one that was entered, or the process's default.
    static var core: Core? { entered ?? chosen.withLock { $0?.core } }

    /// The given runtime, if it fills injected properties.
    static func filling(_ core: Core?) -> Core? {
        core?.fillsInjected.load(ordering: .relaxed) == true ? core : nil
    }
}

/// A runtime that is not kept.
struct WeakCore: @unchecked Sendable {
    weak var core: Core?
    /// Of the object under construction: the object that it replaces.
    var former: AnyObject?
}

extension Runtime {
    /// Returns the object that the one under construction replaces: for an initializer, a factory, or a closure that injects.
    ///
    ///     init(step: Int) {
    ///         self.step = step
    ///         count = Runtime.former(Counter.self)?.count ?? 0
    ///     }
    ///
    /// It has the same key, runtime arguments and scope instance. Nil at first creation, for another type, outside of a
    /// construction, and for objects that are not shared.
    ///
    /// It is for copying, and must not be changed: the replacement can still fail, and then the former object stays. It
    /// is in use meanwhile, so what it collects after the call is lost. State that must not be lost belongs to an object
    /// of its own, or the definition is exclusive: its former object is stopped before.
    public static func former<Value>(_ type: Value.Type = Value.self) -> Value? {
        CurrentRuntime.entering?.former.flatMap { unboxed($0) as? Value }
    }
}

extension Runtime {
    /// The runtime for `@Injected` properties of objects that no runtime has created, if no runtime is entered. Nil by
    /// default. It is retained until it is replaced.
    public static var `default`: Runtime? {
        get { CurrentRuntime.chosen.withLock { $0 } }
        set {
            // The former default runtime may close when it is released, so it is released without the lock.
            let former = CurrentRuntime.chosen.withLock { chosen in
                let former = chosen
                chosen = newValue
                return former
            }
            withExtendedLifetime(former) {}
        }
    }

    /// Runs `body` with this as the current runtime.
    public func with<Result>(_ body: () throws -> Result) rethrows -> Result {
        try CurrentRuntime.$entering.withValue(WeakCore(core: core), operation: body)
    }

    /// Runs `body` with this as the current runtime, in it and in the tasks that it starts.
    public func with<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await CurrentRuntime.$entering.withValue(WeakCore(core: core), operation: body, isolation: isolation)
    }
}
