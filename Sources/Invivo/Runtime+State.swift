internal import CInvivo

extension Runtime {
    /// The counts of a runtime.
    public struct Info: Sendable, Hashable {
        /// The current generation.
        public let generation: UInt64
        /// Reloads that were committed.
        public let reloads: UInt64
        /// Reloads that were rolled back.
        public let failures: UInt64
        public let definitions: UInt64
        /// Objects alive, shared and not.
        public let objects: UInt64
        /// Claims on objects that are held outside the graph.
        public let leases: UInt64
        public let targets: UInt64
        public let sources: UInt64
        /// Generations that still have readers or leases.
        public let retiring: UInt64
        /// Jobs that wait for a thread to `poll`.
        public let waitingJobs: UInt64
        /// The waiting time of the oldest one.
        public let waitingSince: Duration
        /// The number of overflows of the kernel's queue of file events.
        public let overflows: UInt64
        /// The number of checks of all files without an event.
        public let rescans: UInt64
        /// The changes that these checks found in files with watched directories.
        public let unannounced: UInt64
    }

    /// The counts of this runtime.
    public var info: Info {
        get throws(InvivoError) {
            var raw = invivo_runtime_info()
            raw.struct_size = MemoryLayout<invivo_runtime_info>.size
            try core.call { $0.pointee.runtime_inspect(core.handle, &raw, $1) }
            return Info(
                generation: raw.generation, reloads: raw.reloads, failures: raw.failures, definitions: raw.definitions,
                objects: raw.objects, leases: raw.leases, targets: raw.targets, sources: raw.sources,
                retiring: raw.retiring, waitingJobs: raw.waiting_jobs,
                waitingSince: .nanoseconds(Int64(clamping: raw.waiting_since_ns)), overflows: raw.overflows,
                rescans: raw.rescans, unannounced: raw.unannounced)
        }
    }

    /// A document, and how its changes are noticed.
    public struct SourceState: Sendable, Hashable {
        /// The way in which changes are noticed.
        public enum Following: Sendable, Hashable {
            /// Events announce them.
            case watching
            /// The file is checked at intervals, because it cannot be watched.
            case polling(every: Duration, reason: String)
            /// The document is in memory: it changes by calls alone.
            case memory
            /// The source is closed, and a rollback has brought its content back.
            case closed
        }

        public let name: String
        /// Empty for a document in memory.
        public let path: String
        public let following: Following
        public let role: Role
        /// The hashes of the live content and of the file, if the file has bytes that a rollback refused.
        public let divergence: Divergence?
        /// Whether the present content of the file was refused and is not live. It is tried again in each change set.
        public let isRefused: Bool
    }

    /// The way in which a document belongs to the runtime.
    public enum Role: String, Sendable, Hashable {
        /// It was opened.
        case source
        /// Spec files include it.
        case include
        /// It is the value of a string, `file:`.
        case value
    }

    /// The hash of the live content of a document, and that of the bytes of its file, which a rollback refused.
    public struct Divergence: Sendable, Hashable {
        /// Empty if the document has no content.
        public let live: String
        public let file: String
    }

    /// The documents, in the order in which later ones win.
    public var sources: [SourceState] {
        get throws(InvivoError) {
            var raw = invivo_value()
            try core.call { $0.pointee.runtime_sources(core.handle, &raw, $1) }
            guard case .list(let entries) = try InvivoValue(taking: &raw, core) else { return [] }
            return entries.compactMap { entry in
                guard case .map(let fields) = entry else { return nil }
                func text(_ name: String) -> String { if case .string(let text)? = fields[name] { text } else { "" } }
                let interval: UInt64 = if case .uint64(let interval)? = fields["interval_ms"] { interval } else { 0 }
                let following: SourceState.Following =
                    switch text("follows") {
                    case "polling":
                        .polling(every: .milliseconds(Int64(clamping: interval)), reason: text("reason"))
                    case "memory": .memory
                    case "closed": .closed
                    default: .watching
                    }
                let file = text("file_hash")
                return SourceState(
                    name: text("name"), path: text("path"), following: following,
                    role: Role(rawValue: text("role")) ?? .source,
                    divergence: file.isEmpty ? nil : Divergence(live: text("live_hash"), file: file),
                    isRefused: fields["refused"] == .bool(true))
            }
        }
    }

    /// The version of the library, "0.1.0".
    public static var version: String { (try? Core.own()).map { String(text: $0.pointee.version_text()) } ?? "" }

    /// The last error of a reload or of the runtime's own threads, such as a lost watch. A reload that succeeds clears it.
    public var lastError: InvivoError? {
        var error: OpaquePointer?
        guard core.table.pointee.runtime_last_error(core.handle, &error) == 0, let error else { return nil }
        return InvivoError(taking: error, status: 0, table: core.table)
    }
}

extension Runtime {
    /// The counts of live objects in the process, over all runtimes of this copy of the library.
    public struct Alive: Sendable, Hashable {
        public let runtimes: UInt64
        public let objects: UInt64
        public let callables: UInt64
        public let errors: UInt64
        public let graphs: UInt64
        public let blocks: UInt64
        /// Threads that the library has started.
        public let threads: UInt64
        /// File descriptors that the library has opened.
        public let descriptors: UInt64
    }

