internal import CInvivo
internal import Synchronization

/// A closure that is notified of reloads, until it or the runtime is closed. Dropping the last reference does not close
/// it.
public final class Observer: Sendable {
    private let core: Core
    private let handle: Locked<invivo_observer>
    /// The generation that was current when it was added: it is notified of the commits of later ones.
    public let generation: UInt64

    init(_ core: Core, _ handle: invivo_observer) {
        self.core = core
        self.handle = Locked(handle)
        var generation: UInt64 = 0
        _ = core.table.pointee.observer_generation(handle, &generation, nil)
        self.generation = generation
    }

    /// Closes the observer: after this call the closure is not called again. A second call is a no-op.
    public func close() throws(InvivoError) {
        let handle = handle.withLock { handle in
            defer { handle = invivo_observer() }
            return handle
        }
        guard handle.bits != 0 else { return }
        do throws(InvivoError) { try core.call { $0.pointee.observer_close(handle, $1) } } catch {
            // It has ended with its object, or with the setup that added it.
            guard error.code == .handle else { throw error }
        }
    }
}

/// The user data of an observer in the C ABI.
private final class ObserverBox<Body: Sendable>: Sendable {
    let core: Core
    let notify: Body
    let end: @Sendable () -> Void

    init(_ core: Core, _ notify: Body, _ end: @escaping @Sendable () -> Void) {
        self.core = core
        self.notify = notify
        self.end = end
    }

    static func of(_ data: UnsafeMutableRawPointer) -> Self { Unmanaged<Self>.fromOpaque(data).takeUnretainedValue() }
}

private typealias ReloadBody = @Sendable (Reload) throws -> Void
private typealias FirstReload = @Sendable (Result<UInt64, InvivoError>) throws -> Void
private typealias Phases = @Sendable (ReloadProgress) throws -> Void
private typealias Publishing = @Sendable (Bool) -> Void

extension Runtime {
    /// Calls `body` after every reload, committed or failed, in order, on the thread that ran it. Errors that it throws
    /// are noted: see `note`.
    @discardableResult
    public func observe(_ body: @escaping @Sendable (Reload) throws -> Void) throws(InvivoError) -> Observer {
        try observe(body, end: {})
    }

    /// Calls `body` once: with the generation after the first commit of the runtime, or with the error of its first reload if that failed.
    /// If one of them has happened, the call follows soon on the loop thread.
    @discardableResult
    public func onReady(
        _ body: @escaping @Sendable (Result<UInt64, InvivoError>) throws -> Void
    ) throws(InvivoError) -> Observer {
        var options = invivo_observer_options()
        options.ready = { data, generation, error in
            guard let data else { return }
            let box = ObserverBox<FirstReload>.of(data)
            box.core.noting("an observer of the first reload") {
                let table = box.core.table
                try box.notify(
                    error.map {
                        .failure(InvivoError(reading: $0, status: table.pointee.error_code($0), table: table))
                    } ?? .success(generation))
            }
        }
        options.destroy = { data in
            guard let data else { return }
            Unmanaged<ObserverBox<FirstReload>>.fromOpaque(data).release()
        }
        return try observe(&options, ObserverBox<FirstReload>(core, body, {}))
    }

    /// Calls `body` for each phase of the reloads that begin from now on, and for the end of each former generation.
    ///
    /// A reload begins with `detected` and ends with one of `committed`, `refused` and `unchanged`, before the observers of
    /// reloads are called. `body` is called on the thread that does the work and must not wait for the runtime.
    @discardableResult
    public func onProgress(
        _ body: @escaping @Sendable (ReloadProgress) throws -> Void
    ) throws(InvivoError) -> Observer {
        var options = invivo_observer_options()
        options.progress = { data, progress in
            guard let data, let progress else { return }
            let box = ObserverBox<Phases>.of(data)
            box.core.noting("an observer of phases") {
                if let progress = ReloadProgress(progress.pointee, box.core.table) { try box.notify(progress) }
            }
        }
        options.destroy = { data in
            guard let data else { return }
            Unmanaged<ObserverBox<Phases>>.fromOpaque(data).release()
        }
        return try observe(&options, ObserverBox<Phases>(core, body, {}))
    }

    /// Calls `body` after each commit that changed the definition, object or value of a key, with a report of these changes.
    @discardableResult
    public func observe(
        key: String, _ body: @escaping @Sendable (Reload) throws -> Void
    ) throws(InvivoError) -> Observer {
        try observe(\.key, key, body)
    }

    private func observe(
        _ subject: WritableKeyPath<invivo_observer_options, UnsafePointer<CChar>?>, _ name: String,
        _ body: @escaping @Sendable (Reload) throws -> Void
    ) throws(InvivoError) -> Observer {
        try withArena { (arena) throws(InvivoError) in
            var options = invivo_observer_options()
            options[keyPath: subject] = try arena.name(name)
            return try observe(body, end: {}, options)
        }
    }

    /// The same for the keys whose objects have a type, a subtype of it, or had it before the commit. A type is named as it is registered.
    @discardableResult
    public func observe(
        type: String, _ body: @escaping @Sendable (Reload) throws -> Void
    ) throws(InvivoError) -> Observer {
        try observe(\.type, type, body)
    }

