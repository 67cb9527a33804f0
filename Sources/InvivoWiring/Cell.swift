public import CPlatform
public import InvivoBase
public import InvivoGraph
public import InvivoObjects

/// The shared instance of one definition; with runtime arguments, one for each set of them. Everything here is guarded by the
/// container's monitor, and exists only if an instance was created or tried.
public final class Cell: GraphSlot, Awaited, @unchecked Sendable {
    enum State {
        case cold
        case building(BuildChain)
        case built
    }

    /// The lower bits of the generation that added it. The highest bit: whether no later graph holds it.
    private var birth: UInt32 = 0
    /// 0 before the first use; then a pointer to the readers' part. With the lowest bit set, a pointer to a `Rest`, which
    /// contains that pointer.
    private var becoming: UInt = 0

    /// State that few cells have.
    private final class Rest {
        let raw: UnsafeMutablePointer<iv_cell>
        var sequence: UInt64 = 0
        var failure: Failure?
        var claim: ObjectLease?
        var undecorated: UInt64 = 0
        var shownType: ObjectType?
        var weakObject: UInt64 = 0
        var weakReference: WeakInstance?
        weak var weakExtra: ObjectExtra?
        /// Whether a build is reading the weak reference.
        var isReviving = false
        /// The runtime arguments of a cell that is one of another's.
        var arguments: [Value] = []
        var scopeInstance: ScopeInstance?
        var isOver = false
        let variants = Variants()
        /// For a tracked definition: the created objects.
        let tracked = TrackedObjects()

        init(_ raw: UnsafeMutablePointer<iv_cell>) { self.raw = raw }
    }

    private init(_ recipe: Recipe, arguments: [Value]) {
        super.init(unpacked: recipe)
        if !arguments.isEmpty { rest.arguments = arguments }
    }

    /// Must not be called under the monitor.
    public override init(_ recipe: Recipe) { super.init(recipe) }

    deinit {
        guard let raw = knownRaw else { return }
        if raw.isBuilding { raw.maker.release() }
        if let making = raw.making, let program = iv_making_program(making) { ProgramSource.free(program) }
        let rest = knownRest
        raw.deallocate()
        guard let rest else { return }
        defer { Unmanaged.passUnretained(rest).release() }
        rest.tracked.free()
        rest.weakReference?.free()
    }

    // MARK: states

    /// The part that readers see, created on first access. Under the monitor, or before the cell is shared.
    public var raw: UnsafeMutablePointer<iv_cell> {
        if let knownRaw { return knownRaw }
        let made = UnsafeMutablePointer<iv_cell>.make(form)
        if let making = made.making {
            making.pointee.id = UInt64(id)
            if recipe.isPlain { making.pointee.prototype = type?.raw }
        }
        becoming = UInt(bitPattern: made)
        return made
    }

    /// Most cells hold an object of a shared type. Packed definitions never have another form.
    private var form: UnsafeMutablePointer<iv_cell>.Form {
        if scope == .prototype || scope == .graph { return .making }
        return packedType.map { $0.raw.pointee.thread == 0 && $0.domain == nil } ?? false ? .shared : .confined
    }

    private var knownRest: Rest? {
        guard becoming & 1 != 0, let rest = UnsafeRawPointer(bitPattern: becoming & ~1) else { return nil }
        return Unmanaged<Rest>.fromOpaque(rest).takeUnretainedValue()
    }

    private var rest: Rest {
        if let knownRest { return knownRest }
        let made = Unmanaged.passRetained(Rest(raw))
        becoming = UInt(bitPattern: made.toOpaque()) | 1
        return made.takeUnretainedValue()
    }

    public override var shown: UnsafeMutablePointer<iv_cell>? { knownRaw }

    /// The part that readers see; nil before it was created.
    var knownRaw: UnsafeMutablePointer<iv_cell>? {
        becoming & 1 == 0 ? UnsafeMutablePointer(bitPattern: becoming) : knownRest?.raw
    }

    var state: State {
        guard let raw = knownRaw else { return .cold }
        return raw.isBuilding ? .building(raw.maker.takeUnretainedValue()) : raw.isBuilt ? .built : .cold
    }
    public var awaitedName: String { definition.key }
    public var maker: BuildChain? { if case .building(let maker) = state { maker } else { nil } }

