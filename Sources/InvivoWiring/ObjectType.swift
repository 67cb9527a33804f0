internal import CPlatform
public import InvivoBase
public import InvivoObjects

/// A registered type in one runtime: its description and the domain of its confined objects.
public final class ObjectType: @unchecked Sendable {
    public let description: TypeDescription
    /// Holds the types, so it outlives them while the runtime lives; objects that survive a deferred close keep it.
    public let container: Container
    /// Nil for shared types: any thread.
    public let domain: Domain?

    /// What every object of it needs: properties, each with what goes into it.
    public let needs: [Injection]
    /// How objects without a definition are injected in the generation named; guarded by the container's monitor.
    var ownRecipe: (generation: UInt64, recipe: Recipe)?

    /// What hot paths read.
    let raw: UnsafeMutablePointer<iv_type>
    private let image: UnsafeMutableRawPointer?

    init(_ description: TypeDescription, container: Container, domain: Domain?, needs: [Injection] = []) {
        self.description = description
        self.needs = needs
        self.container = container
        self.domain = domain
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_type())
        if description.size > 0 && !description.properties.isEmpty {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: description.size, alignment: 16)
            bytes.initializeMemory(as: UInt8.self, repeating: 0, count: description.size)
            description.applyInitialValues(to: bytes)
            image = bytes
        } else {
            image = nil
        }
        fillRaw()
    }

    private func fillRaw() {
        let functions = description.functions
        let alignment = max(16, description.alignment)
        raw.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
        raw.pointee.container = Unmanaged.passUnretained(container).toOpaque()
        raw.pointee.size = UInt64(description.size)
        raw.pointee.offset = UInt64((MemoryLayout<iv_record>.size + alignment - 1) & ~(alignment - 1))
        raw.pointee.image = UnsafeRawPointer(image)
        raw.pointee.`init` = unsafeBitCast(functions.initialize, to: type(of: raw.pointee.`init`))
        raw.pointee.end = description.size > 0 ? functions.deinitialize : functions.release
        raw.pointee.user_data = description.userData
        raw.pointee.thread = domain?.thread ?? 0
        raw.pointee.handle = description.handleBits
        let needsNothing = description.signature.parameters.allSatisfy(\.isOptional)
        // Where no thread is the domain, who may touch a prototype is found out by asking: the general way does.
        let isSimple =
            domain?.isHere == nil && description.size > 0 && alignment == 16 && functions.start == nil
            && functions.stop == nil && functions.prepare == nil
            && functions.willInject == nil && !functions.hearsOfCompletion
        raw.pointee.is_simple = isSimple ? 1 : 0
        raw.pointee.is_plain = isSimple && needsNothing ? 1 : 0
        raw.pointee.has_stop = functions.stop == nil ? 0 : 1
        raw.pointee.has_weak = description.hasWeakReferences ? 1 : 0
    }

    deinit {
        raw.deallocate()
        image?.deallocate()
    }

    public var name: String { description.name }
    /// Its objects are prepared, started or stopped.
    var hasLife: Bool {
        let functions = description.functions
        return functions.start != nil || functions.stop != nil || functions.prepare != nil
    }
    /// Whether its objects take something when they are started and give it back when they are stopped.
    public var canBeExclusive: Bool { description.functions.start != nil && description.functions.stop != nil }
    /// Nothing but a block: no instance is made.
    public var isBlockOnly: Bool { description.size == 0 && description.functions.make == nil }
}

/// What few objects need besides their record. Touched in the object's domain, or under the container's monitor.
public final class ObjectExtra: @unchecked Sendable {
    /// Leases on what was injected, given back after the object is disposed.
    public var injected: [Value] = []
    public var injectedProperties = InjectedValues()
    /// Whether there is or was a provider or lazy among them that claims something. Guarded by the container's monitor.
    var hasLate = false
    /// Of a step that injects all of a type: whose objects these are, in their order.
    var candidates: NameTable<[UInt32]> = [:]
    /// The traits room's state of the object (base values and what is applied).
    public var tuning: (any PropertyCover)?
    /// Called once before disposal: attachments let go.
    public var beforeDisposal: [@Sendable () -> Void] = []
    /// Whether `beforeDisposal` has what tells the engine of an attached object's end. Touched by the reload that has the turn.
    public var tellsOfDisposal = false
    /// Where the object is in its life. Guarded by the container's monitor.
    public var life = LifeState.made
    /// How long its start and stop may take, in nanoseconds; 0: as the runtime's options say. Guarded by the container's monitor.
    var startTimeout: UInt64 = 0
    var stopTimeout: UInt64 = 0
    /// Whether what its type needs was filled when it was made without a definition.
    var hasNeeds = false
    /// Whether it was made with objects among its runtime arguments. Written before anybody else has the object.
    var isGivenObjects = false
    /// How its language's references decide when it ends, once it is retired. Guarded by the container's monitor.
    var retirement = Retirement()
    /// Under the monitor: whether the object goes on without leases while its language refers to it.
    var outlivesLeases: Bool { life == .started && retirement.firstReferences != nil && !retirement.isReleased }
    /// Of an object that survives its runtime.
    var keptType: ObjectType?
    public init() {}

    func forEachInjectedValue(_ body: (Value) -> Void) {
        for value in injected { body(value) }
        for value in injectedProperties.values { body(value) }
    }
}

/// What the steps of one object injected, by the step's name, in the order in which that came.
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

    /// The last that came; nil when none is left.
    mutating func popLast() -> Value? { entries.popLast()?.value }
}
