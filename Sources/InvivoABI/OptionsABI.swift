public import CInvivo
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoReload
internal import InvivoWiring

// runtime.h: the options of a runtime.

private typealias Options = invivo_runtime_options

/// The options of C as the engine's own.
func engineOptions(_ pointer: UnsafePointer<invivo_runtime_options>?) throws(Failure) -> EngineOptions {
    var options = EngineOptions()
    guard let pointer else {
        options.fixed.host = HostOptions(
            name: options.fixed.name, environmentPrefix: nil, log: nil, logUserData: HostPointer(nil), logDestroy: nil,
            documentRoots: [])
        options.log = .standardError(name: options.fixed.name)
        return options
    }
    let given = try versioned(pointer, "options", least: leastSize, as: Options.self)
    if let name = try optionalText(given.name, "options.name") { options.fixed.name = name }
    guard given.default_domain <= UInt32(INVIVO_DOMAIN_LOOP) else {
        throw Failure(
            .argument,
            "options.default_domain is \(given.default_domain); expected INVIVO_DOMAIN_OPENER or INVIVO_DOMAIN_LOOP")
    }
    options.fixed.isLoopDefault = given.default_domain == UInt32(INVIVO_DOMAIN_LOOP)
    let flags =
        INVIVO_RUNTIME_PENDING_TARGETS | INVIVO_RUNTIME_WITHOUT_NEEDS | INVIVO_RUNTIME_FOREIGN_FILES
        | INVIVO_RUNTIME_WITHOUT_CONTENT
    try requireKnown(given.flags, flags, "options.flags", "INVIVO_RUNTIME_...")
    options.changeable = try RuntimeOptions(given)
    if let prefix = try optionalText(given.environment_prefix, "options.environment_prefix") {
        guard !prefix.isEmpty, !prefix.utf8.contains(UInt8(ascii: "=")) else {
            throw Failure(
                .argument,
                "options.environment_prefix is \(prefix.isEmpty ? "empty" : "'\(prefix)'"); expected the beginning of the names "
                    + "of variables, such as INVIVO__; leave the prefix out for no variables")
        }
        options.fixed.environmentPrefix = prefix
    }
    options.fixed.allowsPendingTargets = given.flags & UInt32(INVIVO_RUNTIME_PENDING_TARGETS) != 0
    options.fixed.fillsNeeds = given.flags & UInt32(INVIVO_RUNTIME_WITHOUT_NEEDS) == 0
    options.fixed.allowsForeignFiles = given.flags & UInt32(INVIVO_RUNTIME_FOREIGN_FILES) != 0
    options.fixed.quotesContent = given.flags & UInt32(INVIVO_RUNTIME_WITHOUT_CONTENT) == 0
    switch given.ramp_tick_ms {
    case 0: break
    case 1...10_000: options.fixed.rampTick = UInt64(given.ramp_tick_ms)
    case UInt32.max: options.fixed.rampTick = nil
    default:
        throw Failure(
            .argument,
            "options.ramp_tick_ms is \(given.ramp_tick_ms); expected at most 10,000, 0 for the default, or "
                + "INVIVO_RAMP_TICK_MANUAL")
    }
    let roots = try givenRoots(given)
    options.fixed.documentRoots = try roots.map { root throws(Failure) in try FilePath(root).normal }
    let userData = HostPointer(given.log_user_data)
    options.fixed.host = HostOptions(
        name: options.fixed.name, environmentPrefix: options.fixed.environmentPrefix, log: given.log,
        logUserData: userData, logDestroy: given.log_destroy, documentRoots: roots)
    var ended: (@Sendable () -> Void)?
    if let destroy = given.log_destroy { ended = { destroy(userData.raw) } }
    if let function = given.log {
        let log = LogSink(function, userData)
        options.log = Log(level: given.log_level, sink: { log.write($0, $1, $2, $3) }, ended: ended)
    } else {
        options.log = .standardError(name: options.fixed.name, level: given.log_level, ended: ended)
    }
    return options
}

private func givenRoots(_ given: Options) throws(Failure) -> [String] {
    guard try isTable(given.document_roots, given.document_root_count, "options.document_roots") else { return [] }
    guard given.document_root_count <= 1_000 else {
        throw Failure(
            .argument, "options.document_root_count is \(given.document_root_count); at most 1,000 are allowed")
    }
    return try (0..<Int(given.document_root_count)).map { index throws(Failure) in
        try text(given.document_roots[index], "options.document_roots[\(index)]")
    }
}