    /// The counts of live objects in the process, for a check at the end of a test. Nil when the library is not
    /// available.
    public static var alive: Alive? {
        guard let table = try? Core.own() else { return nil }
        var raw = invivo_live_counts()
        raw.struct_size = MemoryLayout<invivo_live_counts>.size
        table.pointee.live(&raw)
        return Alive(
            runtimes: raw.runtimes, objects: raw.objects, callables: raw.callables, errors: raw.errors,
            graphs: raw.graphs, blocks: raw.blocks, threads: raw.threads, descriptors: raw.descriptors)
    }
}

/// The state of a runtime that explains why changes take effect late, or not at all. See `Runtime.status`.
public struct RuntimeStatus: Sendable {
    /// A dependency of which objects keep the former object or value (`OnChange.keep`).
    public struct Kept: Sendable, Hashable {
        public let key: String
        public let dependency: String
        /// The generation that replaced what is kept.
        public let since: UInt64
    }

    /// A change that takes effect when an object is next created (`Definition.restart`, `Tunable.restart`).
    public struct PendingRestart: Sendable, Hashable {
        public let key: String
        /// Empty: the definition.
        public let property: String
        /// The generation that made the change.
        public let since: UInt64
    }

    /// A former generation that is read, pinned, or whose objects are in use.
    public struct Former: Sendable, Hashable {
        public let generation: UInt64
        /// The time since it was replaced.
        public let age: Duration
        public let objects: Int
        /// The bytes of the instances of these objects, without what they point to.
        public let bytes: UInt64
        /// The kernel's ids of the threads that read it now.
        public let threads: [UInt64]
    }

    public struct Pin: Sendable, Hashable {
        public let generation: UInt64
        public let age: Duration
        /// The kernel's id of the thread that began it.
        public let thread: UInt64
        /// "Server.swift:12", or empty.
        public let place: String
    }

    public let generation: UInt64
    /// The number of steps that properties have moved in this generation (the trait Ramp).
    public let step: UInt64
    /// The number of blocks and objects with properties that move.
    public let moving: Int
    /// The reload that runs; nil without one.
    public let running: String?
    /// The number of submitted change sets that no reload has begun with.
    public let waitingSets: Int
    /// The number of jobs that wait for a domain.
    public let waitingJobs: Int
    /// The names of the documents whose files have other bytes than the live content, since a rollback.
    public let diverged: [String]
    public let kept: [Kept]
    public let restart: [PendingRestart]
    /// The keys of objects that a failed commit could not restore or set up again. Each commit tries again.
    public let unrestored: [String]
    /// The oldest first.
    public let former: [Former]
    /// The open pins, the oldest first.
    public let pins: [Pin]
}

extension Runtime {
    /// The reasons why changes take effect late, or not at all. `lastError` has the last error, `counts` has all counts.
    public var status: RuntimeStatus {
        get throws(InvivoError) {
            var raw = invivo_value()
            try core.call { $0.pointee.runtime_status(core.handle, &raw, $1) }
            let facts = Facts(try InvivoValue(taking: &raw, core))
            return RuntimeStatus(
                generation: facts.number("generation"), step: facts.number("step"),
                moving: Int(clamping: facts.number("moving")), running: facts.optionalText("running"),
                waitingSets: Int(clamping: facts.number("waiting_sets")),
                waitingJobs: Int(clamping: facts.number("waiting_jobs")), diverged: facts.texts("diverged"),
                kept: facts.all("kept").map {
                    .init(key: $0.text("key"), dependency: $0.text("dependency"), since: $0.number("since"))
                },
                restart: facts.all("restart").map {
                    .init(key: $0.text("key"), property: $0.text("property"), since: $0.number("since"))
                },
                unrestored: facts.texts("unrestored"),
                former: facts.all("former").map {
                    .init(
                        generation: $0.number("generation"), age: $0.nanoseconds("age_ns"),
                        objects: Int(clamping: $0.number("objects")), bytes: $0.number("bytes"),
                        threads: $0.numbers("threads"))
                },
                pins: facts.all("pins").map {
                    .init(
                        generation: $0.number("generation"), age: $0.nanoseconds("age_ns"), thread: $0.number("thread"),
                        place: $0.text("place"))
                })
        }
    }
}

/// A map of facts of the library.
private struct Facts {
    private let fields: [String: InvivoValue]

    init(_ value: InvivoValue) { if case .map(let fields) = value { self.fields = fields } else { fields = [:] } }

    private func list(_ name: String) -> [InvivoValue] { if case .list(let list)? = fields[name] { list } else { [] } }

    func optionalText(_ name: String) -> String? { if case .string(let text)? = fields[name] { text } else { nil } }
    func text(_ name: String) -> String { optionalText(name) ?? "" }
    func number(_ name: String) -> UInt64 { if case .uint64(let number)? = fields[name] { number } else { 0 } }
    func nanoseconds(_ name: String) -> Duration { .nanoseconds(Int64(clamping: number(name))) }
    func texts(_ name: String) -> [String] {
        list(name).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
    func numbers(_ name: String) -> [UInt64] {
        list(name).compactMap { if case .uint64(let number) = $0 { number } else { nil } }
    }
    func all(_ name: String) -> [Facts] { list(name).map(Facts.init) }
}
