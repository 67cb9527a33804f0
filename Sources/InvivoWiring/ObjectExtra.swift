public import InvivoBase
internal import InvivoContexts
internal import InvivoGraph

/// Data that only few objects have in addition to their record. Used in the object's domain, or under the container's monitor.
public final class ObjectExtra: @unchecked Sendable {
    /// Leases on injected objects, released after the object is disposed of.
    public var injected: [Value] = []
    public var injectedProperties = InjectedValues()
    /// Whether there is or was a provider or lazy among them that claims something. Guarded by the container's monitor.
    var hasDeferred = false
    /// For steps that inject all objects of a type: the keys of these objects, in order.
    var candidates: NameTable<[UInt32]> = [:]
    /// The state of InvivoTraits for the object (base values and applied values).
    public var tuning: (any PropertyCover)?
    /// Called once before disposal, to release attachments.
    public var beforeDisposal: [@Sendable () -> Void] = []
    /// Whether `beforeDisposal` has the function that notifies the engine of an attached object's end. Accessed by the
    /// reload that has the turn.
    public var reportsDisposal = false
    /// The life cycle state of the object. Guarded by the container's monitor.
    public var life = LifeState.made
    /// The limits of its start and stop, in nanoseconds; 0: those of the runtime's options. Guarded by the container's
    /// monitor.
    var timeouts: (start: UInt64, stop: UInt64) = (0, 0)
    /// Whether the dependencies that its type declares were injected when it was created without a definition.
    var hasNeeds: Bool {
        get { creation.contains(.needs) }
        set { creation = newValue ? creation.union(.needs) : creation.subtracting(.needs) }
    }
    /// Whether objects were among the runtime arguments of its creation. Written before other code has the object.
    var isGivenObjects: Bool {
        get { creation.contains(.given) }
        set { creation = newValue ? creation.union(.given) : creation.subtracting(.given) }
    }
    private var creation: Creation = []

    private struct Creation: OptionSet {
        let rawValue: UInt8
        static let needs = Creation(rawValue: 1)
        static let given = Creation(rawValue: 2)
    }
    /// The state of an object whose end its language decides once it is retired. Guarded by the container's monitor.
    var retirement: Retirement {
        if let knownRetirement { return knownRetirement }
        let retirement = Retirement()
        knownRetirement = retirement
        return retirement
    }
    private var knownRetirement: Retirement?
    /// Under the monitor: whether the object lives on without leases while its language refers to it.
    var outlivesLeases: Bool {
        guard life == .started, let knownRetirement else { return false }
        return knownRetirement.firstReferences != nil && !knownRetirement.isReleased
    }
    /// The effects and children that its setup has registered. Guarded by the container's monitor.
    var belongings: Belongings?
    var contexts = Contexts()

    struct Contexts {
        /// The context that is attached to the object. Guarded by the container's monitor.
        var attached: HeldContext?
        /// The context in which the object was created; nil if there was none. Written before other code has the object.
        var home: ContextHandle?
    }
    /// The type of an object that outlives its runtime.
    var keptType: ObjectType?
    public init() {}

    func forEachInjectedValue(_ body: (Value) -> Void) {
        for value in injected { body(value) }
        for value in injectedProperties.values { body(value) }
    }
}

/// The injected values of one object by the name of their step, in the order of injection.
public struct InjectedValues {
    private var entries: [(name: String, value: Value)] = []

    public subscript(name: String) -> Value? {
        get { entries.first { $0.name.isSameName(as: name) }?.value }
        set {
            entries.removeAll { $0.name.isSameName(as: name) }
            if let newValue { entries.append((name, newValue)) }
        }
    }

    public var values: some Sequence<Value> { entries.lazy.map(\.value) }

    mutating func removeValue(forKey name: String) -> Value? { updateValue(nil, forKey: name) }

    mutating func updateValue(_ value: Value?, forKey name: String) -> Value? {
        defer { self[name] = value }
        return self[name]
    }

    /// Removes and returns the last entry; nil when there is none.
    mutating func popLast() -> Value? { entries.popLast()?.value }
}
