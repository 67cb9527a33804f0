/// A Swift type whose values cross between languages.
///
/// Booleans, integers of every width, `Float`, `Double`, `String`, `[UInt8]` (as bytes), arrays, dictionaries with
/// `String` keys, optionals, `Object`, `Callable` and `InvivoValue` itself are. An enumeration becomes one by naming the
/// protocol, a described class by naming `InvivoObject`.
public protocol InvivoConvertible: SendableMetatype {
    /// The declaration of a property or parameter of this type.
    static var invivoShape: InvivoShape { get }
    /// Converts a value to this type. Throws if the value does not fit.
    static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Self
    /// This value, converted for other languages.
    func asInvivo() throws(InvivoError) -> InvivoValue
}

/// The declaration of a property or parameter: its kind, and the names of an enumeration.
public struct InvivoShape: Sendable, Hashable {
    /// The kind of its values; an integer kind with `choices` is an enumeration of that width.
    public var kind: InvivoKind
    /// Whether it may be left out or null.
    public var isOptional: Bool
    /// The names of an enumeration with their numbers.
    public var choices: [Choice]
    /// For objects: the name of the required type.
    public var typeName: String?

    /// One name of an enumeration.
    public struct Choice: Sendable, Hashable {
        /// The name in documents and other languages.
        public var name: String
        /// Its number.
        public var number: Int64

        /// Creates a choice.
        public init(_ name: String, _ number: Int64) {
            self.name = name
            self.number = number
        }
    }

    /// Creates a shape.
    public init(_ kind: InvivoKind, isOptional: Bool = false, choices: [Choice] = [], typeName: String? = nil) {
        self.kind = kind
        self.isOptional = isOptional
        self.choices = choices
        self.typeName = typeName
    }
}

extension InvivoValue {
    func mismatch(_ wanted: String) -> InvivoError {
        self == .null
            ? InvivoError(.null, "null where \(wanted) is expected")
            : InvivoError(.type, "expected \(wanted), got \(kind)")
    }
}
