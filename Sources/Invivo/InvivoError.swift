internal import CInvivo

/// An error of a call of Invivo: a code, a message, and the location in a document.
public struct InvivoError: Error, Sendable, Hashable {
    /// The kind of a failure. The set is open: a newer library may return further codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number of the status, negative.
        public let rawValue: Int32

        /// Creates a code from the number of a status.
        public init(rawValue: Int32) { self.rawValue = rawValue }
    }

    /// The kind of the failure.
    public var code: Code
    /// The description of the failure: the event, the expectation and the remedy.
    public var message: String
    /// The key path, `synth.lead.gain`, or empty.
    public var path: String
    /// The file it was found in, or empty.
    public var file: String
    /// The line in the file, from 1; 0 when unknown.
    public var line: Int
    /// The column in the line, in Unicode scalars from 1; 0 when unknown.
    public var column: Int
    /// The stable name of the problem that a check of the wiring found, such as `wiring.missing`; otherwise empty.
    public private(set) var rule = ""
    /// The dependents of the component that failed, the outermost first: `app.main -> app.player`. Empty without
    /// dependents.
    public private(set) var neededBy = ""
    /// The complete text, one line for each error.
    private var text: String
    private var causes: [InvivoError]
    private var parts: [InvivoError]

    /// Creates an error to throw from a closure. All its parts reach the caller, in any language.
    ///
    /// - Parameters:
    ///   - file: The location of the error, with `line` and `column` from 1; 0 means unknown.
    public init(
        _ code: Code, _ message: String, path: String = "", file: String = "", line: Int = 0, column: Int = 0,
        cause: InvivoError? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.file = file
        self.line = line
        self.column = column
        text = ""
        causes = cause.map { [$0] } ?? []
        parts = []
    }

    /// The error underneath.
    public var cause: InvivoError? { causes.first }

    /// All errors of one call: this error alone, or its parts.
    public var errors: [InvivoError] { parts.isEmpty ? [self] : parts }
}

extension InvivoError: CustomStringConvertible {
    public var description: String {
        guard text.isEmpty else { return text }
        let because = cause.map { " (because \($0))" } ?? ""
        var place = file.isEmpty ? "" : "\(file): "
        if !file.isEmpty && line > 0 { place = column > 0 ? "\(file):\(line):\(column): " : "\(file):\(line): " }
        return place + (path.isEmpty ? "" : "\(path): ") + message + because
    }
}