private let leastSize = MemoryLayout<Options>.offset(of: \.name) ?? 8

extension RuntimeOptions {
    /// The options of C that can change. Values that stand for a default become the default.
    fileprivate init(_ given: Options) throws(Failure) {
        guard given.log_level <= UInt32(INVIVO_LOG_SILENT) else {
            throw Failure(
                .argument,
                "options.log_level is \(given.log_level); expected INVIVO_LOG_TRACE (0) to INVIVO_LOG_SILENT (5)"
            )
        }
        guard given.history <= 1_000 || given.history == .max else {
            throw Failure(
                .argument,
                "options.history is \(given.history): at most 1,000 generations are kept, or none (INVIVO_HISTORY_NONE)"
            )
        }
        self.init()
        logLevel = given.log_level
        if given.quiet_ms != .max { quiet = UInt64(given.quiet_ms) }
        if given.settle_max_ms != 0 { settleMaximum = UInt64(given.settle_max_ms) }
        commitTimeout = nanoseconds(given.commit_timeout_ms) ?? commitTimeout
        startTimeout = nanoseconds(given.start_timeout_ms) ?? startTimeout
        stopTimeout = nanoseconds(given.stop_timeout_ms) ?? stopTimeout
        endTimeout = nanoseconds(given.end_timeout_ms) ?? endTimeout
        stopGrace = nanoseconds(given.stop_grace_ms) ?? stopGrace
        loadTimeout = nanoseconds(given.load_timeout_ms) ?? loadTimeout
        pinMaxAge = nanoseconds(given.pin_max_age_ms) ?? pinMaxAge
        if given.rule_timeout_ms != 0 { ruleTimeout = UInt64(given.rule_timeout_ms) * 1_000_000 }
        if given.history != 0 { history = given.history == .max ? 0 : Int(given.history) }
        if given.max_document_bytes != 0 { maxDocumentBytes = Int(clamping: given.max_document_bytes) }
        if given.max_document_nodes != 0 { maxDocumentNodes = Int(clamping: given.max_document_nodes) }
        if given.max_each_entries != 0 {
            maxEachEntries = min(Int(clamping: given.max_each_entries), EntryPositions.most)
        }
    }

    /// Writes them into options of C.
    fileprivate func write(to raw: inout Options) {
        func milliseconds(_ nanoseconds: UInt64) -> UInt32 {
            nanoseconds == .max ? .max : UInt32(clamping: nanoseconds / 1_000_000)
        }
        (raw.quiet_ms, raw.settle_max_ms) = (UInt32(clamping: quiet), UInt32(clamping: settleMaximum))
        raw.commit_timeout_ms = milliseconds(commitTimeout)
        raw.log_level = logLevel
        raw.max_document_bytes = UInt64(maxDocumentBytes)
        (raw.start_timeout_ms, raw.stop_timeout_ms) = (milliseconds(startTimeout), milliseconds(stopTimeout))
        raw.end_timeout_ms = milliseconds(endTimeout)
        raw.stop_grace_ms = milliseconds(stopGrace)
        raw.load_timeout_ms = milliseconds(loadTimeout)
        raw.max_document_nodes = UInt64(maxDocumentNodes)
        raw.max_each_entries = UInt64(maxEachEntries)
        raw.pin_max_age_ms = milliseconds(pinMaxAge)
        raw.history = history == 0 ? .max : UInt32(history)
        raw.rule_timeout_ms = milliseconds(ruleTimeout)
    }
}

extension FixedOptions {
    /// Writes them into options of C. The name is borrowed from the runtime.
    fileprivate func write(to raw: inout Options) {
        raw.default_domain = UInt32(isLoopDefault ? INVIVO_DOMAIN_LOOP : INVIVO_DOMAIN_OPENER)
        if allowsPendingTargets { raw.flags |= UInt32(INVIVO_RUNTIME_PENDING_TARGETS) }
        if !fillsNeeds { raw.flags |= UInt32(INVIVO_RUNTIME_WITHOUT_NEEDS) }
        if allowsForeignFiles { raw.flags |= UInt32(INVIVO_RUNTIME_FOREIGN_FILES) }
        if !quotesContent { raw.flags |= UInt32(INVIVO_RUNTIME_WITHOUT_CONTENT) }
        raw.name = host?.name.pointer
        raw.environment_prefix = host?.environmentPrefix?.pointer
        raw.document_roots = host?.documentRoots
        raw.document_root_count = UInt64(documentRoots.count)
        raw.ramp_tick_ms = rampTick.map { UInt32(clamping: $0) } ?? .max
        (raw.log, raw.log_user_data, raw.log_destroy) = (host?.log, host?.logUserData.raw, host?.logDestroy)
    }