    /// A chain of builds begins to create its object.
    func beginBuild(_ maker: BuildChain) {
        become(.building, UInt64(UInt(bitPattern: Unmanaged.passRetained(maker).toOpaque())))
    }

    /// No build creates its object any more.
    func endBuild() { become(.cold, 0) }

    /// Its object exists. Building it took `time` nanoseconds.
    func becomeBuilt(in time: UInt64 = 0) { become(.built, raw.word(of: time)) }

    private func become(_ stage: UnsafeMutablePointer<iv_cell>.Stage, _ word: UInt64) {
        let raw = raw
        let former = raw.isBuilding ? raw.maker : nil
        raw.become(stage, word)
        guard let former else { return }
        WaitsAcross.over(self)
        former.release()
    }
    /// The number of attempts to build it, as far as they are counted. Threads that waited for a failed attempt get its
    /// failure.
    var attempt: Int {
        get { knownRaw?.attempt ?? 0 }
        set { raw.attempt = newValue }
    }
    var failure: Failure? {
        get { knownRest?.failure }
        set { if newValue != nil || knownRest != nil { rest.failure = newValue } }
    }
    /// No later graph holds the cell. An object that is still being built for it belongs to its requester.
    private(set) var isRetired: Bool {
        get { birth >> 31 != 0 }
        set { birth = birth & 0x7fff_ffff | (newValue ? 1 << 31 : 0) }
    }
    /// The generation that brought it. Written before it is published.
    public var generation: UInt64 {
        get { UInt64(birth & 0x7fff_ffff) }
        set { birth = birth & 1 << 31 | UInt32(truncatingIfNeeded: newValue & 0x7fff_ffff) }
    }
    /// The same, as the latest generation before or at `last` that ends in these bits.
    public func birth(before last: UInt64) -> UInt64 { last &- (last &- generation) & 0x7fff_ffff }
    /// Order of creation of the instance: its record's, unless that is another's.
    public internal(set) var sequence: UInt64 {
        get {
            if let known = knownRest?.sequence, known != 0 { return known }
            return ObjectTable.record(object).map { iv_record_order($0) } ?? 0
        }
        set { rest.sequence = newValue }
    }
    /// The time that building its instance took, in nanoseconds, including its dependencies.
    public var buildTime: UInt64 { knownRaw.map { $0.isBuilt ? $0.buildTime : 0 } ?? 0 }
    /// This cell's claim on an object that other code created (a constant, the result of a method of another object).
    /// The graph's hold covers only objects that the graph created.
    var claim: ObjectLease? {
        get { knownRest?.claim }
        set { if newValue != nil || knownRest != nil { rest.claim = newValue } }
    }
    /// The object that the definition created, when a decorator replaced it and keeps it.
    var undecorated: UInt64 {
        get { knownRest?.undecorated ?? 0 }
        set { if newValue != 0 || knownRest != nil { rest.undecorated = newValue } }
    }
    /// Under the monitor: the type of the object that it shows.
    public override var shownType: ObjectType? {
        get { knownRest?.shownType ?? type }
        set { if newValue !== type || knownRest?.shownType != nil { rest.shownType = newValue } }
    }
    /// For a weak singleton: its last known handle, which may be stale.
    var weakObject: UInt64 {
        get { knownRest?.weakObject ?? 0 }
        set { rest.weakObject = newValue }
    }
    /// For a weak singleton whose type has its own reference counts: the type's weak reference.
    var weakReference: WeakInstance? {
        get { knownRest?.weakReference }
        set { if newValue != nil || knownRest != nil { rest.weakReference = newValue } }
    }
    /// For a weak singleton whose type has a stop function: the state of its object; nil when the object has ended.
    var weakExtra: ObjectExtra? {
        get { knownRest?.weakExtra }
        set { if newValue != nil || knownRest != nil { rest.weakExtra = newValue } }
    }
    /// Under the monitor: whether a build is asking the weak reference for its object. Only the build of the cell does that.
    var isReviving: Bool {
        get { knownRest?.isReviving ?? false }
        set { if newValue || knownRest != nil { rest.isReviving = newValue } }
    }
    private var arguments: [Value] { knownRest?.arguments ?? [] }
    /// The scope instance that the object belongs to; nil without one.
    var scopeInstance: ScopeInstance? {
        get { knownRest?.scopeInstance }
        set { rest.scopeInstance = newValue }
    }
    /// Whether its scope instance has ended.
    var isOver: Bool {
        get { knownRest?.isOver ?? false }
        set { rest.isOver = newValue }
    }
    private var variants: some Sequence<Cell> { (knownRest?.variants.cells ?? [:]).values }

