internal import CInvivo

/// A status code of the table in base.h.
public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    init(_ constant: Int) { rawValue = Int32(truncatingIfNeeded: constant) }

    public static let ok = Status(INVIVO_OK)
    public static let argument = Status(INVIVO_E_ARGUMENT)
    public static let handle = Status(INVIVO_E_HANDLE)
    public static let closed = Status(INVIVO_E_CLOSED)
    public static let memory = Status(INVIVO_E_MEMORY)
    public static let notFound = Status(INVIVO_E_NOT_FOUND)
    public static let exists = Status(INVIVO_E_EXISTS)
    public static let type = Status(INVIVO_E_TYPE)
    public static let range = Status(INVIVO_E_RANGE)
    public static let readOnly = Status(INVIVO_E_READ_ONLY)
    public static let property = Status(INVIVO_E_PROPERTY)
    public static let method = Status(INVIVO_E_METHOD)
    public static let arity = Status(INVIVO_E_ARITY)
    public static let cold = Status(INVIVO_E_COLD)
    public static let stale = Status(INVIVO_E_STALE)
    public static let domain = Status(INVIVO_E_DOMAIN)
    public static let wouldWait = Status(INVIVO_E_WOULD_WAIT)
    public static let inCallback = Status(INVIVO_E_IN_CALLBACK)
    public static let busy = Status(INVIVO_E_BUSY)
    public static let timeout = Status(INVIVO_E_TIMEOUT)
    public static let cycle = Status(INVIVO_E_CYCLE)
    public static let syntax = Status(INVIVO_E_SYNTAX)
    public static let spec = Status(INVIVO_E_SPEC)
    public static let encoding = Status(INVIVO_E_ENCODING)
    public static let empty = Status(INVIVO_E_EMPTY)
    public static let tooLarge = Status(INVIVO_E_TOO_LARGE)
    public static let file = Status(INVIVO_E_FILE)
    public static let system = Status(INVIVO_E_SYSTEM)
    public static let module = Status(INVIVO_E_MODULE)
    public static let version = Status(INVIVO_E_VERSION)
    public static let host = Status(INVIVO_E_HOST)
    public static let forked = Status(INVIVO_E_FORKED)
    public static let notReady = Status(INVIVO_E_NOT_READY)
    public static let changed = Status(INVIVO_E_CHANGED)
    public static let null = Status(INVIVO_E_NULL)
    public static let unsupported = Status(INVIVO_E_UNSUPPORTED)
    public static let internalFault = Status(INVIVO_E_INTERNAL)
    public static let ambiguous = Status(INVIVO_E_AMBIGUOUS)
    public static let abstract = Status(INVIVO_E_ABSTRACT)
    public static let captive = Status(INVIVO_E_CAPTIVE)
    public static let refused = Status(INVIVO_E_REFUSED)
    public static let orphaned = Status(INVIVO_E_ORPHANED)
    public static let notConfigured = Status(INVIVO_E_NOT_CONFIGURED)
    public static let conversion = Status(INVIVO_E_CONVERSION)
    public static let stop = Status(INVIVO_E_STOP)
    public static let dormant = Status(INVIVO_E_DORMANT)

    public var description: String { "\(rawValue)" }
}

/// A source location in a document: file, and line and column from 1 (0 = unknown). Columns count Unicode scalars.
public struct Location: Hashable, Sendable {
    public var file: String
    public var line: UInt32
    public var column: UInt32
    public init(file: String = "", line: UInt32 = 0, column: UInt32 = 0) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// The error of the runtime, with its message and source location. The ABI presents it as an `invivo_error`.
public struct Failure: Error, Sendable {
    public var code: Status
    public var message: String
    /// The key path concerned ("synth.lead.gain"), or "".
    public var path: String
    public var location: Location
    public var cause: [Failure]
    /// The number of nested causes; at most `mostCauses`.
    private var depth = 0
    /// The other errors that the same call found. All errors are reported at once.
    public var others: [Failure]
    /// The number of omitted errors: the report of a hostile document must stay small.
    public private(set) var omitted = 0

