internal import Glibc
public import InvivoBase

/// The treatment of `${NAME}` in the strings of a document.
public enum Expansion: Sendable {
    /// Strings stay as they are: a manifest has its own rules.
    case none
    /// `${NAME}` is replaced by the value of the variable.
    case from(Environment)
    /// The document is not trusted: `${NAME}` is an error.
    case refused
    /// Strings stay as they are, and a value that must be written in the same form keeps it.
    case verbatim
}

/// A string with `${NAME}` or `${NAME:-default}`, and with `$${` for `${`.
struct ExpandedString {
    /// An error in a string of this kind, and its offset.
    struct Fault: Error {
        let code: Status
        let message: String
        /// The offset of the `${` in bytes.
        let offset: Int
    }

    private(set) var bytes: [UInt8] = []
    /// The variables that the string names, without repetitions.
    private(set) var named: [String] = []
    /// Whether a value is in the string, and not only defaults.
    private(set) var hasValues = false
    /// The number of bytes before the first variable.
    private(set) var literalPrefix = 0
    private var seen: NameSet = []
    /// The bytes that expansions may still add to the document.
    private(set) var room: Int
    private var steps = LoadSteps()

    /// Whether a string has to be expanded.
    static func concerns(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = text.baseAddress else { return false }
        var rest = UnsafeRawPointer(start)
        let end = rest + text.count
        while let found = memchr(rest, Int32(UInt8(ascii: "$")), end - rest) {
            rest = UnsafeRawPointer(found) + 1
            if rest < end && rest.load(as: UInt8.self) == UInt8(ascii: "{") { return true }
        }
        return false
    }

    /// Expands a string. Throws a `Fault`, or a `Failure` if the time for loading is over.
    init(_ text: UnsafeBufferPointer<UInt8>, _ expansion: Expansion, room: Int) throws {
        self.room = room
        bytes.reserveCapacity(text.count)
        var at = 0
        while at < text.count {
            guard text[at] == UInt8(ascii: "$") else {
                let next = text[at...].firstIndex(of: UInt8(ascii: "$")) ?? text.count
                bytes.append(contentsOf: text[at..<next])
                at = next
                continue
            }
            func has(_ byte: UInt8, _ offset: Int) -> Bool { at + offset < text.count && text[at + offset] == byte }
            if has(UInt8(ascii: "$"), 1) && has(UInt8(ascii: "{"), 2) {
                bytes.append(contentsOf: [UInt8(ascii: "$"), UInt8(ascii: "{")])
                at += 3
            } else if has(UInt8(ascii: "{"), 1) {
                try steps.step()
                at = try expand(text, at, expansion)
            } else {
                bytes.append(UInt8(ascii: "$"))
                at += 1
            }
        }
    }

    /// Expands what begins at an offset. Returns the offset after it.
    private mutating func expand(
        _ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ expansion: Expansion
    ) throws -> Int {
        var at = start + 2
        while at < text.count, Self.isNameByte(text[at]), at > start + 2 || !NumberText.isDigit(text[at]) { at += 1 }
        let name = String(decoding: text[(start + 2)..<at], as: UTF8.self)
        let advice = "write $${ for the string '${'"
        func fault(_ message: String, _ code: Status = .syntax) -> Fault {
            Fault(code: code, message: message, offset: start)
        }
        guard let close = text[at...].firstIndex(of: UInt8(ascii: "}")) else {
            throw fault("'${' is not closed: expected ${NAME} or ${NAME:-default}; \(advice)")
        }
        guard !name.isEmpty else {
            throw fault(
                "expected the name of an environment variable after '${': letters, digits and '_', not a digit first; "
                    + advice)
        }
        let hasDefault = text[at] == UInt8(ascii: ":") && at + 1 < close && text[at + 1] == UInt8(ascii: "-")
        guard hasDefault || at == close else {
            throw fault("expected '}' or ':-' after the name \(VariableText.shown(name)); \(advice)")
        }
        if named.isEmpty { literalPrefix = bytes.count }
        if seen.insert(name).inserted { named.append(name) }
        guard case .from(let environment) = expansion else {
            throw fault(
                "the document must not use the environment variable \(VariableText.shown(name)): its source is not trusted; \(advice)",
                .spec)
        }
        if let value = environment[name], !(value.isEmpty && hasDefault) {
            try add(value[...], fault)
            guard let _ = String(validating: value, as: UTF8.self) else {
                throw fault("the environment variable \(VariableText.shown(name)) is not UTF-8", .encoding)
            }
            hasValues = true
        } else if hasDefault {
            try add(text[(at + 2)..<close], fault)
        } else {
            throw fault(
                "the environment variable \(VariableText.shown(name)) is not set; set it before the runtime opens or its environment is "
                    + "refreshed, or write ${NAME:-default}",
                .spec)
        }
        return close + 1
    }

    private mutating func add(
        _ value: some Collection<UInt8>, _ fault: (String, Status) -> Fault
    ) throws(Fault) {
        room -= value.count
        guard room >= 0 else {
            throw fault(
                "the document has too many bytes with the values of its environment variables; max_document_bytes permits "
                    + "more",
                .tooLarge)
        }
        bytes.append(contentsOf: value)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39, 0x5F: true
        default: false
        }
    }
}