    /// Under the monitor: the handle of the built object that the graph holds, or 0.
    public var object: UInt64 { knownRaw.map { iv_word_object(iv_load_u64(iv_cell_object($0))) } ?? 0 }

    /// Under the monitor: the same, if any thread may use the object.
    var sharedObject: UInt64? {
        guard let raw = knownRaw, object != 0 else { return nil }
        return raw.confined.map { iv_load_u64(iv_confined_thread($0)) } ?? 0 == 0 ? object : nil
    }

    /// Under the monitor: shows its object to all readers, or to those in `domain`.
    func show(_ object: UInt64, _ instance: UnsafeMutableRawPointer?, in domain: Domain?) {
        let raw = raw
        if let domain {
            let confined = iv_cell_as_confined(raw).unsafelyUnwrapped
            iv_store_u64(iv_confined_thread(confined), domain.thread)
            iv_store_pointer(iv_confined_instance(confined), instance)
            iv_store_u64(iv_cell_object(raw), iv_word_confined(object))
        } else {
            iv_store_pointer(iv_cell_shared(raw), instance)
            iv_store_u64(iv_cell_object(raw), object)
        }
    }

    /// Under the monitor, for a retired cell whose objects are known: readers of its generations find no object in it any more.
    public func hide() {
        guard let raw = knownRaw, object != 0 else { return }
        iv_store_pointer(iv_cell_shared(raw), nil)
        iv_store_u64(iv_cell_object(raw), 0)
    }

    /// Under the monitor: its objects that the graph holds, and disposes of when it drops its hold.
    public func heldObjects() -> [(sequence: UInt64, object: UInt64)] {
        (object != 0 && claim == nil ? [(sequence, object)] : []) + variants.flatMap { $0.heldObjects() }
    }

    /// Under the monitor: its claims on objects that were not created here.
    public func claims() -> [ObjectLease] { (claim.map { [$0] } ?? []) + variants.flatMap { $0.claims() } }

    /// Under the monitor: every live object of the definition, including those with runtime arguments.
    public func objects() -> [(sequence: UInt64, object: UInt64)] {
        var found = ownObject.map { [(sequence: sequence, object: $0)] } ?? []
        for cell in variants { found += cell.objects() }
        return found
    }

    /// Under the monitor: whether it shows an object, or a decorator's replacement of it.
    public func isInstance(_ object: UInt64) -> Bool {
        ownObject == object || undecorated == object || variants.contains { $0.isInstance(object) }
    }

    /// Under the monitor: the objects of a tracked definition.
    var tracking: TrackedObjects { rest.tracked }

    /// Under the monitor: the tracked objects that may be there.
    public func trackedObjects() -> [TrackedObject] { knownRest?.tracked.objects ?? [] }

    /// Under the monitor: takes over the state of the cell that this one replaces.
    public func adoptTracked(of former: Cell) {
        guard let known = former.knownRest, !known.tracked.objects.isEmpty else { return }
        rest.tracked.takeAll(of: known.tracked)
    }

    /// Under the monitor: the same in the order of creation, each with its runtime arguments and scope instance.
    public func inOrder() -> [(object: UInt64, arguments: [Value], of: ScopeInstance?)] {
        withVariants().compactMap { cell in cell.ownObject.map { (cell: cell, object: $0) } }
            .sorted { $0.cell.sequence < $1.cell.sequence }
            .map { ($0.object, $0.cell.arguments, $0.cell.scopeInstance) }
    }

    /// Under the monitor: the object that the definition created, before any decorator.
    private var ownObject: UInt64? {
        let known = object != 0 ? object : isWeakObjectThere ? weakObject : 0
        return known == 0 ? nil : undecorated != 0 ? undecorated : known
    }

    /// Under the monitor: whether its weak singleton has leases, or lives on because its language refers to it.
    private var isWeakObjectThere: Bool {
        weakObject != 0 && (weakExtra?.outlivesLeases == true || ObjectTable.leases(weakObject) > 0)
    }

