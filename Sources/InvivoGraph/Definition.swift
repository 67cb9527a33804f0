public import CInvivo
internal import CPlatform
public import InvivoBase
internal import Synchronization

/// Determines the lifetime of an instance, and which dependents share it.
public enum Scope: UInt32, Sendable {
    case prototype = 1
    case graph = 2
    case singleton = 3
    case lazySingleton = 4
    case weakSingleton = 5
    /// One for each context.
    case context = 6
    /// One for each thread.
    case thread = 7
    /// One for each instance of a host scope.
    case host = 8

    /// Whether it has one instance that lives beyond the resolve that created it.
    public var isShared: Bool { self != .prototype && self != .graph }
    /// Whether it fits a block, whose values exist once for each key.
    public var isForValues: Bool { self == .singleton || self == .lazySingleton }
    /// Whether there is one object for each scope instance.
    public var isPlaced: Bool { self == .context || self == .thread || self == .host }

    public var name: String {
        switch self {
        case .prototype: "prototype"
        case .graph: "graph"
        case .singleton: "singleton"
        case .lazySingleton: "lazy singleton"
        case .weakSingleton: "weak singleton"
        case .context: "context"
        case .thread: "thread"
        case .host: "host"
        }
    }
}

/// A host's factory function with its user data. `destroy` is called once, with the last definition that uses it.
public final class Factory: Sendable {
    public typealias Function =
        @convention(c) (
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<invivo_build>?, UnsafePointer<invivo_value>?,
            Int,
            UnsafeMutableRawPointer?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status

    public typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void

    public let function: Function?
    private let data: HostPointer
    private let owners: Mutex<Owners>

    private struct Owners {
        /// Shared by all factories with the same user data.
        var ownership: Ownership
        /// The owner of the user data, for a copy.
        var kept: Factory?
    }

    private final class Ownership: Sendable {
        let userData: HostPointer
        private let destroyer: Mutex<Destroy?>

        init(_ userData: HostPointer, _ destroy: Destroy?) {
            self.userData = userData
            destroyer = Mutex(destroy)
        }

        deinit { if let destroy { ending { [userData] in destroy(userData.raw) } } }

        var destroy: Destroy? { destroyer.withLock { $0 } }
        func disown() { destroyer.withLock { $0 = nil } }
    }

    public init(_ function: Function?, userData: UnsafeMutableRawPointer?, destroy: Destroy?) {
        self.function = function
        data = HostPointer(userData)
        owners = Mutex(Owners(ownership: Ownership(data, destroy)))
    }

    public var userData: UnsafeMutableRawPointer? { data.raw }

    /// The owner of the user data, for a copy.
    public var kept: Factory? {
        get { owners.withLock { $0.kept } }
        set {
            let former = owners.withLock { owners in
                defer { owners.kept = newValue }
                return owners.kept
            }
            withExtendedLifetime(former) {}
        }
    }

    private var ownership: Ownership { owners.withLock { $0.ownership } }

    /// Leaves the user data with the host.
    public func disown() { ownership.disown() }

    /// A closure that disowns this later, when it may have been joined with another factory, which keeps the ownership
    /// of its own data.
    public var disowner: () -> Void {
        let given = ownership
        return { given.disown() }
    }

    /// Joins two factories with the same user data, which then ends with the last of them.
    func join(_ other: Factory) {
        let (former, joined) = (ownership, other.ownership)
        guard former !== joined else { return }
        former.disown()
        owners.withLock { $0.ownership = joined }
    }

    func isSame(as other: Factory) -> Bool {
        unsafeBitCast(function, to: UInt.self) == unsafeBitCast(other.function, to: UInt.self)
            && userData == other.userData
            && unsafeBitCast(ownership.destroy, to: UInt.self) == unsafeBitCast(other.ownership.destroy, to: UInt.self)
    }

    /// The function and its data as numbers, for the host that they belong to.
    public var address: (function: UInt64, data: UInt64) {
        let code = unsafeBitCast(function, to: UnsafeRawPointer?.self)
        return (UInt64(UInt(bitPattern: code)), UInt64(UInt(bitPattern: userData)))
    }

    /// Calls the factory. Returns the created instance, or the given memory.
    public func run(
        _ what: @autoclosure () -> String, _ memory: UnsafeMutableRawPointer?, _ build: UnsafePointer<invivo_build>,
        _ arguments: [Value]
    ) throws(Failure) -> UnsafeMutableRawPointer? {
        var instance = memory
        guard let function else { return instance }
        try CallbackResult.run(what()) { error in
            Value.withBorrowed(arguments) { function(&instance, build, $0, $1, userData, error) }
        }
        return instance
    }
}

/// The definition of a key, as described. Immutable.
public final class Definition: Sendable {
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let abstract = Flags(rawValue: 1)
        public static let hiddenClass = Flags(rawValue: 2)
        public static let hiddenInterface = Flags(rawValue: 4)
        public static let nullable = Flags(rawValue: 8)
        public static let exclusive = Flags(rawValue: 16)
        public static let waits = Flags(rawValue: 32)
        public static let tracked = Flags(rawValue: 64)
        public static let restart = Flags(rawValue: 128)
        public static let known: Flags = [
            .abstract, .hiddenClass, .hiddenInterface, .nullable, .exclusive, .waits, .tracked, .restart,
        ]
    }

