internal import CInvivo

extension Runtime {
    /// The options of a runtime.
    public struct Options: Sendable {
        /// The name of the runtime, for threads and messages.
        public var name: String?
        /// The domain of objects whose types are not `Sendable`.
        public var home: Home = .automatic
        /// The quiet time of a document before it is read; nil is 10 ms.
        public var quiet: Duration?
        /// The longest time for which events of a document delay its reading; nil is 250 ms.
        public var settleMaximum: Duration?
        /// The limit of a commit's wait for the thread of the objects that it changes; nil is 5 s, and
        /// `.seconds(Int64.max)` no limit. At the limit the commit fails, and other commits continue.
        public var commitTimeout: Duration?
        /// Called on the main actor before a commit changes or calls anything there: a toolkit can freeze its windows. Needs
        /// `commitEnd`, and a runtime whose confined objects live on the main actor.
        public var commitBegin: (@MainActor @Sendable () -> Void)?
        /// Called on the main actor after such a commit or its undo: the new generation is visible, and `refresh` and
        /// `finalize` have run. Neither may wait for a reload.
        public var commitEnd: (@MainActor @Sendable () -> Void)?
        /// The limit of a start whose definition has none; nil is 60 s, and `.seconds(Int64.max)` no limit. A start
        /// that exceeds it has failed, and the object is stopped.
        public var startTimeout: Duration?
        /// The limit of a stop; nil is 60 s. A longer one is an error in the report.
        public var stopTimeout: Duration?
        /// The limit for the end of a context, with the builds that it waits for and all its stops; nil is 5 s, and
        /// `.seconds(Int64.max)` no limit.
        public var endTimeout: Duration?
        /// The longest time for which a replaced or removed object waits for the program's last reference before it is
        /// stopped. A stop at the limit is logged as a warning. nil: no limit.
        public var stopGrace: Duration? = .seconds(30)
        /// Whether documents may refer to keys that are not defined yet. nil: only with documents that are followed
        /// from the start.
        public var pendingTargets: Bool?
        /// The largest document that is read; nil is 1 MiB.
        public var maximumDocumentSize: Int?
        /// The maximum number of values in a document, including lists and maps; nil is 50,000.
        public var maximumDocumentNodes: Int?
        /// The maximum number of entries for a definition with `each`; nil is 10,000.
        public var maximumEachEntries: Int?
        /// The age at which an open pin is logged, with the place where it began; nil is 60 s, and 50 days or more are never.
        public var pinMaximumAge: Duration?
        /// The number of former generations to which a rollback is possible; nil is 16, at most 1,000.
        public var history: Int?
        /// The limit for the rules of a reload together; nil is 1 s.
        public var ruleTimeout: Duration?
        /// The limit for reading and planning documents; nil is 10 s, and 50 days or more are no limit.
        public var loadTimeout: Duration?
        /// Whether modules and manifests may be files that other users own or can write.
        public var allowsForeignFiles = false
        /// Whether errors about documents quote their text.
        public var quotesContent = true
        /// Directories whose files spec files may read by `include:` and `file:`, beside those of their own directory.
        public var documentRoots: [String] = []
        /// The time between two steps of a property that moves to its value (the trait Ramp); nil is 10 ms.
        public var rampTick: RampTick?
        /// Whether declared dependencies of types are injected, such as `@Injected` properties.
        public var fillsInjected = true
        /// Variables of the environment whose names begin with this set configuration values above all documents. With
        /// "INVIVO__", the variable `INVIVO__audio__rate` sets `audio.rate`. nil: none.
        public var environmentPrefix: String?
        /// The least level that is logged; `.silent` logs nothing.
        public var logLevel: LogLevel = .info
        /// Receives log entries, on any thread; never after close or in a forked child. nil: warnings and errors are
        /// written to standard error, each as one line or block.
        public var log: (@Sendable (LogEntry) -> Void)?

        /// The defaults.
        public init() {}
    }

