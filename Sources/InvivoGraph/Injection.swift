/// One injected source: for a parameter or property by name, or by position.
public struct Injection: Sendable {
    /// The name of the parameter or property; nil for an injection by position.
    public let name: String?
    public let source: Source
    /// The methods of the holder that are notified of changes, for a list of all candidates of a type.
    public let listeners: Listeners?
    /// The name used in messages for an injection by position.
    public let label: String?
    /// How the dependent follows changes; nil = as its definition declares.
    public let onChange: OnChange?
    /// Whether the dependent is set up again when what it receives changes.
    public let owns: Bool

    /// Methods of the holder that are called when a candidate is added or removed.
    public struct Listeners: Sendable, Equatable {
        public let added: String
        public let removed: String

        public init(added: String, removed: String) {
            self.added = added
            self.removed = removed
        }
    }

    public init(
        name: String?, _ source: Source, listeners: Listeners? = nil, label: String? = nil, onChange: OnChange? = nil,
        owns: Bool = false
    ) {
        self.onChange = onChange
        self.owns = owns
        self.label = label
        self.name = name
        self.source = source
        self.listeners = listeners
    }

    /// Returns a copy with another source.
    func with(_ source: Source) -> Injection {
        Injection(name: name, source, listeners: listeners, label: label, onChange: onChange, owns: owns)
    }
}

/// A method that is called while an object is created.
public struct Invocation: Sendable {
    public let method: String
    public let arguments: [Injection]

    public init(method: String, arguments: [Injection]) {
        self.method = method
        self.arguments = arguments
    }

    /// Returns a copy in which `change` has replaced the source of each argument.
    func mapSources(_ change: (Injection.Source) -> Injection.Source) -> Invocation {
        Invocation(method: method, arguments: arguments.map { $0.with(change($0.source)) })
    }
}

/// A method of another object that creates the instance of a definition.
public struct MakerMethod: Sendable {
    public let object: Injection.Source
    public let invocation: Invocation

    public init(object: Injection.Source, invocation: Invocation) {
        self.object = object
        self.invocation = invocation
    }
}