    public let id: UInt32
    public let key: String
    /// The rest of the definition. Copies replace it as a whole.
    public let body: Body
    /// The details of the packed definition from which this one is derived. An equal packed copy shares them.
    // Unchecked: immutable.
    nonisolated(unsafe) let details: DefinitionDetails?

    /// The content of a definition. Parts that most definitions do not have are kept apart, so that a copy is cheap.
    public struct Body: Sendable {
        /// Nil stands for the parent's scope, or graph.
        public var scope: Scope?
        public var flags: Flags = []
        public var type: ObjectType?
        /// In the order of the type's parameters, and checked against them. For an alias: the runtime arguments of its
        /// target. An alias that declares `parameters` gives all of them; another one gives the first ones, before
        /// those that it receives.
        public var initializer: [Injection] = []
        public var properties: [Injection] = []
        public var location = Location()
        /// The position among all definitions; kept when the key is defined again.
        public var order = DefinitionOrder()
        /// The name under which its assembly is active.
        public var assembly: String?
        var creation: Shared<Creation>?
        var relations: Shared<Relations>?
        var settings: Shared<Settings>?

        public init() {}
    }

    public convenience init(id: UInt32, key: String, _ body: consuming Body) {
        self.init(id: id, key: key, body, details: nil)
    }

    init(id: UInt32, key: String, _ body: consuming Body, details: DefinitionDetails?) {
        self.id = id
        self.key = key
        self.body = body
        self.details = details
    }

    public convenience init(
        id: UInt32, key: String, scope: Scope, type: ObjectType?, initializer: [Injection] = [],
        properties: [Injection] = [],
        location: Location = Location()
    ) {
        var body = Body()
        body.scope = scope
        body.type = type
        body.initializer = initializer
        body.properties = properties
        body.location = location
        self.init(id: id, key: key, body)
    }

    public func with(_ change: (inout Body) -> Void) -> Definition {
        var body = body
        change(&body)
        return Definition(id: id, key: key, body, details: details)
    }

    /// Returns the definition at another position in the order of all definitions.
    public func at(_ order: DefinitionOrder) -> Definition {
        body.order == order ? self : with { $0.order = order }
    }

    /// Returns the definition as one of an assembly.
    public func of(assembly: String) -> Definition {
        body.assembly.isSameName(as: assembly) ? self : with { $0.assembly = assembly }
    }

    public var type: ObjectType? { body.type }
    public var alias: String? { body.alias }
    /// Whether it is an alias and nothing more: it declares no runtime arguments, and passes them on unchanged.
    public var isPlainAlias: Bool { body.alias != nil && body.initializer.isEmpty && body.parameters == nil }
    /// The name of the settings that a key stands for. Hosts define `settings:NAME` for the value of a binding. Such a definition comes
    /// and goes with the binding, which no rollback changes.
    public static func settings(of key: String) -> String? {
        key.hasPrefix("settings:") ? String(key.dropFirst("settings:".count)) : nil
    }
    public var isOfSettings: Bool { Self.settings(of: key) != nil }
    public var location: Location { body.location }
    public var base: [Int: Value] { body.base }
    public var scope: Scope { body.scope ?? .graph }
    /// The spec key of definitions to whose objects no traits apply.
    public static let noSpecKey = "none"
    /// The key whose traits apply to its objects; nil if none do. Of a definition with its inherited parts.
    public var specKey: String? {
        guard let declared = body.specKey else { return key }
        return declared == Self.noSpecKey ? nil : declared
    }
    /// The name of the scope, for messages.
    public var scopeName: String {
        switch scope {
        case .host: body.scopeName ?? scope.name
        case .context: body.scopeName.map { "context(\($0))" } ?? scope.name
        default: scope.name
        }
    }
    public var isAbstract: Bool { body.flags.contains(.abstract) || body.each != nil || body.isPattern }