    /// The options that can change while a runtime is open, with the values in force. See `Options` for their meaning.
    ///
    /// `.seconds(Int64.max)` is no limit.
    public struct ChangeableOptions: Sendable, Hashable {
        public var quiet: Duration
        public var settleMaximum: Duration
        public var commitTimeout: Duration
        public var startTimeout: Duration
        public var stopTimeout: Duration
        public var endTimeout: Duration
        /// nil: no limit.
        public var stopGrace: Duration?
        public var maximumDocumentSize: Int
        public var maximumDocumentNodes: Int
        public var maximumEachEntries: Int
        public var pinMaximumAge: Duration
        public var history: Int
        public var ruleTimeout: Duration
        public var loadTimeout: Duration
        public var logLevel: LogLevel
    }

    /// The options in force that can change.
    public var options: ChangeableOptions {
        get throws(InvivoError) { ChangeableOptions(try core.rawOptions) }
    }

    /// Changes options: `try runtime.change { $0.quiet = .milliseconds(2) }`.
    ///
    /// All changes take effect together, or none if one is refused. `body` is called again if another thread has changed
    /// options meanwhile. May be called on any thread, and in callbacks. An operation that has begun ends with the former values.
    /// A quiet time, a grace time, a pin age and a lower `history` apply at once, also to files that have changed, retired objects
    /// and pins that are there already.
    public func change(_ body: (inout ChangeableOptions) -> Void) throws(InvivoError) {
        while true {
            var raw = try core.rawOptions
            let former = ChangeableOptions(raw)
            var options = former
            body(&options)
            guard options != former else { return }
            options.write(to: &raw)
            do throws(InvivoError) {
                return try core.call { $0.pointee.runtime_options_change(core.handle, &raw, $1) }
            } catch { guard error.code == .stale else { throw error } }
        }
    }

    /// The clock of the properties that move to their values.
    public enum RampTick: Sendable, Hashable {
        /// One step in each such time, at most 10 s.
        case every(Duration)
        /// The clock stands until `Runtime.advance(by:)`.
        case manual
    }

    /// The domain of confined objects.
    public enum Home: Sendable {
        /// The main actor if a task opens the runtime there, as in a program whose main code awaits; otherwise the
        /// thread that opens the runtime.
        case automatic
        /// The thread that opens the runtime.
        case openingThread
        /// The runtime's own thread: changes are applied without calls of the program.
        case loop
        /// The main actor: changes are applied while it awaits, and in calls on it that wait. Its code moves between
        /// threads (on Linux, the main thread ends with the first `await`), so a program that awaits cannot use a
        /// thread as its home. From other tasks, use `await MainActor.run { … }`.
        case mainActor
    }
}

/// The severity of a log message.
public enum LogLevel: UInt32, Sendable, Comparable, CaseIterable {
    case trace, debug, info, warning, error, silent

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A message of the log.
public struct LogEntry {
    /// The severity.
    public var level: LogLevel
    /// The complete message.
    public var message: String
    /// The key path that the message refers to, for filters; may be empty.
    public var path: String
    /// Further values of any kind.
    public var fields: [String: InvivoValue]
}

extension LogEntry: CustomStringConvertible {
    public var description: String {
        let fields = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return "\(level): \(message)\(fields)"
    }
}

/// The user data of a log closure in the C ABI. Values in fields are plain: no runtime exists yet to hold objects.
final class LogBox: Sendable {
    let log: @Sendable (LogEntry) -> Void

    init(_ log: @escaping @Sendable (LogEntry) -> Void) { self.log = log }

