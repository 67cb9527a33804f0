public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoReload
internal import InvivoWiring

// runtime.h: opening and closing an engine, its domains, its log, its state.

typealias ErrorOut = UnsafeMutablePointer<OpaquePointer?>

@c @implementation
public func invivo_runtime_open(
    _ out: UnsafeMutablePointer<invivo_runtime>!, _ options: UnsafePointer<invivo_runtime_options>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_runtime()
    preparedErrors
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let engine = try Engine.open(try engineOptions(options))
        out.pointee.bits = engine.container.handle
    }
}

/// In a forked child there is nothing of its own to close.
private func close(_ runtime: invivo_runtime, deferring: Bool) throws(Failure) {
    guard ForkedRuntime(runtime.bits) == nil else { return }
    try Engine.find(runtime.bits).close(deferring: deferring)
}

@c @implementation
public func invivo_runtime_close(_ runtime: invivo_runtime, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in try close(runtime, deferring: false) }
}

@c @implementation
public func invivo_runtime_close_deferred(_ runtime: invivo_runtime, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in try close(runtime, deferring: true) }
}

@c @implementation
public func invivo_runtime_poll(
    _ runtime: invivo_runtime, _ timeout_ms: UInt32, _ ran: UnsafeMutablePointer<UInt32>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    ran?.pointee = 0
    return answering(error) { () throws(Failure) in
        let count = try Engine.find(runtime.bits).poll(milliseconds: timeout_ms)
        ran?.pointee = UInt32(clamping: count)
    }
}

@c @implementation
public func invivo_runtime_generation(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<UInt64>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try Engine.find(runtime.bits).container.currentGraph().generation
    }
}

@c @implementation
public func invivo_runtime_descriptor(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<Int32>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = -1
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try Engine.find(runtime.bits).container.domains.descriptor()
    }
}

@c @implementation
public func invivo_thread_prepare(_ runtime: invivo_runtime, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        _ = try Container.find(runtime.bits, .runtime)
        _ = currentThread().identity
    }
}

// MARK: - Domains

@c @implementation
public func invivo_domain_register(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_domain_options>!,
    _ out: UnsafeMutablePointer<invivo_domain>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_domain()
    return answering(error) { () throws(Failure) in
        guard let out, let options else { throw Failure(.argument, "out or options is NULL") }
        let least = MemoryLayout<invivo_domain_options>.offset(of: \.destroy) ?? 8
        let given = try versioned(options, "options", least: least, as: invivo_domain_options.self)
        guard let post = given.post else { throw Failure(.argument, "options.post is NULL") }
        try requireKnown(
            given.flags, INVIVO_DOMAIN_ANY_THREAD | INVIVO_DOMAIN_DEFAULT, "options.flags", "INVIVO_DOMAIN_...")
        let name = try optionalText(given.name, "options.name") ?? "host"
        let engine = try Engine.find(runtime.bits)
        let userData = HostPointer(given.user_data)
        let ended: (@Sendable () -> Void)? = given.destroy.map { destroy in { @Sendable in destroy(userData.raw) } }
        let isHere = given.is_current.map { ask in
            { @Sendable () -> Bool in currentThread().asking { ask(userData.raw) != 0 } }
        }
        guard (given.begin == nil) == (given.end == nil) else {
            throw Failure(.argument, "options.begin and options.end belong together: give both or none")
        }
        var notices: (begin: @Sendable () -> Void, end: @Sendable () -> Void)?
        if let begin = given.begin, let end = given.end {
            notices = ({ begin(userData.raw) }, { end(userData.raw) })
        }
        let domain = Domain(
            name: name,
            kind: .posted(anyThread: given.flags & UInt32(INVIVO_DOMAIN_ANY_THREAD) != 0) { job throws(Failure) in
                let bits = job.open()
                try CallbackResult.run("the post function of the domain '\(name)'") {
                    post(userData.raw, invivo_job(bits: bits), $0)
                }
            },
            isHere: isHere, notices: notices, destroy: ended)
        try engine.container.domains.add(domain, asDefault: given.flags & UInt32(INVIVO_DOMAIN_DEFAULT) != 0)
        out.pointee.bits = domain.register()
    }
}

/// The status of an operation on a posted job.
private func settled(_ job: invivo_job, _ body: (Job) -> Bool) -> invivo_status {
    do throws(Failure) { try Failure.refuseWhileAsking() } catch { return error.code.rawValue }
    if let found = HandleTable.find(job.bits, .job, as: Job.self), body(found) { return 0 }
    return (HandleTable.isParents(job.bits, .job) ? Status.forked : Status.stale).rawValue
}

@c @implementation
public func invivo_job_run(_ job: invivo_job) -> invivo_status {
    settled(job) { $0.run() }
}

@c @implementation
public func invivo_job_drop(_ job: invivo_job) -> invivo_status {
    settled(job) { $0.dropByHost() }
}

// MARK: - State

@c @implementation
public func invivo_runtime_inspect(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_runtime_info>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let facts = try Engine.find(runtime.bits).inspect()
        var info = invivo_runtime_info()
        info.generation = facts.generation
        info.reloads = facts.reloads
        info.failures = facts.failures
        info.definitions = facts.definitions
        info.objects = facts.objects
        info.leases = facts.leases
        info.targets = facts.targets
        info.sources = facts.sources
        info.retiring = facts.retiring
        info.waiting_jobs = facts.waitingJobs
        info.waiting_since_ns = facts.waitingSince
        info.overflows = facts.overflows
        info.rescans = facts.rescans
        info.unannounced = facts.unannounced
        try fill(out, "out", least: 16, with: info)
    }
}

