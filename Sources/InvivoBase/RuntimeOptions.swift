/// The options of a runtime that can change while it is open, with the defaults.
///
/// Durations are nanoseconds, unless a comment says otherwise; the greatest number is no limit.
public struct RuntimeOptions: Sendable, Equatable {
    /// Milliseconds.
    public var quiet: UInt64 = 10
    /// Milliseconds.
    public var settleMaximum: UInt64 = 250
    /// How long a commit waits for a domain.
    public var commitTimeout: UInt64 = 5_000_000_000
    /// The lowest level that is logged; 5 logs nothing.
    public var logLevel = Log.Level.info.rawValue
    public var maxDocumentBytes = 1 << 20
    public var startTimeout: UInt64 = 60_000_000_000
    public var stopTimeout: UInt64 = 60_000_000_000
    /// For the end of a context.
    public var endTimeout: UInt64 = 5_000_000_000
    /// How long a retired object waits for references of its language.
    public var stopGrace: UInt64 = 30_000_000_000
    public var loadTimeout: UInt64 = 10_000_000_000
    public var maxDocumentNodes = 50_000
    public var maxEachEntries = 10_000
    /// The age at which an open pin is logged.
    public var pinMaxAge: UInt64 = 60_000_000_000
    /// The number of former generations whose content is kept.
    public var history = 16
    /// How long the rules of a change set may take together.
    public var ruleTimeout: UInt64 = 1_000_000_000

    public init() {}

    /// How long a followed file that is open for writing is left alone, in milliseconds.
    public var writerPatience: UInt64 { max(2_000, settleMaximum) }

    /// Lists the options that differ from the former ones, by their names in C: "quiet_ms 10 -> 2, history 16 -> none".
    public func differences(from former: RuntimeOptions) -> String {
        zip(former.texts, texts).filter { $0.text != $1.text }
            .map { "\($0.name) \($0.text) -> \($1.text)" }.joined(separator: ", ")
    }

    /// In the order of `invivo_runtime_options`.
    private var texts: [(name: String, text: String)] {
        func time(_ nanoseconds: UInt64) -> String {
            nanoseconds == .max ? "unlimited" : "\(nanoseconds / 1_000_000)"
        }
        return [
            ("quiet_ms", "\(quiet)"), ("settle_max_ms", "\(settleMaximum)"),
            ("commit_timeout_ms", time(commitTimeout)),
            ("log_level", Log.Level(rawValue: logLevel).map { "\($0)" } ?? "silent"),
            ("max_document_bytes", "\(maxDocumentBytes)"), ("start_timeout_ms", time(startTimeout)),
            ("stop_timeout_ms", time(stopTimeout)), ("end_timeout_ms", time(endTimeout)),
            ("stop_grace_ms", time(stopGrace)),
            ("load_timeout_ms", time(loadTimeout)), ("max_document_nodes", "\(maxDocumentNodes)"),
            ("max_each_entries", "\(maxEachEntries)"), ("pin_max_age_ms", time(pinMaxAge)),
            ("history", history == 0 ? "none" : "\(history)"), ("rule_timeout_ms", time(ruleTimeout)),
        ]
    }
}

/// The options in force of one runtime, and its log, whose level is one of them. Any thread may call, with any lock held.
///
/// Code that needs an option reads it here each time, and keeps it at most for one operation.
public final class LiveOptions: Sendable {
    /// Replaced as a whole.
    public struct Revision: Sendable {
        public let options: RuntimeOptions
        /// The number of changes, and never 0.
        public let number: UInt32

        public init(options: RuntimeOptions, number: UInt32) { (self.options, self.number) = (options, number) }
    }

    public let log: Log
    /// With a monitor of its own. Not a `Mutex`: one that is used before a fork fails in the child.
    private let state: Guarded<Revision>

    public init(_ options: RuntimeOptions = RuntimeOptions(), log: Log) {
        self.log = log
        state = Guarded(Revision(options: options, number: 1), by: Monitor())
        log.setLevel(options.logLevel)
    }

    public var current: RuntimeOptions { state.locked { $0.options } }
    public var revision: Revision { state.locked { $0 } }

    /// Changes options: all that `body` sets, or none if it throws. `body` runs with a lock held. Returns the former and the new ones.
    public func change(
        _ body: (inout RuntimeOptions, _ revision: UInt32) throws(Failure) -> Void
    ) throws(Failure) -> (former: RuntimeOptions, next: RuntimeOptions) {
        try state.locked { state throws(Failure) in
            let former = state.options
            var next = former
            try body(&next, state.number)
            guard next != former else { return (former, next) }
            state = Revision(options: next, number: max(1, state.number &+ 1))
            log.setLevel(next.logLevel)
            return (former, next)
        }
    }
}
