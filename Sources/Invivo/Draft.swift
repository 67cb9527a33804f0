internal import CInvivo

/// The content of a definition before activation. Written by the declaration, read by activation.
struct Draft {
    /// The way in which the instance is created.
    enum Making {
        /// A closure with the injections and then the runtime arguments. It may return nil when the value is optional.
        case factory([Injection], Make)
        /// By the initializer of a registered type, with these arguments by name; an empty name stands for the
        /// position.
        case type(invivo_type, [(name: String, injection: Injection)])
        /// As above, by the type's name; nil if the parent determines the type.
        case named(String?, [(name: String, injection: Injection)])
        /// By a method of another component.
        case method(Injection, name: String, [Injection])
        case constant(AnyObject)
        /// The object of another key, with arguments before those of the resolve.
        case alias(Injection)
        /// A selection among other definitions.
        case choice(Injection, [ChoiceOption])
        /// Inherited from the parent.
        case inherited
    }
    typealias Make = @Sendable (Resolver, inout Arguments) throws -> AnyObject?

    typealias DirectMake = @Sendable (inout Instances) throws -> Void

    /// The initializer for a build plan, if its parameters and its result are classes.
    final class Direct: Sendable {
        let make: DirectMake
        /// The classes of its parameters; nil for other parameter types.
        let parameters: [AnyClass?]

        init(make: @escaping DirectMake, parameters: [AnyClass?]) {
            self.make = make
            self.parameters = parameters
        }
    }

    /// A step after construction, with its injections.
    struct Step {
        /// The property, where it is one: set once only.
        var property: AnyKeyPath?
        /// The name of the step, for messages and for the keys of inline definitions.
        var name: String
        var action: Action
        var injections: [Injection] = []
        /// Whether the name is the property's own.
        var isNamed = true

        enum Action {
            case code(@Sendable (AnyObject, inout Arguments) throws -> Void)
            /// A method of the type, as it is described.
            case method
            /// A property of the type, as it is described.
            case property
        }
    }

    struct Parameter {
        var name: String?
        var type: Any.Type
        var shape: InvivoShape
        var defaultValue: (any InvivoConvertible)?
    }

    /// Nil: the parent's, or graph.
    var scope: Scope?
    /// Whether its scope is one that the program defines.
    var isPlaced = false
    /// The type of the object, unwrapped if it is optional.
    var value: Any.Type
    /// The name of the object's type, where the factory does not determine it.
    var typeName: String?
    /// Whether any thread may use it; nil if it is not declared.
    var isShared: Bool?
    var isNullable = false
    var making: Making
    var direct: Direct?
    /// The runtime arguments it takes.
    var parameters: [Parameter] = []
    var steps: [Step] = []
    var before: [Step] = []
    var after: [Step] = []
    var afterAll: [Step] = []
    /// Injects by code, after the steps.
    var inject: [@Sendable (AnyObject, Resolver) throws -> Void] = []
    var parent: Injection?
    var rank: Int32 = 0
    /// Whether a closure resolves its dependencies when it runs.
    var resolves = false
    /// The method of the assembly that creates the object; nil otherwise.
    var member: MemberToken?
    /// Whether it is a pattern, with one definition for each entry of the configuration.
    var isPattern = false
    var isAbstract = false
    var isHiddenByClass = false
    var isHiddenByInterface = false
    /// The source location of the declaration.
    var file: StaticString
    var line: UInt
    /// Further options, as edits of the C definition. They run at each description.
    var more: [(inout invivo_definition, Arena, Core) throws -> Void] = []
    /// The errors that are known already.
    var problems: [InvivoError] = []

    /// Whether instances are kept for each set of arguments.
    var isKept: Bool {
        switch scope {
        case .prototype, .graph, nil: isPlaced
        case .singleton, .lazySingleton, .weakSingleton, .context, .thread: true
        }
    }
}

/// An optional value of a definition.
protocol OptionalValue {
    static var wrapped: Any.Type { get }
    var instance: AnyObject? { get }
}

extension Optional: OptionalValue {
    static var wrapped: Any.Type { Wrapped.self }
    var instance: AnyObject? { map { boxed($0) } }
}

/// The instance that represents a value in the graph; nil for an empty optional.
func instance<Value>(of value: Value) -> AnyObject? {
    if Value.self is AnyClass { return value as AnyObject }
    if let optional = value as? any OptionalValue, Value.self is any OptionalValue.Type { return optional.instance }
    return boxed(value)
}

extension Draft {
    /// A definition by a registered type.
    init(
        _ type: invivo_type, _ scope: Scope?, initializer: Injections, properties: Injections,
        _ file: StaticString = "",
        _ line: UInt = 0
    ) {
        self.init(
            scope: scope, value: Object.self, making: .type(type, initializer.map { ($0.key, $0.value) }), file: file,
            line: line)
        steps = properties.map { Step(name: $0.key, action: .property, injections: [$0.value]) }
    }

    init<Value>(
        _ value: Value.Type, _ scope: Scope?, isShared: Bool?, _ making: Making, _ file: StaticString, _ line: UInt
    ) {
        let optional = value as? any OptionalValue.Type
        self.init(
            scope: scope, value: optional?.wrapped ?? value, isShared: isShared, isNullable: optional != nil,
            making: making, file: file, line: line)
        if scope == .weakSingleton, !(self.value is AnyClass) {
            problems.append(
                InvivoError(
                    .type, "a weak singleton lives as long as somebody holds it, and \(article(self.value)) is no class"
                ))
        }
    }
}
