public import CInvivo
internal import CPlatform
public import InvivoBase

public enum Scope: UInt32, Sendable {
    case prototype = 0
    case lazySingleton = 1
    case singleton = 2
}

/// One thing injected.
public struct Injection: Sendable {
    public indirect enum Source: Sendable {
        case value(Value)
        case reference(String)
        case list([Source])
        case map([(name: String, source: Source)])

        /// The keys it names.
        var references: [String] {
            switch self {
            case .value: []
            case .reference(let key): [key]
            case .list(let items): items.flatMap(\.references)
            case .map(let pairs): pairs.flatMap(\.source.references)
            }
        }
    }
    /// Of the parameter or property; nil goes by position.
    public let name: String?
    public let source: Source

    public init(name: String?, _ source: Source) {
        self.name = name
        self.source = source
    }
}

/// A host's factory function and what belongs to it; `destroy` is called once, with the last definition that uses it.
public final class Factory: @unchecked Sendable {
    public typealias Function = @convention(c) (
        UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<invivo_build>?, UnsafePointer<invivo_value>?, Int,
        UnsafeMutableRawPointer?, UnsafeMutablePointer<OpaquePointer?>?
    ) -> invivo_status

    public let function: Function?
    let userData: UnsafeMutableRawPointer?
    private let destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    public init(
        _ function: Function?, userData: UnsafeMutableRawPointer?,
        destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    ) {
        self.function = function
        self.userData = userData
        self.destroy = destroy
    }

    deinit { destroy?(userData) }

    /// Calls it; the instance it answers, or the place it was given.
    func run(
        _ what: @autoclosure () -> String, _ place: UnsafeMutableRawPointer?, _ build: UnsafePointer<invivo_build>,
        _ arguments: [Value]
    ) throws(Failure) -> UnsafeMutableRawPointer? {
        var instance = place
        guard let function else { return instance }
        try CallbackResult.run(what()) { error in
            Value.withBorrowed(arguments) { function(&instance, build, $0, $1, userData, error) }
        }
        return instance
    }
}

/// The recipe for a key. Immutable.
public final class Definition: @unchecked Sendable {
    public let id: UInt32
    public let key: String
    public let scope: Scope
    /// Nil only for an alias.
    public let type: ObjectType?
    public let factory: Factory?
    /// What ends with the definition though it makes nothing.
    let keepAlive: Factory?
    /// In the order of the type's parameters; checked against them.
    public let initializer: [Injection]
    public let properties: [Injection]
    /// Base values of tunable properties set by change sets, over those of the declaration.
    public let base: [Int: Value]
    public let alias: String?
    public let place: Place

    public init(
        id: UInt32, key: String, scope: Scope, type: ObjectType?, factory: Factory? = nil, keepAlive: Factory? = nil, initializer: [Injection] = [],
        properties: [Injection] = [], base: [Int: Value] = [:], alias: String? = nil, place: Place = Place()
    ) {
        self.id = id
        self.key = key
        self.scope = scope
        self.type = type
        self.factory = factory
        self.keepAlive = keepAlive
        self.initializer = initializer
        self.properties = properties
        self.base = base
        self.alias = alias
        self.place = place
    }

    /// A prototype that is made from its type alone.
    var isPlainPrototype: Bool {
        scope == .prototype && alias == nil && factory == nil && initializer.isEmpty && properties.isEmpty && base.isEmpty
            && type?.raw.pointee.is_plain == 1
    }

    public func with(base: [Int: Value]) -> Definition {
        Definition(
            id: id, key: key, scope: scope, type: type, factory: factory, keepAlive: keepAlive, initializer: initializer,
            properties: properties, base: base, alias: alias, place: place)
    }

    /// Keys it names, with how: through the initializer (a dependent is remade) or a property (it is re-injected).
    public var references: [(key: String, throughInitializer: Bool)] {
        var found: [(key: String, throughInitializer: Bool)] = []
        for injection in initializer { for key in injection.source.references { found.append((key, true)) } }
        for injection in properties { for key in injection.source.references { found.append((key, false)) } }
        return found
    }
}