    func handle(_ entry: invivo_log_entry) {
        var fields: [String: InvivoValue] = [:]
        for pair in UnsafeBufferPointer(start: entry.fields, count: Int(entry.field_count)) {
            guard let name = pair.name else { continue }
            let bytes = UnsafeBufferPointer(start: name, count: Int(pair.length))
            fields[String(decoding: bytes.lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)] = InvivoValue(
                plain: pair.value)
        }
        log(
            LogEntry(
                level: LogLevel(rawValue: entry.level) ?? .error, message: String(text: entry.message),
                path: String(text: entry.path), fields: fields))
    }
}

extension InvivoValue {
    /// A number, boolean or text; anything else is null.
    fileprivate init(plain value: invivo_value) {
        switch InvivoKind(rawValue: value.kind) {
        case .bool: self = .bool(value.as.boolean)
        case .int8, .int16, .int32, .int64: self = .int64(value.as.signed_integer)
        case .uint8, .uint16, .uint32, .uint64: self = .uint64(value.as.unsigned_integer)
        case .float: self = .float(value.as.single)
        case .double: self = .double(value.as.number)
        case .string:
            let bytes = UnsafeBufferPointer(start: value.as.string.data, count: Int(value.as.string.length))
            self = .string(String(decoding: bytes.lazy.map(UInt8.init(bitPattern:)), as: UTF8.self))
        default: self = .null
        }
    }
}

extension Runtime.Options {
    /// Calls `open` with the options of the C side. The C side owns a log box in them once `open` has succeeded.
    func opening(
        _ arena: Arena, _ table: Table, _ open: (UnsafePointer<invivo_runtime_options>) throws(InvivoError) -> Void
    ) throws(InvivoError) {
        var raw = try raw(arena, table)
        do throws(InvivoError) {
            try withUnsafePointer(to: &raw) { raw throws(InvivoError) in try open(raw) }
        } catch {
            raw.log_destroy?(raw.log_user_data)
            throw error
        }
    }