    /// The same for the keys of objects of a class, protocol or another type.
    @discardableResult
    public func observe<T>(
        type: T.Type, _ body: @escaping @Sendable (Reload) throws -> Void
    ) throws(InvivoError) -> Observer {
        try observe(type: try core.typeQuery(type), body)
    }

    /// Calls `body` after each commit that injected into an object, changed its properties, or replaced it. The observer does not keep the
    /// object.
    @discardableResult
    public func observe(
        object: AnyObject, _ body: @escaping @Sendable (Reload) throws -> Void
    ) throws(InvivoError) -> Observer {
        var options = invivo_observer_options()
        options.object = try core.lease(of: object)
        defer { _ = core.table.pointee.object_release(options.object) }
        return try observe(body, end: {}, options)
    }

    /// Calls `body` with false before each commit that gives a key another object, and with true after it. For a cache
    /// of resolved objects.
    ///
    /// The first call clears the cache, which stores nothing until the second. Thus the cache is never older than the
    /// results of the runtime. `body` is called on the committing thread and must not call the runtime.
    @discardableResult
    public func observePublishing(
        _ body: @escaping @Sendable (_ isPublished: Bool) -> Void
    ) throws(InvivoError) -> Observer {
        var options = invivo_observer_options()
        options.publishing = { data, published in
            guard let data else { return }
            ObserverBox<Publishing>.of(data).notify(published != 0)
        }
        options.destroy = { data in
            guard let data else { return }
            Unmanaged<ObserverBox<Publishing>>.fromOpaque(data).release()
        }
        return try observe(&options, ObserverBox<Publishing>(core, body, {}))
    }

    /// The reports of the last reloads, committed or failed, the oldest first.
    ///
    /// The runtime keeps the last 64, and fewer if they need more than 1 MiB. Reloads that found nothing to change have no
    /// report.
    public var reports: [Reload] {
        get throws(InvivoError) {
            let found = KeptReports(core.table)
            try core.call { table, error in
                table.pointee.runtime_reports(
                    core.handle,
                    { data, report in
                        guard let data, let report else { return }
                        Unmanaged<KeptReports>.fromOpaque(data).takeUnretainedValue().append(report)
                    }, Unmanaged.passUnretained(found).toOpaque(), error)
            }
            return found.reports
        }
    }

    private func observe(
        _ body: @escaping @Sendable (Reload) throws -> Void, end: @escaping @Sendable () -> Void,
        _ subject: invivo_observer_options = invivo_observer_options()
    ) throws(InvivoError) -> Observer {
        var options = subject
        options.reloaded = { data, report in
            guard let data, let report else { return }
            let box = ObserverBox<ReloadBody>.of(data)
            box.core.noting("an observer of reloads") { try box.notify(Reload(report, box.core.table)) }
        }
        options.destroy = { data in
            guard let data else { return }
            Unmanaged<ObserverBox<ReloadBody>>.fromOpaque(data).takeRetainedValue().end()
        }
        return try observe(&options, ObserverBox<ReloadBody>(core, body, end))
    }

    private func observe<Body>(
        _ options: inout invivo_observer_options, _ body: ObserverBox<Body>
    ) throws(InvivoError) -> Observer {
        let box = Unmanaged.passRetained(body)
        options.struct_size = MemoryLayout<invivo_observer_options>.size
        options.user_data = box.toOpaque()
        var handle = invivo_observer()
        do throws(InvivoError) {
            try core.call { $0.pointee.observe(core.handle, &options, &handle, $1) }
        } catch {
            box.release()
            throw error
        }
        return Observer(core, handle)
    }

    /// Every reload from now on, committed or failed, until the runtime closes.
    public var reloads: AsyncStream<Reload> {
        let (stream, continuation) = AsyncStream.makeStream(of: Reload.self)
        do throws(InvivoError) {
            let observer = try observe({ continuation.yield($0) }, end: { continuation.finish() })
            continuation.onTermination = { reason in
                // At the regular end, the observer is closed already.
                if case .cancelled = reason { try? observer.close() }
            }
        } catch {
            continuation.finish()
        }
        return stream
    }
}

extension Runtime {
    /// Logs an error and stores it as `lastError`, until a reload succeeds. For errors in code without a caller to
    /// throw to. Any thread may call it; a closed runtime ignores it.
    public func note(_ error: any Error) { core.note(InvivoError(error)) }
}

extension Core {
    /// Calls code whose errors are logged, because no caller can receive them. `who` names the code in the log.
    func noting(_ who: String, _ body: () throws -> Void) {
        do { try body() } catch {
            var thrown = InvivoError(error)
            thrown.message = "\(who) threw: \(thrown.message)"
            note(thrown)
        }
    }

    fileprivate func note(_ error: InvivoError) {
        let raw = error.made(table)
        _ = table.pointee.runtime_note_error(handle, raw)
        table.pointee.error_release(raw)
    }
}

private final class KeptReports {
    private let table: Table
    private(set) var reports: [Reload] = []

    init(_ table: Table) { self.table = table }

    func append(_ report: OpaquePointer) { reports.append(Reload(report, table)) }
}
