/// The source of a parameter, a property or a method argument: `.value(3)`, `.reference("synth.clock")`,
/// `.type(Clock.self)`, `.member(\Synth.clock)`, … A constant may be written as a literal.
public struct Injection {
    /// The way in which the value is obtained when an object is created.
    ///
    /// Not `indirect`: references to the boxes of such an enumeration have its case in their spare bits, so
    /// LeakSanitizer reports the content of a static as a leak.
    enum How {
        case value(any InvivoConvertible)
        /// An instance that is there already, of any class.
        case instance(AnyObject)
        case key(String, [Injection])
        /// A member of the assembly that contains the injection, or of a collaborator.
        case member(MemberPath, [Injection])
        /// A member of a collaborator that is known by name.
        case foreign([Injection], String, of: (Assembly) throws(InvivoError) -> String)
        /// Another definition: a member or an inline one.
        case definition(AnyDefinition, [Injection])
        case type(Any.Type)
        /// A list of the objects of all definitions of a type.
        case all(Any.Type)
        /// A lookup, or a list of all, by the name of a type of any language.
        case typeName(String, isAll: Bool)
        case argument(Int)
        case arguments
        case path(Inner, String)
        case list([Injection])
        case set([Injection])
        case map([(name: String, injection: Injection)])
        case provider(Inner)
        case lazy(Inner)
        case weak(Inner)
        /// A value without dependencies in the graph, created here.
        case own
        case asker
        case resolver
        /// The value at a path of the entry of a definition with `each`, with its default.
        case entry(String, Inner?)
        case entryName
        /// A value of the configuration, with its default, in a kind.
        case config(String, Inner?, InvivoKind)
        case text(Inner, String?)
        /// The value of a key of contexts, from the nearest context of a kind, with its default. The key is declared in the runtime.
        case context(String, kind: String?, Inner?, declare: (Core) throws(InvivoError) -> Void)
    }

    /// An injection inside another one.
    final class Inner {
        let injection: Injection
        init(_ injection: Injection) { self.injection = injection }
    }

    var how: How
    var isOptional = false
    var isExact = false
    var isGreedy = false
    var onChange: OnChange?
    var owns = false
    /// The class of the receiver, whose converter reads strings of the configuration.
    var place: AnyClass?
    /// The methods that are notified of added and removed candidates of a list.
    var listeners: (added: String, removed: String)?

    init(_ how: How) { self.how = how }

    /// A constant.
    public static func value(_ value: some InvivoConvertible) -> Injection { Injection(.value(value)) }

    /// A constant of any kind that crosses between languages.
    public static func value(_ value: InvivoValue) -> Injection { Injection(.value(value)) }

    /// An object that is there already.
    public static func instance(_ instance: AnyObject) -> Injection { Injection(.instance(instance)) }

    /// The object of a key, with its runtime arguments. The key may be defined later in the same change set.
    public static func reference(_ key: String, _ arguments: Injection...) -> Injection {
        Injection(.key(key, arguments))
    }

    /// The object of another member of the assembly, or of a collaborator: `.member(\Synth.clock)`.
    public static func member<Part: Assembly, Value, each Argument>(
        _ path: KeyPath<Part, Definition<Value, repeat each Argument>>, _ arguments: Injection...
    ) -> Injection {
        Injection(.member(MemberPath(path), arguments))
    }

    /// The object of a collaborator's member: `.member(\Synth.tuning, \.scale)`.
    public static func member<Part: Assembly, Other, Value, each Argument>(
        _ collaborator: KeyPath<Part, Collaborator<Other>>,
        _ path: KeyPath<Other, Definition<Value, repeat each Argument>>, _ arguments: Injection...
    ) -> Injection {
        Injection(.member(MemberPath(collaborator, path), arguments))
    }

    /// The object of a collaborator's key, by name: `.member(\Synth.studio, "scale")`.
    public static func member<Part: Assembly>(
        _ collaborator: KeyPath<Part, NamedCollaborator>, _ key: String, _ arguments: Injection...
    ) -> Injection {
        Injection(
            .foreign(
                arguments, key,
                of: { assembly throws(InvivoError) in try assembly.as(Part.self)[keyPath: collaborator].prefix ?? "" }))
    }

    /// The object of an inline definition. Its key is derived from its position.
    public static func inline<Value, each Argument>(
        _ definition: Definition<Value, repeat each Argument>, _ arguments: Injection...
    ) -> Injection {
        Injection(.definition(definition, arguments))
    }

