internal import CPlatform
internal import Glibc

/// A copy of the environment of the process. Immutable.
///
/// The environment is read only while a host opens a runtime or refreshes its copy, on the thread of that call.
public final class Environment: Sendable {
    /// The bytes of each value. Of a name that occurs twice, the first value, as `getenv` returns it.
    private let values: NameTable<[UInt8]>
    /// The names that are not UTF-8, repaired.
    public let unreadableNames: [String]

    public static let empty = Environment([])

    public convenience init(_ pairs: [(name: String, value: String)]) {
        self.init(pairs.map { ($0.name, Array($0.value.utf8)) }, unreadable: [])
    }

    public init(_ pairs: [(String, [UInt8])], unreadable: [String] = []) {
        values = NameTable(pairs)
        unreadableNames = unreadable
    }

    /// Copies the environment of the process. No other thread may change it meanwhile.
    public static func copy() -> Environment {
        var pairs: [(String, [UInt8])] = []
        var unreadable: [String] = []
        var next = iv_environment()
        while let entries = next, let entry = entries.pointee {
            next = entries + 1
            let bytes = UnsafeBufferPointer(
                start: UnsafeRawPointer(entry).assumingMemoryBound(to: UInt8.self), count: strlen(entry))
            guard let end = bytes.firstIndex(of: UInt8(ascii: "=")), end > 0 else { continue }
            let name = UnsafeBufferPointer(rebasing: bytes[..<end])
            if let text = String(validating: name, as: UTF8.self) {
                pairs.append((text, Array(bytes[(end + 1)...])))
            } else {
                unreadable.append(String(decoding: name, as: UTF8.self))
            }
        }
        return Environment(pairs, unreadable: unreadable)
    }

    /// The bytes of a value; nil if the variable is not set.
    public subscript(name: String) -> [UInt8]? { values[name] }

    /// The names that begin with `prefix`, in the order of their bytes.
    public func names(after prefix: String) -> [String] {
        values.keys.filter { $0.utf8.starts(with: prefix.utf8) }
            .sorted { $0.hasLowerBytes(than: $1) }
    }

    /// Whether both have the same variables with the same values.
    public func isSame(as other: Environment) -> Bool {
        self === other || values == other.values && unreadableNames == other.unreadableNames
    }

    /// The variables that have another value in `other`, or are in one of both only.
    public func changes(since other: Environment) -> [String] {
        guard self !== other else { return [] }
        return other.values.keys.filter { self[$0] != other[$0] } + values.keys.filter { other[$0] == nil }
    }

    /// Whether one of these variables has another value in `other`.
    public func differs(from other: Environment, in names: [String]) -> Bool {
        self !== other && names.contains { self[$0] != other[$0] }
    }
}

/// The part that environment variables, files and secrets have in a value. Errors name the variables and never show the value.
public final class VariableText: Sendable {
    /// Without repetitions, in their order. Empty for a secret or the content of a file without variables.
    public let variables: [String]
    /// The whole string; nil for a value in the list or map of a variable, and without variables.
    public let text: String?
    /// Whether the value is a secret: it is shown as `<secret>`, and messages of host code about it are dropped.
    public let isSecret: Bool
    /// Whether the value is the content of a file.
    private let isFile: Bool
    /// Whether the defaults were taken of all of them.
    private let isDefault: Bool
    /// The number of bytes before the first variable.
    public let literalPrefix: Int

    /// The form in which messages show a secret: without its length, and without a hash.
    public static let shownSecret = "<secret>"
    /// A secret without variables.
    public static let secret = VariableText(isFile: false, isSecret: true)
    /// The content of a file (`file:`).
    public static let fileContent = VariableText(isFile: true, isSecret: false)

    public init(_ variables: [String], text: String?, isDefault: Bool = false, literalPrefix: Int = 0) {
        (self.variables, self.text, self.isDefault) = (variables, text, isDefault)
        self.literalPrefix = literalPrefix
        (isSecret, isFile) = (false, false)
    }

    private init(isFile: Bool, isSecret: Bool) {
        (variables, text, isDefault, literalPrefix) = ([], nil, false, 0)
        (self.isFile, self.isSecret) = (isFile, isSecret)
    }

    private init(_ other: VariableText, isSecret: Bool) {
        (variables, text, isDefault) = (other.variables, other.text, other.isDefault)
        (literalPrefix, isFile, self.isSecret) = (other.literalPrefix, other.isFile, isSecret)
    }

    /// Returns the same for a value that is a secret, or is none; nil if nothing remains.
    public static func marking(_ text: VariableText?, isSecret: Bool) -> VariableText? {
        guard let text else { return isSecret ? .secret : nil }
        guard text.isSecret != isSecret else { return text }
        if !isSecret && text.variables.isEmpty { return text.isFile ? .fileContent : nil }
        return VariableText(text, isSecret: isSecret)
    }

    public func isSame(as other: VariableText) -> Bool {
        self === other
            || text.isSameName(as: other.text) && variables == other.variables && isSecret == other.isSecret
                && isFile == other.isFile
    }

    /// "the environment variable 'RATE'"
    public var described: String {
        guard !variables.isEmpty else { return isFile && !isSecret ? "the content of a file" : Self.shownSecret }
        let names = variables.map(Self.shown).listed(most: 4)
        let all = variables.count == 1 ? "the environment variable \(names)" : "the environment variables \(names)"
        return isDefault ? "the default of \(all)" : all
    }

    /// "the value of the environment variable 'RATE'"
    public var describedValue: String { variables.isEmpty ? described : "the value of \(described)" }

    /// Stands for a message that could show the value: "(the message is not shown, since ...)".
    public var hidden: String {
        isSecret ? " \(Failure.hiddenMessage)" : " (the message is not shown, since it could show \(describedValue))"
    }

    /// The name of a variable as errors show it.
    public static func shown(_ name: String) -> String {
        name.utf8.count <= 64 ? "'\(name)'" : "'\(name.prefix(64))...'"
    }

    /// A failure about the value, without the value.
    public func masking(_ failure: Failure, expected: String) -> Failure {
        let verb = variables.isEmpty ? "is" : variables.count == 1 || isDefault ? "gives" : "give"
        let fault = failure.code == .range ? "a value outside of the range" : "an unsuitable value"
        var masked = Failure(
            failure.code, "\(described) \(verb) \(fault); expected \(expected)", path: failure.path,
            at: failure.location)
        masked.finding = failure.finding
        masked.neededBy = failure.neededBy
        return masked
    }
}
