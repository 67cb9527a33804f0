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

    /// Whether one of these variables has another value in `other`.
    public func differs(from other: Environment, in names: [String]) -> Bool {
        self !== other && names.contains { self[$0] != other[$0] }
    }
}

/// The part that environment variables have in a string. Errors name the variables and never show their values.
public final class VariableText: Sendable {
    /// Without repetitions, in their order.
    public let variables: [String]
    /// The whole string; nil for a value in the list or map of a variable.
    public let text: String?
    /// Whether the defaults were taken of all of them.
    private let isDefault: Bool
    /// The number of bytes before the first variable.
    public let literalPrefix: Int

    public init(_ variables: [String], text: String?, isDefault: Bool = false, literalPrefix: Int = 0) {
        (self.variables, self.text, self.isDefault) = (variables, text, isDefault)
        self.literalPrefix = literalPrefix
    }

    public func isSame(as other: VariableText) -> Bool {
        self === other || text.isSameName(as: other.text) && variables == other.variables
    }

    /// "the environment variable 'RATE'"
    public var described: String {
        let names = variables.prefix(4).map(Self.shown).joined(separator: ", ") + (variables.count > 4 ? ", ..." : "")
        let all = variables.count == 1 ? "the environment variable \(names)" : "the environment variables \(names)"
        return isDefault ? "the default of \(all)" : all
    }

    /// The name of a variable as errors show it.
    public static func shown(_ name: String) -> String {
        name.utf8.count <= 64 ? "'\(name)'" : "'\(name.prefix(64))...'"
    }

    /// A failure about the value, without the value.
    public func masking(_ failure: Failure, expected: String) -> Failure {
        let verb = variables.count == 1 || isDefault ? "gives" : "give"
        let fault = failure.code == .range ? "a value outside of the range" : "an unsuitable value"
        var masked = Failure(
            failure.code, "\(described) \(verb) \(fault); expected \(expected)", path: failure.path,
            at: failure.location)
        masked.finding = failure.finding
        masked.neededBy = failure.neededBy
        return masked
    }
}
