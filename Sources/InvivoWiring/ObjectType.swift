public import InvivoBase

/// A registered type in one runtime: its description and the domain of its confined objects.
public final class ObjectType: @unchecked Sendable {
    public let description: TypeDescription
    /// Holds the types, so it outlives them while the runtime lives; objects that survive a deferred close keep it.
    public let container: Container
    /// Nil for shared types: any thread.
    public let domain: Domain?

    init(_ description: TypeDescription, container: Container, domain: Domain?) {
        self.description = description
        self.container = container
        self.domain = domain
    }

    public var name: String { description.name }
    /// Nothing but a block: no instance is made.
    public var isBlockOnly: Bool { description.size == 0 && description.functions.make == nil }
}

/// What few objects need besides their record. Touched in the object's domain, or under the container's monitor.
public final class ObjectExtra: @unchecked Sendable {
    /// Leases on what was injected, given back after the object is disposed.
    public var injected: [Value] = []
    public var injectedProperties: [String: Value] = [:]
    /// The traits room's state of the object (base values and what is applied).
    public var tuning: AnyObject?
    /// Called once before disposal: attachments let go.
    public var beforeDisposal: [@Sendable () -> Void] = []
    public var isStarted = false
    public init() {}
}