extension InvivoError.Code: CustomStringConvertible {
    /// The name of the constant, such as `notFound`; `unknown(-1000)` for a code without one.
    public var description: String {
        let name = String(text: invivo_status_name(rawValue))
        guard name != "INVIVO_E_UNKNOWN" else { return "unknown(\(rawValue))" }
        let words = name.split(separator: "_").dropFirst(rawValue < 0 ? 2 : 1).map { $0.lowercased() }
        return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

extension InvivoError.Code {
    /// An argument is missing or not allowed (`INVIVO_E_ARGUMENT`).
    public static let argument = Self(rawValue: -1)
    /// The handle is stale, foreign or of another kind (`INVIVO_E_HANDLE`).
    public static let handle = Self(rawValue: -2)
    /// The runtime is closed (`INVIVO_E_CLOSED`).
    public static let closed = Self(rawValue: -3)
    /// Out of memory (`INVIVO_E_MEMORY`).
    public static let memory = Self(rawValue: -4)
    /// No such key, name or file (`INVIVO_E_NOT_FOUND`).
    public static let notFound = Self(rawValue: -5)
    /// The name is taken (`INVIVO_E_EXISTS`).
    public static let exists = Self(rawValue: -6)
    /// The value or object has another type (`INVIVO_E_TYPE`).
    public static let type = Self(rawValue: -7)
    /// The value is outside the range (`INVIVO_E_RANGE`).
    public static let range = Self(rawValue: -8)
    /// The property cannot be set (`INVIVO_E_READ_ONLY`).
    public static let readOnly = Self(rawValue: -9)
    /// The type has no such property (`INVIVO_E_PROPERTY`).
    public static let property = Self(rawValue: -10)
    /// The type has no such method (`INVIVO_E_METHOD`).
    public static let method = Self(rawValue: -11)
    /// The number of arguments is wrong (`INVIVO_E_ARITY`).
    public static let arity = Self(rawValue: -12)
    /// The shared object is not built yet (`INVIVO_E_COLD`).
    public static let cold = Self(rawValue: -13)
    /// The handle or change set belongs to a former generation (`INVIVO_E_STALE`).
    public static let stale = Self(rawValue: -14)
    /// The object may only be touched in its domain (`INVIVO_E_DOMAIN`).
    public static let domain = Self(rawValue: -15)
    /// The call would have to wait, and may not wait here (`INVIVO_E_WOULD_WAIT`).
    public static let wouldWait = Self(rawValue: -16)
    /// The call is not allowed from inside a callback (`INVIVO_E_IN_CALLBACK`).
    public static let inCallback = Self(rawValue: -17)
    /// Something is still in use (`INVIVO_E_BUSY`).
    public static let busy = Self(rawValue: -18)
    /// The deadline has passed (`INVIVO_E_TIMEOUT`).
    public static let timeout = Self(rawValue: -19)
    /// The dependencies form a cycle (`INVIVO_E_CYCLE`).
    public static let cycle = Self(rawValue: -20)
    /// The document is not well-formed (`INVIVO_E_SYNTAX`).
    public static let syntax = Self(rawValue: -21)
    /// The document names something unknown (`INVIVO_E_SPEC`).
    public static let spec = Self(rawValue: -22)
    /// The text is not UTF-8 (`INVIVO_E_ENCODING`).
    public static let encoding = Self(rawValue: -23)
    /// The document is empty (`INVIVO_E_EMPTY`).
    public static let empty = Self(rawValue: -24)
    /// A limit is exceeded (`INVIVO_E_TOO_LARGE`).
    public static let tooLarge = Self(rawValue: -25)
    /// Not a readable regular file (`INVIVO_E_FILE`).
    public static let file = Self(rawValue: -26)
    /// The operating system refused (`INVIVO_E_SYSTEM`).
    public static let system = Self(rawValue: -27)
    /// The module cannot be used (`INVIVO_E_MODULE`).
    public static let module = Self(rawValue: -28)
    /// The versions do not fit (`INVIVO_E_VERSION`).
    public static let version = Self(rawValue: -29)
    /// Host code failed (`INVIVO_E_HOST`).
    public static let host = Self(rawValue: -30)
    /// The runtime belongs to the parent process (`INVIVO_E_FORKED`).
    public static let forked = Self(rawValue: -31)
    /// Not built, not started or not there yet (`INVIVO_E_NOT_READY`).
    public static let notReady = Self(rawValue: -32)
    /// Something else changed it meanwhile (`INVIVO_E_CHANGED`).
    public static let changed = Self(rawValue: -33)
    /// Null where a value is needed (`INVIVO_E_NULL`).
    public static let null = Self(rawValue: -34)
    /// Not supported here (`INVIVO_E_UNSUPPORTED`).
    public static let unsupported = Self(rawValue: -35)
    /// A fault of the runtime itself; please report it (`INVIVO_E_INTERNAL`).
    public static let `internal` = Self(rawValue: -36)
    /// Several candidates match, and none has priority (`INVIVO_E_AMBIGUOUS`).
    public static let ambiguous = Self(rawValue: -37)
    /// The definition is abstract: only its children create objects (`INVIVO_E_ABSTRACT`).
    public static let abstract = Self(rawValue: -38)
    /// The call succeeded, but an object failed to stop (`INVIVO_E_STOP`).
    public static let stop = Self(rawValue: -41)
    /// The definition is blocked on a missing dependency (`INVIVO_E_DORMANT`).
    public static let dormant = Self(rawValue: -42)
    /// A longer-lived object would hold a shorter-lived or thread-confined one (`INVIVO_E_CAPTIVE`).
    public static let captive = Self(rawValue: -49)
    /// A definition refuses a change of its dependency (`INVIVO_E_REFUSED`).
    public static let refused = Self(rawValue: -50)
    /// The parent of the context has ended (`INVIVO_E_ORPHANED`).
    public static let orphaned = Self(rawValue: -51)
    /// There is no configuration value at the path (`INVIVO_E_NOT_CONFIGURED`).
    public static let notConfigured = Self(rawValue: -39)
    /// The string cannot be converted to the requested kind (`INVIVO_E_CONVERSION`).
    public static let conversion = Self(rawValue: -40)
}

// MARK: - The border

extension InvivoError {
    /// Reads an error of the C side. It stays the caller's.
    init(reading error: OpaquePointer?, status: invivo_status, table: Table) {
        let functions = table
        self.init(Code(rawValue: status), String(text: functions.pointee.status_text(status)))
        guard let error else { return }
        code = Code(rawValue: functions.pointee.error_code(error))
        message = String(text: functions.pointee.error_message(error))
        path = String(text: functions.pointee.error_path(error))
        file = String(text: functions.pointee.error_file(error))
        line = Int(functions.pointee.error_line(error))
        column = Int(functions.pointee.error_column(error))
        rule = String(text: functions.pointee.error_rule(error))
        neededBy = String(text: functions.pointee.error_needed_by(error))
        text = String(text: functions.pointee.error_text(error))
        causes =
            functions.pointee.error_cause(error).map { [InvivoError(reading: $0, status: status, table: table)] } ?? []
        let count = functions.pointee.error_count(error)
        parts =
            count < 2
            ? []
            : (0..<count).compactMap { index in
                functions.pointee.error_at(error, index).map { InvivoError(reading: $0, status: status, table: table) }
            }
    }

    /// Takes over an error that a call has set.
    init(taking error: OpaquePointer?, status: invivo_status, table: Table) {
        self.init(reading: error, status: status, table: table)
        table.pointee.error_release(error)
    }

    /// Combines several errors to one; nil for none.
    init?(all errors: [InvivoError]) {
        guard let first = errors.first else { return nil }
        self = first
        guard errors.count > 1 else { return }
        parts = errors
        text = errors.map(\.description).joined(separator: "\n")
    }

    /// Converts any Swift error to one with a code.
    init(_ error: any Error) {
        self = error as? InvivoError ?? InvivoError(.host, "\(error)")
    }

    /// An owned error of the C ABI with the same content; nil only without memory.
    func made(_ table: Table) -> OpaquePointer? {
        guard parts.isEmpty else {
            return parts.reduce(nil) { table.pointee.error_join($0, $1.made(table)) }
        }
        return table.pointee.error_make_at(
            code.rawValue, message, path.isEmpty ? nil : path, file.isEmpty ? nil : file, UInt32(clamping: line),
            UInt32(clamping: column), cause?.made(table))
    }
}

extension String {
    /// A text of the C side; NULL is empty.
    init(text: UnsafePointer<CChar>?) { self = text.map { String(cString: $0) } ?? "" }
}

/// Runs the body of a callback of a runtime, in the runtime's current context. Returns its status and, on request, its error.
func answering(_ core: Core, _ out: ErrorOut?, _ body: () throws -> Void) -> invivo_status {
    answering(core.table, out) { try core.inCallback(body) }
}

/// Runs the body of a callback of the C ABI. Returns its status and, on request, its error.
func answering(_ table: Table, _ out: ErrorOut?, _ body: () throws -> Void) -> invivo_status {
    let former = Planning.beginCallback()
    defer { Planning.endCallback(former) }
    do {
        try body()
        return 0
    } catch {
        let error = InvivoError(error)
        out?.pointee = error.made(table)
        return error.code.rawValue < 0 ? error.code.rawValue : InvivoError.Code.host.rawValue
    }
}

/// "a Mixer", "an Actor": for messages.
func article(_ thing: Any) -> String {
    let name = "\(thing)"
    let isVowel = name.first.map { "aeioAEIO".contains($0) } ?? false
    return (isVowel ? "an " : "a ") + name
}
