internal import CInvivo

/// A context that the running code has entered, or in which it lives. Child tasks, and tasks that it starts with `Task { }`, inherit
/// it.
final class EnteredContext: Sendable {
    @TaskLocal static var innermost: EnteredContext?

    let core: Core
    /// Zero: code of an object that lives in no context.
    let handle: invivo_context
    /// Nil for code that the library calls: it does not hold the context in which it lives.
    private let held: Context?
    private let outer: EnteredContext?

    init(_ context: Context) { (core, handle, held, outer) = (context.core, context.handle, context, Self.innermost) }

    /// Of code that the library calls.
    fileprivate init(callbackIn handle: invivo_context, _ core: Core) {
        (self.core, self.handle, held, outer) = (core, handle, nil, Self.innermost)
    }

    /// The entry that is in force for a runtime, or for any: one of the program counts until its context has ended. Code that lives in
    /// no context does not see the contexts of its caller.
    static func current(in core: Core?) -> EnteredContext? {
        var next = innermost
        while let entered = next {
            if core == nil || entered.core === core, entered.held == nil || !entered.isEnded { return entered }
            next = entered.outer
        }
        return nil
    }

    private var isEnded: Bool {
        var kind: UnsafePointer<CChar>?
        return core.table.pointee.context_kind_name(handle, &kind, nil) != 0
    }

    /// Its context; nil if there is none, or it has ended.
    var context: Context? { held ?? (try? .optional(handle, core)) }
}

extension Core {
    /// Runs a call of the library with the current context of the task as that of the thread.
    func inTaskContext<Result>(_ body: () -> Result) -> Result {
        guard EnteredContext.innermost != nil, let entered = EnteredContext.current(in: self), entered.handle.bits != 0,
            table.pointee.context_current(handle).bits != entered.handle.bits,
            table.pointee.context_enter(entered.handle, nil) == 0
        else { return body() }
        defer { _ = table.pointee.context_leave(entered.handle, nil) }
        return body()
    }

    /// Runs code that the library calls with the library's current context as that of the task: the one in which its object lives.
    func inCallback<Result>(_ body: () throws -> Result) rethrows -> Result {
        let now = table.pointee.context_current(handle)
        if let innermost = EnteredContext.innermost {
            if innermost.core === self, innermost.handle.bits == now.bits { return try body() }
        } else if now.bits == 0 {
            return try body()
        }
        return try EnteredContext.$innermost.withValue(EnteredContext(callbackIn: now, self), operation: body)
    }
}

extension Context {
    /// The current context of the task, of any runtime: the innermost one that was entered and has not ended; nil if there is none.
    ///
    /// In code of an object - a factory, an initializer, a hook, a start or a stop - it is the context in which the object lives, and nil
    /// for an object that lives in none, whoever has requested it. It is inherited by child tasks, and by tasks that are started with `Task { }`, but not by detached ones. For several runtimes
    /// see `Runtime.currentContext`.
    public static var current: Context? { EnteredContext.current(in: nil)?.context }

    /// Runs `body` with this as the current context, on any thread, and as often as wanted. It does not end the context.
    ///
    /// Code of other languages that `body` calls on this thread has the same current context. Fails with `InvivoError.Code.stale` if the
    /// context has ended.
    public func entered<Result>(_ body: () throws -> Result) throws -> Result {
        try core.call { $0.pointee.context_enter(handle, $1) }
        defer { _ = core.table.pointee.context_leave(handle, nil) }
        return try EnteredContext.$innermost.withValue(EnteredContext(self), operation: body)
    }

    /// Runs `body` with this as the current context of the task, also after it has moved to another thread. It does not end the context.
    ///
    /// Fails with `InvivoError.Code.stale` if the context has ended.
    @_disfavoredOverload  // a closure that does not await runs on its thread
    public func entered<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        _ = try kind
        return try await EnteredContext.$innermost.withValue(EnteredContext(self), operation: body)
    }
}

extension Context {
    /// Where lookups of a new context continue.
    public enum Parent: Sendable {
        /// The current context of the task in the same runtime, else that of the calling thread, else none.
        case current
        /// No context.
        case none
        /// This context.
        case context(Context)
    }
}

extension Runtime {
    /// The current context of the task in this runtime, else the one that the calling thread has entered in another language; nil if
    /// there is none.
    public var currentContext: Context? {
        if let entered = EnteredContext.current(in: core) { return entered.context }
        return try? .optional(core.table.pointee.context_current(core.handle), core)
    }

