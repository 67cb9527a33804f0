internal import CInvivo
internal import Synchronization

/// A context: values under keys that the contexts below it inherit. For a request, a session, a window or a plug-in.
///
///     try await runtime.withContext("request", [.set(.user, to: user)]) { request in
///         try await handle(call, for: request[.user])
///     }
///
/// A lookup begins in the context and goes upward; the first context with the key answers. Writes act on one context only. Lookups,
/// enumerations and changes take effect at one instant for the whole chain. A lookup takes no lock of the runtime.
///
/// A `Context` is one of the holders of the context. A context without a kind ends with its last holder: this value, the objects that
/// it is attached to, and the contexts that hold it. A context with a kind is to be ended by `end`. After its end, calls fail with
/// `InvivoError.Code.stale`. Any thread may use it, unless a value is confined.
public final class Context: Sendable {
    let core: Core
    let handle: invivo_context
    private let isHolder = Atomic(true)

    /// Takes over one hold.
    init(taking handle: invivo_context, _ core: Core) { (self.core, self.handle) = (core, handle) }

    /// Adds a hold to a context that a call has returned.
    init(holding handle: invivo_context, _ core: Core) throws(InvivoError) {
        try core.call { $0.pointee.context_retain(handle, $1) }
        (self.core, self.handle) = (core, handle)
    }

    deinit { if isHolder.load(ordering: .relaxed) { _ = core.table.pointee.context_release(handle, nil) } }

    /// Stops holding the context, before the last reference to this value goes. A second call is a no-op.
    ///
    /// If it was the last holder, a context without a kind ends. Otherwise this value can be used until the context ends.
    public func release() throws(InvivoError) {
        guard isHolder.exchange(false, ordering: .relaxed) else { return }
        try core.call { $0.pointee.context_release(handle, $1) }
    }

    /// The context of a call that returns zero for none.
    static func optional(_ handle: invivo_context, _ core: Core) throws(InvivoError) -> Context? {
        handle.bits == 0 ? nil : try Context(holding: handle, core)
    }

    /// Throws if it belongs to another runtime.
    func require(in core: Core) throws(InvivoError) {
        guard self.core === core else {
            throw InvivoError(.handle, "the context belongs to another runtime: use a context of that runtime")
        }
    }

    /// Ends the context, whoever holds it: first the open contexts that hold it strongly, the newest first.
    ///
    /// Waits for builds in it, and stops the objects that live in it, the last created first. Then its values are released, and it is
    /// detached from its objects. Contexts that hold it weakly stay open; their lookups upward then fail with
    /// `InvivoError.Code.orphaned`. Ending it again returns the result of the first call.
    ///
    /// Throws all errors of stops, as one; `InvivoError.Code.timeout` for what has not ended within the limit;
    /// `InvivoError.Code.inCallback`, without effect, in code of an object that lives in the context.
    ///
    /// - Parameters:
    ///   - timeout: The limit of the whole end; nil is `Runtime.Options.endTimeout`.
    ///   - refusingChildren: While contexts hold it strongly, the end has no effect and throws `InvivoError.Code.busy`, which lists them.
    /// - Returns: The keys, or types, of the objects that lived in it and are still held, the last created first. They end with
    ///   their last holder.
    @discardableResult
    public func end(timeout: Duration? = nil, refusingChildren: Bool = false) throws(InvivoError) -> [String] {
        try end(timeout: timeout, refusingChildren: refusingChildren, after: nil)
    }

    /// Ends the context after work in it that has failed, or (nil) has not.
    func end(
        timeout: Duration? = nil, refusingChildren: Bool = false, after failure: (any Error)?
    ) throws(InvivoError) -> [String] {
        let failure = failure.map { InvivoError($0) }
        var options = invivo_context_ending()
        options.struct_size = MemoryLayout<invivo_context_ending>.size
        if let timeout { options.timeout_ms = max(1, timeout.milliseconds) }
        if refusingChildren { options.flags |= UInt32(INVIVO_END_REFUSES_CHILDREN) }
        options.failure = failure?.code.rawValue ?? 0
        var leased = invivo_null()
        try withArena { arena throws(InvivoError) in
            options.failure_message = try arena.name(failure.map { $0.message.replacing("\0", with: "\u{FFFD}") })
            try core.call { $0.pointee.context_end_with(handle, &options, &leased, $1) }
        }
        return try InvivoValue(taking: &leased, core).get([String].self)
    }

    /// The error that ended the work in the context, for code that stops its objects; nil if the work has not failed.
    public var failure: InvivoError? {
        var message: UnsafePointer<CChar>?
        let status = core.table.pointee.context_failure(handle, &message)
        return status == 0 ? nil : InvivoError(InvivoError.Code(rawValue: status), String(text: message))
    }

    /// Whether the context has ended.
    public var isEnded: Bool {
        var kind: UnsafePointer<CChar>?
        return core.table.pointee.context_kind_name(handle, &kind, nil) != 0
    }

    /// The runtime of the context.
    public var runtime: Runtime { Runtime(borrowing: core) }