    /// This definition with the inherited parts of its parent, which has inherited from its own parent before.
    ///
    /// Type, scope, factory, parameters, injections and hooks are inherited where this definition has none. Properties
    /// are merged by name; each keeps the position that it has in the parent. Not inherited: flags, rank, alias, source
    /// location, order.
    public func inheriting(from parent: Definition) -> Definition {
        with { body in
            let former = parent.body
            if body.type == nil && body.typeName == nil {
                (body.type, body.typeName) = (former.type, former.typeName)
                body.generic = body.generic ?? former.generic
            }
            if body.scope == nil { (body.scope, body.scopeName) = (former.scope, former.scopeName) }
            let makesItself =
                body.factory != nil || body.maker != nil || body.constant != nil || !body.initializer.isEmpty
            if !makesItself {
                body.factory = former.factory
                body.maker = former.maker
                body.initializer = former.initializer
            }
            body.keepAlive = body.keepAlive ?? former.keepAlive
            body.parameters = body.parameters ?? former.parameters
            var properties = former.properties.map { old in
                body.properties.first { $0.name.isSameName(as: old.name) } ?? old
            }
            properties += body.properties.filter { own in
                !former.properties.contains { $0.name.isSameName(as: own.name) }
            }
            body.properties = properties
            body.methods =
                former.methods.filter { old in !body.methods.contains { $0.method == old.method } } + body.methods
            if body.before.isEmpty { body.before = former.before }
            if body.after.isEmpty { body.after = former.after }
            if body.afterAll.isEmpty { body.afterAll = former.afterAll }
            body.inject = body.inject ?? former.inject
            if body.startTimeout == 0 { body.startTimeout = former.startTimeout }
            if body.stopTimeout == 0 { body.stopTimeout = former.stopTimeout }
            body.onChange = body.onChange ?? former.onChange
            body.onChangeReason = body.onChangeReason ?? former.onChangeReason
            body.specKey = body.specKey ?? former.specKey
            body.base = Self.base(former.base, of: former.type, for: body.type).merging(body.base) { _, own in own }
        }
    }
}

extension Definition {
    /// Base values of one type as those of another, which has the properties at other indices, or does not have them.
    public static func base(_ values: [Int: Value], of former: ObjectType?, for type: ObjectType?) -> [Int: Value] {
        guard !values.isEmpty, let type, let former, type !== former else { return values }
        var base: [Int: Value] = [:]
        for (index, value) in values {
            let name = former.description.properties[index].name
            guard let found = try? type.description.property(named: name).property, !found.isReadOnly,
                let value = try? found.check(value)
            else { continue }
            base[type.description.index(of: found)] = value
        }
        return base
    }
}

/// A host's function that injects by code.
public struct Injector: Sendable {
    public typealias Function =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<invivo_build>?, UnsafePointer<invivo_value>?, Int,
            UnsafeMutableRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public let function: Function
    private let data: HostPointer
    public var userData: UnsafeMutableRawPointer? { data.raw }

    func isSame(as other: Injector) -> Bool {
        unsafeBitCast(function, to: UInt.self) == unsafeBitCast(other.function, to: UInt.self)
            && userData == other.userData
    }
    /// The owner of the user data; retained as long as the function may be called.
    let owner: (any AnyObject & Sendable)?

    public init(_ function: Function, userData: UnsafeMutableRawPointer?, owner: (any AnyObject & Sendable)?) {
        self.function = function
        data = HostPointer(userData)
        self.owner = owner
    }

    public func run(
        _ key: String, _ instance: UnsafeMutableRawPointer, _ build: UnsafePointer<invivo_build>, _ arguments: [Value]
    ) throws(Failure) {
        try CallbackResult.run("the inject function of '\(key)'") { error in
            Value.withBorrowed(arguments) { function(instance, build, $0, $1, userData, error) }
        }
    }
}