    /// Fails if an option of C differs that cannot change.
    fileprivate func requireSame(_ given: Options) throws(Failure) {
        var own = Options()
        write(to: &own)
        let name = try optionalText(given.name, "options.name")
        guard (name ?? FixedOptions().name).utf8.elementsEqual(self.name.utf8) else {
            throw fixed("name", " is \(name.map { "'\($0)'" } ?? "NULL"), the runtime's is '\(self.name)'")
        }
        guard given.default_domain == own.default_domain else {
            throw fixed("default_domain", " is \(given.default_domain), the runtime's is \(own.default_domain)")
        }
        guard given.flags == own.flags else {
            throw fixed("flags", " is \(given.flags), the runtime's is \(own.flags)")
        }
        let tick = given.ramp_tick_ms == 0 ? FixedOptions().rampTick.map { UInt32(clamping: $0) } : given.ramp_tick_ms
        guard tick == own.ramp_tick_ms else {
            throw fixed("ramp_tick_ms", " is \(given.ramp_tick_ms), the runtime's is \(own.ramp_tick_ms)")
        }
        let (roots, ownRoots) = (try givenRoots(given), try givenRoots(own))
        guard roots == ownRoots else { throw fixed("document_roots", " is not the runtime's") }
        func address<Function>(_ function: Function?) -> Int { function.map { unsafeBitCast($0, to: Int.self) } ?? 0 }
        guard address(given.log) == address(own.log) else { throw fixed("log", " is not the runtime's") }
        let prefix = try optionalText(given.environment_prefix, "options.environment_prefix")
        guard prefix.isSameName(as: environmentPrefix) else {
            let own = environmentPrefix.map { "'\($0)'" } ?? "NULL"
            throw fixed("environment_prefix", " is \(prefix.map { "'\($0)'" } ?? "NULL"), the runtime's is \(own)")
        }
        guard given.log_user_data == own.log_user_data else { throw fixed("log_user_data", " is not the runtime's") }
        guard address(given.log_destroy) == address(own.log_destroy) else {
            throw fixed("log_destroy", " is not the runtime's")
        }
    }

    private func fixed(_ field: String, _ difference: String) -> Failure {
        Failure(
            .argument,
            "options.\(field)\(difference): it cannot change while the runtime is open; begin with the options of "
                + "invivo_runtime_options_read, or open another runtime")
    }
}

/// A host's log function.
private struct LogSink {
    private let function: HostOptions.Write
    private let userData: HostPointer

    init(_ function: @escaping HostOptions.Write, _ userData: HostPointer) {
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
public func invivo_runtime_options_read(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_runtime_options>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let engine = try Engine.find(runtime.bits)
        try fill(out, "out", least: leastSize, with: options(of: engine, engine.container.options.revision))
    }
}

@c @implementation
public func invivo_runtime_options_change(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_runtime_options>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let pointer = options else { throw Failure(.argument, "options is NULL") }
        let engine = try Engine.find(runtime.bits)
        try engine.changeOptions { (current, revision) throws(Failure) in
            var former = InvivoABI.options(of: engine, .init(options: current, number: revision))
            former.revision = 0
            let given = try versioned(pointer, "options", least: leastSize, over: former)
            guard given.revision == 0 || given.revision == revision else {
                throw Failure(
                    .stale,
                    "the options were changed since they were read: read them again, or set options.revision to 0")
            }
            try engine.options.requireSame(given)
            current = try RuntimeOptions(given)
        }
    }
}

private func options(of engine: Engine, _ current: LiveOptions.Revision) -> invivo_runtime_options {
    var raw = Options()
    raw.struct_size = MemoryLayout<Options>.size
    engine.options.write(to: &raw)
    current.options.write(to: &raw)
    raw.revision = current.number
    return raw
}
