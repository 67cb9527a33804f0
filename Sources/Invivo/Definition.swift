public import CInvivo
public import Synchronization

/// The common base class of all definitions.
public class AnyDefinition: @unchecked Sendable {
    /// Written while it is declared, by one thread, and read by activation.
    var draft: Draft { didSet { revision = Self.nextRevision() } }
    /// Changes with each new option, and is unique among definitions: activation uses it to detect changes.
    private(set) var revision = AnyDefinition.nextRevision()
    private static let revisions = Atomic(0)
    private static func nextRevision() -> Int { revisions.add(1, ordering: .relaxed).newValue }
    /// The binding to a runtime, set by activation and cleared by removal. The memory that it points to is freed with
    /// this object.
    @usableFromInline let bound = Atomic<UnsafeMutablePointer<Bound>?>(nil)
    /// The method of the assembly that creates the object; nil otherwise.
    let member: MemberToken?
    private let places = Locked(Places())
    /// The build plans of its graph.
    private let plans = Locked(Plans())

    private struct Plans {
        var plan: Plan?
        /// The number of calls for a version of the key.
        var tries = 0
        var version: UInt64 = 0
    }

    /// The data for a call of the factory.
    @usableFromInline struct Bound {
        /// Retained until the definition ends.
        @usableFromInline let core: Unmanaged<Core>
        @usableFromInline let key: invivo_key
        /// The type that an entry must be of for its instance to be the value itself; 0: it must be looked at.
        @usableFromInline let type: UInt64
        @usableFromInline let isBoxed: Bool
        /// Its class, where a plan may make its graph.
        let planned: AnyClass?
    }

    private struct Places {
        var used: [UnsafeMutablePointer<Bound>] = []
        /// Its place in a runtime, or the one that it gets when the current change set is committed.
        var place: Place?
        var assembly: String?
    }

    struct Place {
        let core: Core
        let key: invivo_key
        let name: String
    }

    init(_ draft: Draft) {
        self.draft = draft
        member = draft.member
    }

    deinit {
        for bound in places.withLock({ $0.used }) {
            bound.pointee.core.release()
            bound.deinitialize(count: 1).deallocate()
        }
    }

    /// Whether the definition is active, so that it can be called.
    public var isActive: Bool { bound.load(ordering: .acquiring) != nil }

    /// Its current place in a runtime, or its next one.
    var place: Place? { places.withLock { $0.place } }

    func stand(_ place: Place?) { places.withLock { $0.place = place } }

    func belong(to assembly: String) { places.withLock { $0.assembly = assembly } }

    func bind(_ core: Core, _ key: invivo_key, type: UInt64, isBoxed: Bool, result: AnyClass?) {
        if let now = bound.load(ordering: .acquiring)?.pointee,
            now.core.toOpaque() == Unmanaged.passUnretained(core).toOpaque(), now.key.bits == key.bits,
            now.type == type,
            (now.planned == nil) == (result == nil || draft.direct == nil)
        {
            return
        }
        let next = UnsafeMutablePointer<Bound>.allocate(capacity: 1)
        next.initialize(
            to: Bound(
                core: Unmanaged.passRetained(core), key: key, type: type, isBoxed: isBoxed,
                planned: draft.direct == nil ? nil : result))
        places.withLock { $0.used.append(next) }
        bound.store(next, ordering: .releasing)
    }

    /// Removes it from its runtime, so that it can be activated again.
    func unbind() {
        places.withLock { $0.place = nil }
        bound.store(nil, ordering: .releasing)
    }

    /// Creates the outermost object of a graph by a build plan. Returns nil if a resolve is necessary.
    func planned(_ bound: UnsafeMutablePointer<Bound>) throws(InvivoError) -> UnsafeMutableRawPointer? {
        guard let result = bound.pointee.planned, Planning.isOutside else { return nil }
        let core = bound.pointee.core.takeUnretainedValue()
        // A plan creates objects of the current generation.
        guard core.table.pointee.pin_current(core.handle).bits == 0 else { return nil }
        let (plan, tries) = plans.withLock { ($0.plan, $0.tries) }
        if let plan, plan.holds {
            switch try plan.make() {
            case .made(let instance): return instance
            case .resolve: return nil
            case .givenUp:
                plans.withLock { $0 = Plans(plan: nil, tries: Int.max, version: 0) }
                return nil
            }
        }
        guard tries != Int.max, let word = core.table.pointee.key_version(bound.pointee.key) else { return nil }
        let version = invivo_version_read(word)
        let isDue = plans.withLock { plans in
            if plans.version != version { plans = Plans(plan: nil, tries: 0, version: version) }
            plans.tries += 1
            return plans.tries > 1 && plans.tries < 8
        }
        if isDue, let next = Plan(core, bound.pointee.key, result: result), next.holds {
            plans.withLock { $0.plan = next }
        }
        return nil
    }