    /// The object of the one definition of a type: of a class or a derived class, or of a protocol
    /// (`(any Clock).self`).
    public static func type(_ type: Any.Type) -> Injection { Injection(.type(type)) }

    /// A list: one of each definition of a type, by rank, then as declared.
    public static func all(_ type: Any.Type) -> Injection { Injection(.all(type)) }

    /// A runtime argument of the definition, counted from 0.
    public static func argument(_ index: Int) -> Injection { Injection(.argument(index)) }

    /// A list of all runtime arguments.
    public static var arguments: Injection { Injection(.arguments) }

    /// The property at a path of another injection's object: `.property("theme.name", of: .reference("app.settings"))`.
    public static func property(_ path: String, of injection: Injection) -> Injection {
        Injection(.path(Inner(injection), path))
    }

    /// A list, a fresh one for each object.
    public static func list(_ items: Injection...) -> Injection { Injection(.list(items)) }

    /// A list without equal elements, created for each object.
    public static func set(_ items: Injection...) -> Injection { Injection(.set(items)) }

    /// A map, a fresh one for each object.
    public static func map(_ items: KeyValuePairs<String, Injection>) -> Injection {
        Injection(.map(items.map { (name: $0.key, injection: $0.value) }))
    }

    /// A `Provider` of another injection.
    public static func provider(of injection: Injection) -> Injection { Injection(.provider(Inner(injection))) }

    /// A `Lazy` of another injection.
    public static func lazy(of injection: Injection) -> Injection { Injection(.lazy(Inner(injection))) }

    /// A `Weak` of another injection.
    public static func weak(of injection: Injection) -> Injection { Injection(.weak(Inner(injection))) }

    /// The key of the requester, or null. An object with this injection is never shared.
    public static var asker: Injection { Injection(.asker) }

    /// The same injection; null when the key or type has no definition, or its factory returns null. A provider, lazy
    /// or weak reference is null as long as there is no definition to resolve.
    public var optional: Injection {
        with { copy in
            switch how {
            case .provider(let of): copy.how = .provider(Inner(of.injection.optional))
            case .lazy(let of): copy.how = .lazy(Inner(of.injection.optional))
            case .weak(let of): copy.how = .weak(Inner(of.injection.optional))
            default: copy.isOptional = true
            }
        }
    }

    /// The same injection, restricted to the type itself without derived types.
    public var exact: Injection { with { $0.isExact = true } }

    /// The same injection, bound again when a better candidate of the type is added. Otherwise an existing binding
    /// stays.
    public var greedy: Injection { with { $0.isGreedy = true } }

    /// The same injection, with a declaration of how its holder follows changes. For an injection as a whole, not for an
    /// item of a list or the target of a provider.
    public func onChange(_ onChange: OnChange) -> Injection { with { $0.onChange = onChange } }

    /// The same injection, whose holder owns what it receives: it is set up again when that changes, like the owner of a child.
    /// Also for a provider or lazy reference. For an injection as a whole.
    public func owned() -> Injection { with { $0.owns = true } }

    private func with(_ change: (inout Injection) -> Void) -> Injection {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Injection: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    public init(booleanLiteral value: Bool) { self = .value(value) }
    public init(integerLiteral value: Int64) { self = .value(value) }
    public init(floatLiteral value: Double) { self = .value(value) }
    public init(stringLiteral value: String) { self = .value(value) }
}

/// Injections by name; an empty name stands for the position.
public typealias Injections = KeyValuePairs<String, Injection>

/// The path to a member, from the assembly that contains the reference.
struct MemberPath {
    /// Answers the member, or the inner assembly's.
    let read: (Assembly) throws(InvivoError) -> AnyDefinition

    init<Part: Assembly, Value, each Argument>(_ path: KeyPath<Part, Definition<Value, repeat each Argument>>) {
        read = { assembly throws(InvivoError) in try assembly.as(Part.self)[keyPath: path] }
    }

    init<Part: Assembly, Other, Value, each Argument>(
        _ collaborator: KeyPath<Part, Collaborator<Other>>,
        _ path: KeyPath<Other, Definition<Value, repeat each Argument>>
    ) {
        read = { assembly throws(InvivoError) in
            try assembly.as(Part.self)[keyPath: collaborator].met()[keyPath: path]
        }
    }
}

extension Assembly {
    /// The assembly as the class that a key path begins at.
    func `as`<Part: Assembly>(_ part: Part.Type) throws(InvivoError) -> Part {
        guard let part = self as? Part else {
            throw InvivoError(
                .type, "the recipe belongs to \(article(Swift.type(of: self))), not to \(article(Part.self))",
                path: name)
        }
        return part
    }
}
