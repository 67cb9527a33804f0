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

/// The options of C as the engine's own.
func engineOptions(_ pointer: UnsafePointer<invivo_runtime_options>?) throws(Failure) -> EngineOptions {
    var options = EngineOptions()
    guard let pointer else {
        options.log = .standardError(name: options.name)
        return options
    }
    let least = MemoryLayout<invivo_runtime_options>.offset(of: \.name) ?? 8
    let given = try versioned(pointer, "options", least: least, as: invivo_runtime_options.self)
    if let name = try optionalText(given.name, "options.name") { options.name = name }
    guard given.default_domain <= UInt32(INVIVO_DOMAIN_LOOP) else {
        throw Failure(
            .argument,
            "options.default_domain is \(given.default_domain); expected INVIVO_DOMAIN_OPENER or INVIVO_DOMAIN_LOOP")
    }
    options.isLoopDefault = given.default_domain == UInt32(INVIVO_DOMAIN_LOOP)
    let flags =
        INVIVO_RUNTIME_PENDING_TARGETS | INVIVO_RUNTIME_WITHOUT_NEEDS | INVIVO_RUNTIME_FOREIGN_FILES
        | INVIVO_RUNTIME_WITHOUT_CONTENT
    try requireKnown(given.flags, flags, "options.flags", "INVIVO_RUNTIME_...")
    guard given.log_level <= UInt32(INVIVO_LOG_SILENT) else {
        throw Failure(
            .argument,
            "options.log_level is \(given.log_level); expected INVIVO_LOG_TRACE (0) to INVIVO_LOG_SILENT (5)"
        )
    }
    options.allowsPendingTargets = given.flags & UInt32(INVIVO_RUNTIME_PENDING_TARGETS) != 0
    options.fillsNeeds = given.flags & UInt32(INVIVO_RUNTIME_WITHOUT_NEEDS) == 0
    if given.quiet_ms != .max { options.quiet = UInt64(given.quiet_ms) }
    if given.settle_max_ms != 0 { options.settleMaximum = UInt64(given.settle_max_ms) }
    options.commitTimeout = nanoseconds(given.commit_timeout_ms) ?? options.commitTimeout
    options.startTimeout = nanoseconds(given.start_timeout_ms) ?? options.startTimeout
    options.stopTimeout = nanoseconds(given.stop_timeout_ms) ?? options.stopTimeout
    if given.stop_grace_ms == .max {
        options.stopGrace = .max
    } else if given.stop_grace_ms != 0 {
        options.stopGrace = UInt64(given.stop_grace_ms) * 1_000_000
    }
    if given.pin_max_age_ms == .max {
        options.pinMaxAge = .max
    } else if given.pin_max_age_ms != 0 {
        options.pinMaxAge = UInt64(given.pin_max_age_ms) * 1_000_000
    }
    guard given.history <= 1_000 || given.history == .max else {
        throw Failure(
            .argument,
            "options.history is \(given.history): at most 1,000 generations are kept, or none (INVIVO_HISTORY_NONE)")
    }
    if given.history != 0 { options.history = given.history == .max ? 0 : Int(given.history) }
    if given.rule_timeout_ms != 0 { options.ruleTimeout = UInt64(given.rule_timeout_ms) * 1_000_000 }
    options.allowsForeignFiles = given.flags & UInt32(INVIVO_RUNTIME_FOREIGN_FILES) != 0
    options.quotesContent = given.flags & UInt32(INVIVO_RUNTIME_WITHOUT_CONTENT) == 0
    if given.load_timeout_ms == .max {
        options.loadTimeout = .max
    } else if given.load_timeout_ms != 0 {
        options.loadTimeout = UInt64(given.load_timeout_ms) * 1_000_000
    }
    if given.max_document_nodes != 0 { options.maxDocumentNodes = Int(clamping: given.max_document_nodes) }
    if given.max_each_entries != 0 {
        options.maxEachEntries = min(Int(clamping: given.max_each_entries), EntryPositions.most)
    }
    if given.max_document_bytes != 0 { options.maxDocumentBytes = Int(clamping: given.max_document_bytes) }
    let userData = HostPointer(given.log_user_data)
    var ended: (@Sendable () -> Void)?
    if let destroy = given.log_destroy { ended = { destroy(userData.raw) } }
    if let function = given.log {
        let log = LogSink(function, userData)
        options.log = Log(level: given.log_level, sink: { log.write($0, $1, $2, $3) }, ended: ended)
    } else {
        options.log = .standardError(name: options.name, level: given.log_level, ended: ended)
    }
    return options
}

/// A host's log function.
private struct LogSink {
    typealias Function = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<invivo_log_entry>?) -> Void
    private let function: Function
    private let userData: HostPointer

    init(_ function: @escaping Function, _ userData: HostPointer) {
        self.function = function
        self.userData = userData
    }

    func write(_ level: UInt32, _ message: String, _ path: String, _ fields: [(String, Value)]) {
        let box = CStrings()
        var owned = fields.map(\.1).map { $0.owned() }
        let pairs = zip(fields, owned).map { (field, value) -> invivo_pair in
            let name: UnsafePointer<CChar> = box.string(field.0)
            return invivo_pair(name: name, length: UInt64(field.0.utf8.count), value: value)
        }
        pairs.withUnsafeBufferPointer { pairs in
            let text: UnsafePointer<CChar> = box.string(message)
            let keyPath: UnsafePointer<CChar> = box.string(path)
            var entry = invivo_log_entry(
                struct_size: MemoryLayout<invivo_log_entry>.size, level: level, reserved: 0, message: text,
                path: keyPath, fields: pairs.baseAddress, field_count: UInt64(pairs.count))
            function(userData.raw, &entry)
        }
        for index in owned.indices { Value.free(&owned[index]) }
    }
}

@c @implementation
public func invivo_runtime_options_init(_ options: UnsafeMutablePointer<invivo_runtime_options>!) {
    // The structure of the first headers ends here.
    invivo_runtime_options_init_sized(options, MemoryLayout<invivo_runtime_options>.offset(of: \.start_timeout_ms) ?? 0)
}

@c @implementation
public func invivo_runtime_options_init_sized(
    _ options: UnsafeMutablePointer<invivo_runtime_options>!, _ struct_size: Int
) {
    guard let options else { return }
    let size = Int(min(UInt(bitPattern: struct_size), UInt(MemoryLayout<invivo_runtime_options>.size)))
    var defaults = invivo_runtime_options()
    defaults.struct_size = size
    defaults.quiet_ms = .max
    defaults.log_level = UInt32(INVIVO_LOG_INFO)
    withUnsafeBytes(of: defaults) {
        UnsafeMutableRawPointer(options).copyMemory(from: $0.baseAddress!, byteCount: size)
    }
}

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
        ("generation", .uint64(status.generation)), ("reloads", .uint64(status.reloads)),
        ("failures", .uint64(status.failures)), ("last_error", lastError ?? .null),
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
