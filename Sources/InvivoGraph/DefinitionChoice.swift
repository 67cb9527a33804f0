public import InvivoBase

/// A definition that selects one of other definitions: the first option that matches the value of the chooser.
public struct DefinitionChoice: Sendable {
    public enum When: Sendable {
        case equal(Value)
        /// An object of this very type.
        case exact(String)
        /// An object of this type or of a subtype.
        case kind(String)
        /// A text that is the name of a definition: that definition.
        case named
        case otherwise
    }

    public struct Option: Sendable {
        public let when: When
        /// Nil where the value itself names it.
        public let use: Injection.Source?

        public init(_ when: When, use: Injection.Source?) {
            self.when = when
            self.use = use
        }
    }

    public let chooser: Injection.Source
    public let options: [Option]

    public init(chooser: Injection.Source, options: [Option]) {
        self.chooser = chooser
        self.options = options
    }
}

extension DefinitionChoice {
    /// Returns the keys that a chooser may mean by `name`, in the order of the lookup: of its own assembly from the inside out, then
    /// the whole key.
    public static func keys(named name: String, besides key: String) -> [String] {
        var found: [String] = []
        var scope = key[...]
        while let dot = scope.lastIndex(of: ".") {
            scope = scope[..<dot]
            found.append("\(scope).\(name)")
        }
        return found + [name]
    }
}

extension DefinitionChoice.When {
    /// Whether it fits a value; one that names a definition fits every text.
    public func fits(_ value: Value) -> Bool {
        switch self {
        case .equal(let wanted): return value.isEqual(to: wanted)
        case .exact(let name): return value.describedType?.name.isSameName(as: name) ?? false
        case .kind(let name): return value.describedType?.isKind(of: name) ?? false
        case .named:
            if case .string = value { return true }
            return false
        case .otherwise: return true
        }
    }

    /// The condition, for messages.
    var text: String {
        switch self {
        case .equal(let value): "\(value)"
        case .exact(let name): "exactly '\(name)'"
        case .kind(let name): "a '\(name)'"
        case .named: "the name of a definition"
        case .otherwise: "anything"
        }
    }
}

extension Value {
    /// The type of an object, or the type that is the value.
    fileprivate var describedType: TypeDescription? {
        switch self {
        case .object(let lease): lease.type
        case .type(let type): type
        default: nil
        }
    }

    /// Equality for a choice: numbers are compared by value, enumerations also by name.
    func isEqual(to other: Value) -> Bool {
        if isSame(as: other) { return true }
        switch (self, other) {
        case (.enumeration(_, let name?), .string(let text)), (.string(let text), .enumeration(_, let name?)):
            return name == text
        default: break
        }
        guard kind.isNumber && other.kind.isNumber else { return false }
        if let a = signedInteger, let b = other.signedInteger { return a == b }
        if let a = unsignedInteger, let b = other.unsignedInteger { return a == b }
        guard let a = try? converted(to: .double), let b = try? other.converted(to: .double),
            case .double(let a) = a, case .double(let b) = b
        else { return false }
        return a == b
    }
}
