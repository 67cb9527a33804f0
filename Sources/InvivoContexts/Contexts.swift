internal import CInvivo
internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import Synchronization

/// The contexts of one runtime (docs/architecture.md: Contexts). Any thread.
///
/// Readers take no lock. Writers hold the lock of the tree. Memory that other threads may still read is handed to `RetiredMemory` after the
/// reading section of the writer; that frees values, which runs host code, without locks.
public final class Contexts: Sendable {
    public let names: KeyNames
    public let kinds: ContextKinds
    public let keys: ContextKeys
    let retired: RetiredMemory
    let log: Log
    private let locks: ContextLocks
    private let core: CoreReference
    private let openCount = Atomic<Int>(0)
    private let isClosed = Atomic<Bool>(false)
    /// Notified of changes of observed contexts, without locks held.
    private let observers = Guarded<(any ContextObserving)?>(nil, by: Monitor())
    /// Ends contexts with objects, without locks held.
    private let life = Guarded<(any ContextLife)?>(nil, by: Monitor())

    public init(_ core: Core, tag: UInt64, names: KeyNames, log: Log) {
        self.core = CoreReference(core, tag: tag)
        self.names = names
        self.log = log
        let monitor = Monitor()
        kinds = ContextKinds(monitor)
        keys = ContextKeys(monitor, names, self.core)
        locks = ContextLocks()
        retired = RetiredMemory(ReadEpochs(core)) { ContextGarbage.free($0) }
        iv_core_set_contexts(core, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Sets the code that ends contexts with objects.
    public func connect(life: any ContextLife) { self.life.locked { $0 = life } }

    /// Sets the observers of values, and the function that plans a call of `freeRetired` soon.
    public func connect(observers: any ContextObserving, later: @escaping @Sendable () -> Void) {
        self.observers.locked { $0 = observers }
        retired.onPending(later)
    }

    public func freeRetired() { retired.freePlanned() }

    public var count: Int { openCount.load(ordering: .relaxed) }
    func countOpened(_ change: Int) {
        openCount.add(change, ordering: .relaxed)
        _ = iv_add_u64(iv_live_contexts(), UInt64(bitPattern: Int64(change)))
    }

    // MARK: access

    /// Runs `body` with the open context of a handle in a reading section. Removed memory is retired after the section, observers are
    /// notified, and contexts that have lost their last holder end.
    static func use<Result>(
        _ handle: ContextHandle,
        _ body: (Contexts, RawContext, inout ContextGarbage) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var parents: [ContextHandle] = []
        let outcome = Swift.Result { () throws(Failure) in try section(handle, &parents, body) }
        // One after the other: a chain may be longer than the stack.
        while let parent = parents.popLast() { try? releaseOnce(parent, &parents) }
        return try outcome.get()
    }

    /// The same. `parents` receives the contexts that lose a holder.
    static func section<Result>(
        _ handle: ContextHandle, _ parents: inout [ContextHandle],
        _ body: (Contexts, RawContext, inout ContextGarbage) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try Failure.refuseWhileAsking()
        guard let core = handle.core else { throw ended(handle) }
        let tag = iv_load_u64(iv_core_tag(core))
        try Failure.refuseInRule(of: tag)
        guard !Readers.isParents(core) else { throw .forked() }
        guard let reader = ReadSection.begin(core, tag: tag) else { throw Failure(.closed, "the runtime is closed") }
        guard let context = handle.context, let address = iv_core_contexts(core) else {
            ReadSection.end(reader)
            throw ended(handle)
        }
        let contexts = Unmanaged<Contexts>.fromOpaque(address).takeUnretainedValue()
        var garbage = ContextGarbage()
        let outcome = Swift.Result { () throws(Failure) in try body(contexts, context, &garbage) }
        ReadSection.end(reader)
        garbage.leave(to: contexts)
        parents += garbage.parents
        return try outcome.get()
    }

    /// The error for a handle without an open context.
    public static func ended(_ handle: ContextHandle) -> Failure {
        if handle.bits == 0 { return Failure(.handle, "the context handle is zero") }
        if handle.hasBeenOpen { return Failure(.stale, "the context has ended") }
        return Failure(.handle, "this is not the handle of a context")
    }

    /// Runs `body` with the lock of a tree. No host code runs under it.
    func locked<Result>(_ context: RawContext, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let lock = locks.lock(of: context.pointee.root.pointee.index)
        iv_context_lock_take(lock)
        iv_thread().pointee.locks &+= 1
        defer {
            iv_thread().pointee.locks &-= 1
            iv_context_lock_leave(lock)
        }
        return try body()
    }

    /// The same for code that does not fail.
    func holding(_ context: RawContext, _ body: () -> Void) {
        do throws(Failure) { try locked(context) { () throws(Failure) in body() } } catch {
            assertionFailure(error.text)
        }
    }

    /// With the lock: the context must be open.
    func requireOpen(_ context: RawContext) throws(Failure) {
        guard iv_load_u64(iv_context_ended(context)) == 0 else { throw Failure(.stale, "the context has ended") }
    }

    var observing: (any ContextObserving)? { observers.locked { $0 } }
    public func endReleased(_ context: ContextHandle) { life.locked { $0 }?.endReleased(context) }
    func wake() { life.locked { $0 }?.workEnded() }
    func notify(_ changes: [ContextChange]) { observing?.changed(changes) }

    /// "the context 'request' (opened at server.c:12)", for messages.
    func description(of context: RawContext) -> String {
        let place = context.pointee.file.map { " (opened at \(String(cString: $0)):\(context.pointee.line))" } ?? ""
        return kindName(of: context).map { "the context '\($0)'\(place)" } ?? "the context\(place)"
    }

    func kindName(of context: RawContext) -> String? {
        context.pointee.kind == 0 ? nil : kinds.kind(at: Int(context.pointee.kind) - 1)?.name
    }

    /// The id of a key by its handle.
    func id(ofKey bits: UInt64) throws(Failure) -> UInt32 {
        let handle = HandleBits(bits)
        guard handle.kind == HandleBits.keyKind, handle.tag == core.tag else {
            throw bits == 0
                ? .badHandle(0, .key) : Failure(.handle, "the key belongs to another runtime, or is no key")
        }
        guard names.isKnown(handle.index) else { throw Failure(.handle, "the key is no key of this runtime") }
        return handle.index
    }

    func keyName(_ id: UInt32) -> String { names.known(id) ?? "?" }

    /// The handle of the runtime.
    public var runtime: UInt64 { HandleBits(kind: HandleBits.runtimeKind, tag: core.tag).bits }
    public var rawCore: Core { core.core }

    // MARK: close

    /// No context is opened after this call.
    func requireOpenRuntime() throws(Failure) {
        guard !isClosed.load(ordering: .acquiring) else { throw Failure(.closed, "the runtime is closing") }
    }

    /// The leases that open contexts and the defaults of keys hold, by object. For close.
    public func leases() -> [UInt64: UInt64] {
        retired.freeUnseen()
        var counts: [UInt64: UInt64] = [:]
        keys.addLeases(to: &counts)
        guard count > 0 else { return counts }
        // After the last reader there is no section to begin, and none is needed.
        let reader = ReadSection.begin(core.core, tag: core.tag)
        defer { if let reader { ReadSection.end(reader) } }
        for context in ContextHandle.all(of: core.core) {
            holding(context) {
                guard iv_load_u64(iv_context_ended(context)) == 0 else { return }
                if context.pointee.object != 0 { counts[context.pointee.object, default: 0] += 1 }
                iv_context_table_of(context)?.forEach { entry in
                    guard let newest = iv_context_entry_newest(entry) else { return }
                    for object in Value.objects(in: newest.valuePointer.pointee) { counts[object, default: 0] += 1 }
                }
            }
        }
        return counts
    }

    /// Ends all contexts. For close, when no reader is left; later calls on their handles return errors.
    public func close() {
        isClosed.store(true, ordering: .releasing)
        if count > 0 {
            // Contexts that end with another one are in the list too: nothing is freed before its end.
            var garbage = ContextGarbage()
            for context in ContextHandle.all(of: core.core) { holding(context) { endTree(from: context, &garbage) } }
            garbage.leave(to: self)
        }
        retired.onPending(nil)
        retired.freeAll()
        keys.removeAll()
    }

    /// Ends the use of the core by this runtime.
    public func detach() {
        iv_core_set_contexts(core.core, nil)
        keys.removeAll()
        observers.locked { $0 = nil }
        life.locked { $0 = nil }
    }
}

/// The locks of the trees of one runtime.
private final class ContextLocks: Sendable {
    private let address: UInt
    private var locks: UnsafeMutablePointer<iv_context_lock> {
        UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
    }

    init() {
        let locks = UnsafeMutablePointer<iv_context_lock>.allocate(capacity: Int(IV_CONTEXT_LOCKS))
        locks.initialize(repeating: iv_context_lock(), count: Int(IV_CONTEXT_LOCKS))
        for index in 0..<Int(IV_CONTEXT_LOCKS) { iv_context_lock_begin(locks + index) }
        address = UInt(bitPattern: locks)
    }

    deinit {
        for index in 0..<Int(IV_CONTEXT_LOCKS) { iv_context_lock_end(locks + index) }
        locks.deallocate()
    }

    func lock(of root: UInt32) -> UnsafeMutablePointer<iv_context_lock> {
        locks + Int(root & UInt32(IV_CONTEXT_LOCKS - 1))
    }
}

/// One change of an observed context. `key` is nil at its end.
public struct ContextChange: Sendable, Hashable {
    public let context: ContextHandle
    public let key: UInt32?
}

/// Is notified of changes of contexts that are marked as observed.
public protocol ContextObserving: AnyObject, Sendable {
    func changed(_ changes: [ContextChange])
    /// The end of contexts, in the order in which they end.
    func ended(_ contexts: [ContextHandle])
}

/// Ends contexts in which objects live.
public protocol ContextLife: AnyObject, Sendable {
    /// Ends a context that nobody holds any more.
    func endReleased(_ context: ContextHandle)
    /// Work in a context that is ending has ended.
    func workEnded()
}