    /// The largest number of errors that are reported one by one.
    public static let most = 100
    /// The longest chain of causes. Endless wrapping must not exhaust the memory, nor the stack of a reader.
    public static let mostCauses = 250
    /// Whether the message already names the dependents.
    public var isChained = false
    /// The finding of the wiring check that this failure is; nil for a failure found elsewhere.
    public var finding: Finding?
    /// The dependents of the component that failed, the outermost first.
    public var neededBy: [String] = []

    public init(
        _ code: Status, _ message: String, path: String = "", at location: Location = Location(), cause: Failure? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.location = location
        self.cause = cause.map { [$0.depth < Self.mostCauses ? $0 : $0.shortened] } ?? []
        depth = self.cause.first.map { $0.depth + 1 } ?? 0
        others = []
    }

    /// The innermost cause, below a note that replaces the causes between.
    private var shortened: Failure {
        var root = self
        while let next = root.cause.first { root = next }
        if root.depth > 0 { root = Failure(root.code, root.message, path: root.path, at: root.location) }
        return Failure(code, "causes in between are left out", cause: root)
    }

    /// One failure out of many; the first gives the code. Nil when there is none. Beyond `most` they are only counted,
    /// as are `omitted` ones that were not created.
    public static func gathered(_ failures: [Failure], omitted: Int = 0) -> Failure? {
        guard var first = failures.first else { return nil }
        for failure in failures.dropFirst() {
            let shown = failure.withOthers.prefix(most - 1 - first.others.count)
            first.others += shown
            first.omitted += failure.withOthers.count - shown.count + failure.omitted
            first.depth = max(first.depth, failure.depth)
        }
        first.omitted += omitted
        return first
    }

    /// Whether both failures have the same content and source location.
    public func isSame(as other: Failure) -> Bool { isSameElsewhere(as: other) && location == other.location }

    /// Whether both failures have the same content, at any source location.
    public func isSameElsewhere(as other: Failure) -> Bool {
        code == other.code && message == other.message && path == other.path
    }

    /// The same failure, with its path (and those of the others) below `prefix`.
    public func under(_ prefix: String) -> Failure {
        var failure = self
        failure.path = path.isEmpty ? prefix : prefix.isEmpty ? path : "\(prefix).\(path)"
        failure.others = others.map { $0.under(prefix) }
        return failure
    }

    /// Adds a key and its source location to a failure without them.
    public func named(_ key: String, _ location: Location) -> Failure {
        var named = self
        if named.path.isEmpty { named.path = key }
        if named.location.file.isEmpty { named.location = location }
        return named
    }

    /// This failure and the others, each alone; the last one may state the number of omitted ones.
    public var all: [Failure] {
        guard omitted > 0 else { return withOthers }
        let rest = "and \(omitted) more error\(omitted == 1 ? "" : "s")"
        return withOthers + [Failure(code, rest, at: Location(file: location.file))]
    }

    /// This failure alone, followed by the others.
    private var withOthers: [Failure] {
        guard !others.isEmpty || omitted > 0 else { return [self] }
        var alone = self
        alone.others = []
        alone.omitted = 0
        return [alone] + others
    }

    /// One line an error: "file:line:column: key.path: message (because ...)".
    public var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        for (index, failure) in all.enumerated() {
            if index > 0 { text += "\n" }
            failure.writeLine(to: &text)
        }
    }

    /// `neededBy` as a path.
    public var dependentPath: String { neededBy.path() }

    private func writeLine(to line: inout String) {
        if !location.file.isEmpty {
            line += location.file
            if location.line > 0 { line += ":\(location.line)" }
            if location.line > 0 && location.column > 0 { line += ":\(location.column)" }
            line += ": "
        }
        if !path.isEmpty { line += "\(path): " }
        line += message
        if !neededBy.isEmpty { line += " (needed by \(dependentPath))" }
        if let cause = cause.first {
            line += " (because "
            cause.write(to: &line)
            line += ")"
        }
    }
}
