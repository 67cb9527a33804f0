internal import CInvivo

/// A runtime: objects that are wired, tuned and replaced while the program runs.
///
///     let runtime = try Runtime(watching: "tuning.yaml")
///     let lead = try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain, in: 0...2) })
///     while true { render(runtime[lead].gain) }
///
/// May be used from any thread. Objects of types that are not `Sendable` belong to the domain of `Options.home`. By
/// default this is the main actor, in a program whose main code awaits, and otherwise the thread that opened the
/// runtime. That thread applies changes to them in `poll` and in any other call that waits.
public final class Runtime: Sendable {
    @usableFromInline let core: Core
    /// Whether this value opened the runtime, and so closes it.
    private let isOwner: Bool
    private let isClosed = Locked(false)

    /// Opens a runtime.
    ///
    /// - Parameters:
    ///   - options: The options of the runtime.
    ///   - paths: Documents to follow. They are read, checked and committed before this returns. Traits for keys that
    ///     are not defined yet wait for the definitions.
    public init(_ options: Options = Options(), watching paths: String...) throws(InvivoError) {
        let table = try Core.own()
        var options = options
        if options.pendingTargets == nil { options.pendingTargets = !paths.isEmpty }
        var handle = invivo_runtime()
        try withArena { arena throws(InvivoError) in
            try options.opening(arena, table) { raw throws(InvivoError) in
                try Core.call(table) { $0.pointee.runtime_open(&handle, raw, $1) }
            }
        }
        core = try Core.of(table, handle)
        core.fillsInjected.store(options.fillsInjected, ordering: .relaxed)
        isOwner = true
        do throws(InvivoError) {
            let isOnMainActor = options.home == .mainActor || (options.home == .automatic && MainActorDomain.isAwaiting)
            let notices = try MainActorDomain.Notices(options, isOnMainActor: isOnMainActor)
            if isOnMainActor { try core.liveOnMainActor(notices) }
            for path in paths { try watch(path) }
        } catch {
            try? close()
            throw error
        }
    }

    /// Opens a runtime with assemblies and their files, as one reload. The files may contain values that the assemblies
    /// require.
    ///
    ///     let runtime = try Runtime(synth, watching: "settings.yaml")
    ///
    /// - Parameters:
    ///   - assembly: The assembly to activate, with its dependencies.
    ///   - others: Further assemblies to activate.
    ///   - options: The options of the runtime.
    ///   - paths: Documents to follow. Traits for keys that are not defined yet, such as those of blocks, wait for the
    ///     definitions, with a warning.
    public convenience init(
        _ assembly: Assembly, _ others: Assembly..., options: Options = Options(), watching paths: String...
    ) throws(InvivoError) {
        var options = options
        if options.pendingTargets == nil { options.pendingTargets = !paths.isEmpty }
        try self.init(options)
        do throws(InvivoError) {
            let changes = try ChangeSet(core)
            try changes.activate([assembly] + others)
            for path in paths { try changes.watch(path) }
            try changes.commit()
        } catch {
            try? close()
            throw error
        }
    }

    /// A runtime that other code opened and closes.
    init(borrowing core: Core) {
        self.core = core
        isOwner = false
    }

    /// A runtime without references closes itself; objects that are still held stay valid until they are released.
    deinit {
        guard isOwner, !isClosed.withLock({ $0 }) else { return }
        var error: OpaquePointer?
        _ = core.table.pointee.runtime_close_deferred(core.handle, &error)
        core.table.pointee.error_release(error)
    }

    /// Closes the runtime: stops and disposes of shared instances in reverse order of creation and ends its threads.
    ///
    /// Fails with `.busy` while objects are held, and with `.inCallback` from inside a callback; the runtime then stays
    /// open. Call it on the thread that opened the runtime. A second call is a no-op. A runtime that other code opened
    /// stays open.
    public func close() throws(InvivoError) {
        guard isOwner, !isClosed.withLock({ $0 }) else { return }
        do throws(InvivoError) {
            try core.call { $0.pointee.runtime_close(core.handle, $1) }
        } catch {
            // References between components are released as the components are disposed of.
            if error.code == .stop { isClosed.withLock { $0 = true } }
            guard error.code == .busy, core.isHeldByComponentsAlone else { throw error }
            do throws(InvivoError) {
                try core.call { $0.pointee.runtime_close_deferred(core.handle, $1) }
            } catch {
                if error.code == .stop { isClosed.withLock { $0 = true } }
                throw error
            }
        }
        isClosed.withLock { $0 = true }
    }

    /// Runs the pending jobs of the calling thread's domain. Returns their number. Waits up to `timeout` for the first
    /// one.
    @discardableResult
    public func poll(timeout: Duration = .zero) throws(InvivoError) -> Int {
        var ran: UInt32 = 0
        try core.call { $0.pointee.runtime_poll(core.handle, timeout.milliseconds, &ran, $1) }
        return Int(ran)
    }

    /// The current generation, even if the thread has a view of an older one open.
    public var generation: UInt64 {
        get throws(InvivoError) {
            var generation: UInt64 = 0
            try core.call { $0.pointee.runtime_generation(core.handle, &generation, $1) }
            return generation
        }
    }

    /// A descriptor that is readable while something waits for the opening thread: for a loop of the host's own.
    public var descriptor: Int32 {
        get throws(InvivoError) {
            var descriptor: Int32 = -1
            try core.call { $0.pointee.runtime_descriptor(core.handle, &descriptor, $1) }
            return descriptor
        }
    }

    /// Prepares the calling thread for views, so that its first allocates nothing. Real-time threads must.
    public func prepareThread() throws(InvivoError) { try core.call { $0.pointee.thread_prepare(core.handle, $1) } }
}

extension Duration {
    /// Whole nanoseconds; 0 for a negative time.
    var nanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < Int64.max / 1_000_000_000 - 1 else { return UInt64(Int64.max) }
        return UInt64(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds, rounded up, as the C side takes them.
    var milliseconds: UInt32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < Int64(UInt32.max) / 1000 - 1 else { return UInt32.max }
        return UInt32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