    private func raw(_ arena: Arena, _ table: Table) throws(InvivoError) -> invivo_runtime_options {
        var raw = invivo_runtime_options()
        table.pointee.runtime_options_init_sized(&raw, MemoryLayout<invivo_runtime_options>.size)
        if let name { raw.name = try arena.name(name) }
        if let environmentPrefix { raw.environment_prefix = try arena.name(environmentPrefix) }
        raw.default_domain = UInt32(home == .loop ? INVIVO_DOMAIN_LOOP : INVIVO_DOMAIN_OPENER)
        if pendingTargets == true { raw.flags |= UInt32(INVIVO_RUNTIME_PENDING_TARGETS) }
        if !fillsInjected { raw.flags |= UInt32(INVIVO_RUNTIME_WITHOUT_NEEDS) }
        if let quiet { raw.quiet_ms = quiet.milliseconds }
        if let settleMaximum { raw.settle_max_ms = max(1, settleMaximum.milliseconds) }
        if let commitTimeout { raw.commit_timeout_ms = commitTimeout.milliseconds }
        if let startTimeout { raw.start_timeout_ms = startTimeout.milliseconds }
        if let stopTimeout { raw.stop_timeout_ms = stopTimeout.milliseconds }
        if let endTimeout { raw.end_timeout_ms = max(1, endTimeout.milliseconds) }
        if let maximumDocumentNodes { raw.max_document_nodes = UInt64(clamping: maximumDocumentNodes) }
        if let maximumEachEntries { raw.max_each_entries = UInt64(clamping: maximumEachEntries) }
        if let pinMaximumAge { raw.pin_max_age_ms = max(1, pinMaximumAge.milliseconds) }
        if let history { raw.history = history == 0 ? .max : UInt32(clamping: max(0, history)) }
        if let ruleTimeout { raw.rule_timeout_ms = max(1, ruleTimeout.milliseconds) }
        if let loadTimeout { raw.load_timeout_ms = loadTimeout.milliseconds }
        if allowsForeignFiles { raw.flags |= UInt32(INVIVO_RUNTIME_FOREIGN_FILES) }
        if !documentRoots.isEmpty {
            raw.document_roots = try arena.names(documentRoots)
            raw.document_root_count = UInt64(documentRoots.count)
        }
        switch rampTick {
        case .every(let time): raw.ramp_tick_ms = max(1, time.milliseconds)
        case .manual: raw.ramp_tick_ms = .max
        case nil: break
        }
        if !quotesContent { raw.flags |= UInt32(INVIVO_RUNTIME_WITHOUT_CONTENT) }
        raw.stop_grace_ms = stopGrace.map { max(1, $0.milliseconds) } ?? .max
        if let maximumDocumentSize { raw.max_document_bytes = UInt64(clamping: maximumDocumentSize) }
        raw.log_level = logLevel.rawValue
        if let log {
            raw.log_user_data = Unmanaged.passRetained(LogBox(log)).toOpaque()
            raw.log = { data, entry in
                guard let data, let entry else { return }
                Unmanaged<LogBox>.fromOpaque(data).takeUnretainedValue().handle(entry.pointee)
            }
            raw.log_destroy = { data in if let data { Unmanaged<LogBox>.fromOpaque(data).release() } }
        }
        return raw
    }
}

extension Core {
    fileprivate var rawOptions: invivo_runtime_options {
        get throws(InvivoError) {
            var raw = invivo_runtime_options()
            raw.struct_size = MemoryLayout<invivo_runtime_options>.size
            try call { $0.pointee.runtime_options_read(handle, &raw, $1) }
            return raw
        }
    }
}

extension Runtime.ChangeableOptions {
    fileprivate init(_ raw: invivo_runtime_options) {
        func duration(_ milliseconds: UInt32) -> Duration {
            milliseconds == .max ? .seconds(Int64.max) : .milliseconds(milliseconds)
        }
        (quiet, settleMaximum) = (duration(raw.quiet_ms), duration(raw.settle_max_ms))
        commitTimeout = duration(raw.commit_timeout_ms)
        (startTimeout, stopTimeout) = (duration(raw.start_timeout_ms), duration(raw.stop_timeout_ms))
        endTimeout = duration(raw.end_timeout_ms)
        stopGrace = raw.stop_grace_ms == .max ? nil : duration(raw.stop_grace_ms)
        maximumDocumentSize = Int(clamping: raw.max_document_bytes)
        maximumDocumentNodes = Int(clamping: raw.max_document_nodes)
        maximumEachEntries = Int(clamping: raw.max_each_entries)
        pinMaximumAge = duration(raw.pin_max_age_ms)
        history = raw.history == .max ? 0 : Int(raw.history)
        (ruleTimeout, loadTimeout) = (duration(raw.rule_timeout_ms), duration(raw.load_timeout_ms))
        logLevel = LogLevel(rawValue: raw.log_level) ?? .silent
    }

    /// Zero would be the default in C: a limit is at least one.
    fileprivate func write(to raw: inout invivo_runtime_options) {
        func milliseconds(_ duration: Duration) -> UInt32 { max(1, duration.milliseconds) }
        func count(_ number: Int) -> UInt64 { UInt64(clamping: max(1, number)) }
        (raw.quiet_ms, raw.settle_max_ms) = (quiet.milliseconds, milliseconds(settleMaximum))
        raw.commit_timeout_ms = milliseconds(commitTimeout)
        (raw.start_timeout_ms, raw.stop_timeout_ms) = (milliseconds(startTimeout), milliseconds(stopTimeout))
        raw.end_timeout_ms = milliseconds(endTimeout)
        raw.stop_grace_ms = stopGrace.map(milliseconds) ?? .max
        raw.max_document_bytes = count(maximumDocumentSize)
        raw.max_document_nodes = count(maximumDocumentNodes)
        raw.max_each_entries = count(maximumEachEntries)
        raw.pin_max_age_ms = milliseconds(pinMaximumAge)
        raw.history = history <= 0 ? .max : UInt32(clamping: min(history, 1_000_000))
        (raw.rule_timeout_ms, raw.load_timeout_ms) = (milliseconds(ruleTimeout), milliseconds(loadTimeout))
        raw.log_level = logLevel.rawValue
    }
}
