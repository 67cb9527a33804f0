/// The runtime of code that received none.
enum CurrentRuntime {
    /// The runtime that `Runtime.with` entered for the running code, or that is creating an object with it.
    @TaskLocal static var entering: WeakCore?
    fileprivate static let chosen = Locked<Runtime?>(nil)

    static var entered: Core? { entering?.core }

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