@c @implementation
public func invivo_runtime_sources(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = invivo_value()
        let sources = try Engine.find(runtime.bits).sources()
        out.pointee = Value.list(
            sources.map { source in
                .map([
                    (name: "name", value: .string(source.name)), (name: "path", value: .string(source.path)),
                    (name: "follows", value: .string(source.follows)),
                    (name: "interval_ms", value: .uint64(source.intervalMs)),
                    (name: "reason", value: .string(source.reason)),
                    (name: "diverged", value: .bool(source.divergence != nil)),
                    (name: "live_hash", value: .string(source.divergence?.live ?? "")),
                    (name: "file_hash", value: .string(source.divergence?.file ?? "")),
                    (name: "role", value: .string(source.role)), (name: "refused", value: .bool(source.isRefused)),
                ])
            }
        ).owned()
    }
}

@c @implementation
public func invivo_runtime_last_error(_ runtime: invivo_runtime, _ out: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    out?.pointee = nil
    return answering(nil) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        if let failure = try Engine.find(runtime.bits).lastError { out.pointee = ErrorBox.make(failure) }
    }
}

@c @implementation
public func invivo_runtime_note_error(_ runtime: invivo_runtime, _ error: OpaquePointer!) -> invivo_status {
    answering(nil) { () throws(Failure) in
        let engine = try Engine.find(runtime.bits)
        guard let failure = ErrorBox.at(error)?.failure else { throw Failure(.argument, "error is NULL") }
        engine.note(failure)
    }
}

@c @implementation
public func invivo_live(_ out: UnsafeMutablePointer<invivo_live_counts>!) {
    guard let out else { return }
    var counts = invivo_live_counts()
    counts.runtimes = iv_load_u64(iv_live_runtimes())
    counts.objects = ObjectTable.liveCount()
    counts.callables = UInt64(clamping: Callable.liveCount)
    counts.errors = UInt64(clamping: ErrorBox.liveCount)
    counts.graphs = iv_load_u64(iv_live_graphs())
    counts.blocks = iv_load_u64(iv_live_blocks())
    counts.threads = iv_load_u64(iv_live_threads())
    counts.descriptors = iv_load_u64(iv_live_descriptors())
    counts.contexts = iv_load_u64(iv_live_contexts())
    // Leaves `out` unchanged if its struct_size belongs to no version.
    do throws(Failure) { try fill(out, "out", least: 16, with: counts) } catch {}
}

@c @implementation
public func invivo_runtime_status(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = value(of: try Engine.find(runtime.bits).status()).owned()
    }
}

private func value(of status: RuntimeStatus) -> Value {
    let lastError: Value? = status.lastError.map { failure in
        .map([
            ("status", .string(StatusTable.entry(failure.code.rawValue).map { "\($0.name)" } ?? "")),
            ("message", .string(failure.message)),
            ("path", .string(failure.path)), ("file", .string(failure.location.file)),
            ("line", .uint64(UInt64(failure.location.line))), ("column", .uint64(UInt64(failure.location.column))),
        ])
    }
    let kept = status.kept.map { each -> Value in
        .map([("key", .string(each.key)), ("dependency", .string(each.dependency)), ("since", .uint64(each.since))])
    }
    let restarts = status.restarts.map { each -> Value in
        .map([("key", .string(each.key)), ("property", .string(each.property)), ("since", .uint64(each.since))])
    }
    let former = status.former.map { each -> Value in
        .map([
            ("generation", .uint64(each.generation)), ("age_ns", .uint64(each.age)),
            ("objects", .uint64(UInt64(each.objects))), ("bytes", .uint64(each.bytes)),
            ("threads", .list(each.threads.map { .uint64(UInt64($0)) })),
        ])
    }
    let pins = status.pins.map { pin -> Value in
        .map([
            ("generation", .uint64(pin.generation)),
            ("age_ns", .uint64(status.time > pin.since ? status.time - pin.since : 0)),
            ("thread", .uint64(UInt64(pin.thread))), ("place", .string(pin.place)),
        ])
    }
    return .map([
        ("generation", .uint64(status.generation)), ("step", .uint64(status.step)),
        ("moving", .uint64(UInt64(status.moving))), ("reloads", .uint64(status.counts.reloads)),
        ("failures", .uint64(status.counts.failures)), ("last_error", lastError ?? .null),
        ("running", status.running.map(Value.string) ?? .null), ("waiting_sets", .uint64(UInt64(status.waitingSets))),
        ("waiting_jobs", .uint64(UInt64(status.waitingJobs))), ("diverged", .list(status.diverged.map(Value.string))),
        ("kept", .list(kept)), ("restart", .list(restarts)), ("former", .list(former)),
        ("unrestored", .list(status.unrestored.map(Value.string))),
        ("pins", .list(pins)),
    ])
}

@c @implementation
public func invivo_runtime_retired(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let retired = try Engine.find(runtime.bits).retiredObjects()
        out.pointee = Value.list(
            retired.map { each in
                .map([
                    ("key", .string(each.key)), ("type", .string(each.type)), ("reason", .string(each.reason.rawValue)),
                    ("leases", .uint64(each.leases)), ("retired_ns", .uint64(each.retired)),
                    ("idle_ns", .uint64(each.idle)),
                ])
            }
        ).owned()
    }
}