    /// The binding for a call.
    @inlinable @inline(__always)
    func standing() throws(InvivoError) -> UnsafeMutablePointer<Bound> {
        if let bound = bound.load(ordering: .acquiring) { return bound }
        return try activated()
    }

    /// The binding for a call of a definition that was not activated in Swift. After its assembly was described,
    /// another language or a manifest can activate it.
    @usableFromInline
    func activated() throws(InvivoError) -> UnsafeMutablePointer<Bound> {
        let (place, assembly) = places.withLock { ($0.place, $0.assembly) }
        guard let place, let assembly, try place.core.takesPart(assembly, self) else { throw notActive() }
        bind(place.core, place.key)
        guard let bound = bound.load(ordering: .acquiring) else { throw notActive() }
        return bound
    }

    func notActive() -> InvivoError {
        let assembly = places.withLock { $0.assembly }
        return InvivoError(
            .notReady,
            assembly.map { "the assembly '\($0)' must be activated: call runtime.activate(…)" }
                ?? "the assembly must be activated: call runtime.activate(…)",
            file: "\(draft.file)", line: Int(draft.line))
    }

    /// Binds its typed key in a runtime.
    func bind(_ core: Core, _ key: invivo_key) {}
}

/// A definition of an assembly: a description at first, and a typed factory once the assembly is active.
///
///     let voice = prototype { resolver, note in try Voice(note: note, clock: resolver(\Synth.clock)) }
///     …
///     let voice = try synth.voice(60)
///
/// The compiler checks the number and the types of arguments. They have no labels, because Swift's parameter packs do
/// not carry them. For labels, write the member as a method: see `prototype` of a method.
public final class Definition<Value, each Argument>: AnyDefinition, @unchecked Sendable {
    /// Resolves the object. A built shared instance costs nanoseconds and never waits. A cold one is built once, even
    /// when several threads request it.
    @inlinable
    public func callAsFunction(_ arguments: repeat each Argument) throws(InvivoError) -> Value {
        let bound = try standing()
        if bound.pointee.type != 0, Planning.isOutside,
            let value = bound.pointee.core._withUnsafeGuaranteedRef({ core in
                core.withShared(bound.pointee.key, bound.pointee.type) { instance in
                    valueOf(instance, isBoxed: bound.pointee.isBoxed, as: Value.self)
                }
            })
        {
            return value
        }
        return try resolve(bound, repeat each arguments)
    }

    @usableFromInline
    func resolve(
        _ bound: UnsafeMutablePointer<Bound>, _ arguments: repeat each Argument
    ) throws(InvivoError) -> Value {
        if let made = try planned(bound) {
            return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(made).takeRetainedValue(), to: Value.self)
        }
        let core = bound.pointee.core.takeUnretainedValue()
        let values = try values(core, repeat each arguments)
        return try core.resolve(bound.pointee.key, with: values, as: Value.self)
    }

    func values(_ core: Core, _ arguments: repeat each Argument) throws(InvivoError) -> [InvivoValue] {
        var values: [InvivoValue] = []
        for argument in repeat each arguments {
            values.append(try core.argument(argument, isKept: draft.isKept, in: place?.name))
        }
        return values
    }

    /// The key, for views: `view.with(synth.clock.key) { ... }`.
    public var key: Key<Value> {
        get throws(InvivoError) {
            let bound = try standing()
            return Key(
                bound.pointee.key, type: bound.pointee.type, isBoxed: bound.pointee.isBoxed, name: place?.name ?? "")
        }
    }

    override func bind(_ core: Core, _ key: invivo_key) {
        let typed: Key<Value> = core.key(key, place?.name ?? "", as: Value.self)
        var count = 0
        for _ in repeat (each Argument).self { count += 1 }
        bind(
            core, key, type: count == 0 ? typed.type : 0, isBoxed: typed.isBoxed,
            result: count == 0 ? Value.self as? AnyClass : nil)
    }

    /// Records its parameters in the draft.
    func declareParameters() {
        func add<Type>(_ type: Type.Type) {
            let shape = (type as? any InvivoConvertible.Type)?.invivoShape ?? InvivoShape(.any)
            draft.parameters.append(Draft.Parameter(type: type, shape: shape))
        }
        repeat add((each Argument).self)
    }
}

/// The value of an instance that is known to be the value or a box around it.
@inlinable @inline(__always)
func valueOf<Value>(_ instance: UnsafeMutableRawPointer, isBoxed: Bool, as type: Value.Type) -> Value {
    if isBoxed { return Unmanaged<Boxed<Value>>.fromOpaque(instance)._withUnsafeGuaranteedRef { $0.value } }
    return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(instance).takeUnretainedValue(), to: Value.self)
}