    /// The name of its kind; nil if it has none.
    public var kind: String? {
        get throws(InvivoError) {
            var name: UnsafePointer<CChar>?
            try core.call { $0.pointee.context_kind_name(handle, &name, $1) }
            return name.map { String(cString: $0) }
        }
    }

    /// The parent, in which lookups continue; nil if there is none. Fails with `InvivoError.Code.orphaned` if it has ended.
    public var parent: Context? {
        get throws(InvivoError) {
            var found = invivo_context()
            try core.call { $0.pointee.context_parent(handle, &found, $1) }
            return try .optional(found, core)
        }
    }

    /// The object that the context is; nil if it has none.
    public var object: Object? {
        get throws(InvivoError) {
            var found = invivo_object()
            try core.call { $0.pointee.context_object(handle, &found, $1) }
            return found.bits == 0 ? nil : Object(taking: found, core)
        }
    }
}

/// Equal when it is the same context of the same runtime.
extension Context: Hashable {
    public static func == (left: Context, right: Context) -> Bool {
        left.handle.bits == right.handle.bits && left.core === right.core
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(handle.bits) }
}

extension Context: CustomStringConvertible {
    public var description: String {
        guard !isEnded else { return "context (ended)" }
        return (try? kind).flatMap { $0 }.map { "context '\($0)'" } ?? "context"
    }
}

extension Context {
    /// Finds the nearest context of a kind: this one, or one above it. Fails with `InvivoError.Code.notFound` if there is none.
    ///
    /// - Parameter above: Begins with the parent.
    public func find(kind: String, above: Bool = false) throws(InvivoError) -> Context {
        try find(\.kind, kind, above ? UInt32(INVIVO_FIND_ABOVE) : 0)
    }

    /// Finds the nearest context with an object of a type: of a class or a derived class, or of a protocol (`(any Router).self`).
    ///
    /// Fails with `InvivoError.Code.notFound` if there is none.
    ///
    /// - Parameters:
    ///   - exact: Derived types are excluded.
    ///   - above: Begins with the parent.
    public func find<Value>(
        _ type: Value.Type, exact: Bool = false, above: Bool = false
    ) throws(InvivoError) -> Context {
        try find(type: try core.typeQuery(type), exact: exact, above: above)
    }

    /// Finds the nearest context with an object of a type that is registered in any language, or of a subtype.
    ///
    /// Fails with `InvivoError.Code.notFound` if there is none.
    ///
    /// - Parameters:
    ///   - exact: Subtypes are excluded.
    ///   - above: Begins with the parent.
    public func find(type: String, exact: Bool = false, above: Bool = false) throws(InvivoError) -> Context {
        try find(
            \.type, type,
            (above ? UInt32(INVIVO_FIND_ABOVE) : 0) | (exact ? UInt32(INVIVO_FIND_EXACT_TYPE) : 0))
    }

    private func find(
        _ subject: WritableKeyPath<invivo_context_query, UnsafePointer<CChar>?>, _ name: String, _ flags: UInt32
    ) throws(InvivoError) -> Context {
        var found = invivo_context()
        try core.call(naming: name) { table, name, error in
            var query = invivo_context_query()
            query.struct_size = MemoryLayout<invivo_context_query>.size
            query[keyPath: subject] = name
            query.flags = flags
            return table.pointee.context_find(handle, &query, &found, error)
        }
        return try Context(holding: found, core)
    }

    /// Attaches the context to an object, which is then one of its holders.
    ///
    /// An object has one context at a time; a former one is replaced. Several objects may have the same context. The end of the object
    /// detaches it. A Swift instance must be an object of the runtime: one that the runtime has created or keeps, or that
    /// `Runtime.object(for:)` holds.
    public func attach(to instance: AnyObject) throws(InvivoError) {
        guard let object = try core.knownLease(of: instance) else {
            throw InvivoError(
                .argument,
                "the instance of \(Swift.type(of: instance)) is no object of the runtime, which would end with this call: "
                    + "attach to runtime.object(for:), and hold the result")
        }
        defer { _ = core.table.pointee.object_release(object) }
        try core.call { $0.pointee.context_attach(handle, object, $1) }
    }
}

extension Runtime {
    /// Returns the nearest context of an object: its own, else that of its parent (`ObjectType.parent`), and so on; nil if there is none.
    ///
    /// Call it where the object may be used. A cycle of parents fails with `InvivoError.Code.cycle`.
    public func context(of instance: AnyObject) throws(InvivoError) -> Context? {
        let object = try core.lease(of: instance, isDescribed: false)
        defer { _ = core.table.pointee.object_release(object) }
        var found = invivo_context()
        try core.call { $0.pointee.context_of(object, &found, $1) }
        return try .optional(found, core)
    }

    /// Detaches the context of an object. An object without one is a no-op.
    public func detachContext(of instance: AnyObject) throws(InvivoError) {
        guard let object = try core.knownLease(of: instance) else { return }
        defer { _ = core.table.pointee.object_release(object) }
        try core.call { $0.pointee.context_detach(object, $1) }
    }
}