    /// Under the monitor: this cell, and those of its runtime arguments or scope instances.
    func withVariants() -> [Cell] { [self] + variants.flatMap { $0.withVariants() } }

    /// Under the monitor: no later graph contains this cell.
    public func markRetired() {
        isRetired = true
        weakExtra?.retirement.retire()
        if let scopeInstance { scopeInstance.scope.forget(self, at: scopeInstance.instance) }
        for cell in variants { cell.markRetired() }
    }

    /// Under the monitor: whether its object may be held, or is being created.
    public func isHeld() -> Bool {
        if isBuilding { return true }
        return !objects().isEmpty || variants.contains { $0.isHeld() }
    }

    /// Under the monitor: when a check is due, the cells whose objects may have ended. Host code decides whether they
    /// have.
    func dueToAsk() -> [Variants.Asked] { knownRest?.variants.dueToAsk() ?? [] }

    /// Under the monitor: marks the cell as built by `chain` while the weak reference is read, so that no other thread
    /// touches it. Returns the reference and the former state; nil when another thread was first.
    func beginAsking(_ chain: BuildChain) -> (weak: WeakInstance, former: State)? {
        guard let weak = weakReference, !isHeld() else { return nil }
        defer { beginReviving(chain) }
        return (weak, state)
    }

    /// Under the monitor, for a cell that is not being built: as above, where no other thread can be first.
    @discardableResult
    func beginReviving(_ chain: BuildChain) -> WeakInstance? {
        guard let weak = weakReference else { return nil }
        beginBuild(chain)
        isReviving = true
        return weak
    }

    /// Under the monitor, by the thread that read the reference: records whether the object has ended. If so, removes
    /// the cell.
    func endAsking(_ asked: Variants.Asked, _ former: State, isGone: Bool) {
        if !isGone, case .built = former { asked.cell.becomeBuilt() } else { asked.cell.endBuild() }
        asked.cell.isReviving = false
        if isGone { knownRest?.variants.remove(asked) }
    }

    /// Under the monitor: the leases on objects that are runtime arguments here.
    func forEachArgument(_ body: (ObjectLease) -> Void) {
        for value in arguments { value.forEachLease(body) }
        for cell in variants { cell.forEachArgument(body) }
    }

    /// Under the monitor.
    public var isBuilding: Bool { knownRaw?.isBuilding ?? false }

    /// Under the monitor.
    var isBuilt: Bool { knownRaw?.isBuilt ?? false }

    /// Under the monitor: whether it is a cell of another one, for some runtime arguments or a scope instance.
    var isVariant: Bool { knownRest.map { !$0.arguments.isEmpty || $0.scopeInstance != nil } ?? false }

    /// Under the monitor: the cell of a scope instance, and whether it is new.
    func placed(_ key: ArgumentsKey) -> (cell: Cell, isNew: Bool) {
        if let known = known(key) { return (known, false) }
        // The first value is the scope instance.
        let cell = Cell(recipe, arguments: Array(key.values.dropFirst()))
        cell.birth = birth
        rest.variants.cells[key] = cell
        return (cell, true)
    }

    /// Under the monitor: the existing cell of a scope instance.
    func known(_ key: ArgumentsKey) -> Cell? { knownRest?.variants.cells[key] }

    /// Under the monitor: the cell of these runtime arguments, if it is known.
    func known(_ arguments: [Value]) -> Cell? { arguments.isEmpty ? self : known(ArgumentsKey(arguments)) }

    /// Under the monitor, while another reference retains the cell.
    func forget(_ key: ArgumentsKey) { knownRest?.variants.cells[key] = nil }

    /// Under the monitor: the cell for these runtime arguments. `gone` receives unused cells, to be released without
    /// the monitor.
    func variant(_ arguments: [Value], gone: inout [Cell]) -> Cell {
        guard !arguments.isEmpty else { return self }
        let key = ArgumentsKey(arguments)
        if let known = known(key) { return known }
        if scope == .weakSingleton { rest.variants.forgetGone(&gone) }
        let cell = Cell(recipe, arguments: arguments)
        cell.birth = birth
        rest.variants.cells[key] = cell
        return cell
    }
}
