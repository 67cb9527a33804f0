public import CInvivo
public import InvivoBase

/// Changes definitions before they are compiled, or replaces objects when they are created. Immutable; `destroy` is
/// called with the last reference to it.
public final class Processor: Sendable {
    public typealias Decorate =
        @convention(c) (
            invivo_object, UnsafePointer<invivo_build>?, UnsafeMutablePointer<invivo_object>?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    /// Returns the definition, or its replacement.
    public typealias Process = @Sendable (Definition) throws(Failure) -> Definition

    /// A function that replaces objects.
    public enum Decorator: Sendable {
        case function(Decorate)
        /// The object of a key: by a method that takes the object, or created with the object as a runtime argument.
        case component(UInt32, name: String, method: String?)
    }

    public let name: String
    /// The only key that it applies to; nil for all keys.
    public let key: (id: UInt32, name: String)?
    public let type: String?
    public let priority: Int32
    public let process: Process?
    public let decorator: Decorator?
    /// The source location, for messages.
    public let location: Location
    /// Holds the host's data.
    private let owner: Factory

    public init(
        name: String, key: (id: UInt32, name: String)?, type: String?, priority: Int32, process: Process?,
        decorator: Decorator?, owner: Factory, location: Location = Location()
    ) {
        self.location = location
        self.name = name
        self.key = key
        self.type = type
        self.priority = priority
        self.process = process
        self.decorator = decorator
        self.owner = owner
    }

    /// Leaves the user data with the host, because the call that received the processor fails.
    public func disown() { owner.disown() }

    /// The key whose object decorates.
    public var componentID: UInt32? {
        if case .component(let id, _, _)? = decorator { return id }
        return nil
    }

    /// Whether it concerns a key whose objects are of a type.
    public func concerns(_ id: UInt32, _ type: ObjectType?) -> Bool {
        if let key, key.id != id { return false }
        guard let wanted = self.type else { return true }
        return type?.description.isKind(of: wanted) ?? false
    }

    /// Whether it decorates the objects of a compiled definition. The graph of its own component is excluded elsewhere.
    public func decorates(_ recipe: Recipe) -> Bool {
        guard decorator != nil, recipe.isDecorable else { return false }
        return concerns(recipe.id, recipe.type)
    }

    /// Calls the function on an object; the answer has a lease for the caller, or is 0.
    public func run(_ function: Decorate, _ object: UInt64, _ build: UnsafePointer<invivo_build>) throws(Failure)
        -> UInt64
    {
        var answer = invivo_object()
        let data = owner.userData
        try CallbackResult.run("the decorator '\(name)'") {
            function(invivo_object(bits: object), build, &answer, data, $0)
        }
        return answer.bits
    }
}