    /// Opens a context without a block. End it by `Context.end`; a context without a kind also ends with its last holder.
    ///
    /// Fails with `InvivoError.Code.notFound` for an unknown kind and for provided values that are missing, with
    /// `InvivoError.Code.argument` for a kind that is opened inside an inner one, and with `InvivoError.Code.stale` for a parent that has
    /// ended.
    ///
    /// - Parameters:
    ///   - kind: A declared kind (`declareContexts`), or nil.
    ///   - values: Its values, which are there before any other code has the context.
    ///   - parent: Where lookups continue. It never changes.
    ///   - holdsParent: Whether the context holds its parent. By default only a context with a kind does.
    ///   - object: The context as an object with methods. The context keeps it until it ends.
    public func context(
        _ kind: String? = nil, _ values: [ContextValue] = [], parent: Context.Parent = .current,
        holdsParent: Bool? = nil, object: AnyObject? = nil, file: StaticString = #fileID, line: UInt = #line
    ) throws(InvivoError) -> Context {
        var handle = invivo_context()
        try withArena { arena throws(InvivoError) in
            var options = invivo_context_options()
            options.struct_size = MemoryLayout<invivo_context_options>.size
            options.kind = try arena.name(kind)
            switch parent {
            case .current: options.parent = EnteredContext.current(in: core)?.context?.handle ?? invivo_context()
            case .none: options.flags |= UInt32(INVIVO_CONTEXT_DETACHED)
            case .context(let context):
                try context.require(in: core)
                options.parent = context.handle
            }
            if let holdsParent {
                options.flags |= UInt32(holdsParent ? INVIVO_CONTEXT_STRONG_PARENT : INVIVO_CONTEXT_WEAK_PARENT)
            }
            options.values = try values.opening(arena, core)
            options.value_count = UInt64(values.count)
            if let object {
                let object = try core.lease(of: object, isDescribed: false)
                arena.atEnd { [core] in _ = core.table.pointee.object_release(object) }
                options.object = object
            }
            options.place = invivo_place(
                file: UnsafeRawPointer(file.utf8Start).assumingMemoryBound(to: CChar.self),
                line: UInt32(clamping: line), reserved: 0)
            try core.call { $0.pointee.context_open(core.handle, &options, &handle, $1) }
        }
        return Context(taking: handle, core)
    }

    /// Opens a context, runs `body` with it as the current one, and ends it.
    ///
    ///     try runtime.withContext("request", [.set(.user, to: user)]) { request in try handle(call, for: request[.user]) }
    ///
    /// An error of the end is thrown if `body` has returned, and is noted if `body` has thrown: see `note`. Code that stops objects of
    /// the context finds the error of `body` in `Context.failure`. The parameters are those of
    /// `context`.
    public func withContext<Result>(
        _ kind: String? = nil, _ values: [ContextValue] = [], parent: Context.Parent = .current,
        holdsParent: Bool? = nil, object: AnyObject? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ body: (Context) throws -> Result
    ) throws -> Result {
        let context = try context(
            kind, values, parent: parent, holdsParent: holdsParent, object: object, file: file, line: line)
        let result: Result
        do { result = try context.entered { try body(context) } } catch {
            core.noting("the end of a context") { _ = try context.end(after: error) }
            throw error
        }
        try context.end()
        return result
    }

    /// Opens a context, runs `body` with it as the current one of the task and of the tasks that it starts, and ends it.
    ///
    ///     try await runtime.withContext("request", [.set(.user, to: user)]) { request in try await respond(to: call) }
    ///
    /// A task that outlives the block has the current context around it then, or none. Otherwise it is the same as with a closure that does not await.
    @_disfavoredOverload  // a closure that does not await runs on its thread
    public func withContext<Result>(
        _ kind: String? = nil, _ values: [ContextValue] = [], parent: Context.Parent = .current,
        holdsParent: Bool? = nil, object: AnyObject? = nil, file: StaticString = #fileID, line: UInt = #line,
        isolation: isolated (any Actor)? = #isolation, _ body: (Context) async throws -> Result
    ) async throws -> Result {
        let context = try context(
            kind, values, parent: parent, holdsParent: holdsParent, object: object, file: file, line: line)
        let result: Result
        do { result = try await context.entered { try await body(context) } } catch {
            core.noting("the end of a context") { _ = try context.end(after: error) }
            throw error
        }
        try context.end()
        return result
    }
}
