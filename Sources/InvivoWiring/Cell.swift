public import CPlatform
public import InvivoBase

/// Where the shared instance of one definition is; with runtime arguments, one for each set of them. Everything but `raw`
/// is guarded by the container's monitor.
public final class Cell: @unchecked Sendable {
    enum State {
        case cold
        case building(BuildChain)
        case built
    }

    public let raw: UnsafeMutablePointer<iv_cell>
    /// What its instance is made by. A kept instance stays though the next generation has another recipe.
    public let recipe: Recipe
    var state = State.cold
    /// How often it was tried; whoever waited for a try that failed gets that failure.
    var attempt = 0
    var failure: Failure?
    /// No graph to come holds it any more: what is still being built for it belongs to whoever asked.
    private(set) var isRetired = false
    /// Order of creation of the instance.
    public internal(set) var sequence: UInt64 = 0
    /// The generation that brought it. Written before it is published.
    public nonisolated(unsafe) var generation: UInt64 = 0
    /// How long making its instance took, in nanoseconds, with what was made for it first.
    public internal(set) var buildTime: UInt64 = 0
    /// Of an object that was not made here (a constant, what another object's method answered): this cell's claim on it. The
    /// graph's hold is for what it made alone.
    var claim: ObjectLease?
    /// What was made by the recipe, when something else took its place and keeps it.
    var undecorated: UInt64 = 0
    /// Of a weak singleton: the handle by which it was last known, which may be stale.
    var weakObject: UInt64 = 0
    /// Of a weak singleton whose type counts its instances elsewhere: the type's weak reference.
    var weakReference: UnsafeMutableRawPointer?
    /// The runtime arguments of a cell that is one of another's.
    private let arguments: [Value]
    /// Of an instance that belongs to a place: which.
    var place: (scope: PlacedScope, place: UInt64)?
    /// Its place has ended.
    var isOver = false
    /// One for each set of runtime arguments; in scopes with places the place comes first.
    private var variants: [ArgumentsKey: Cell] = [:]
    private var mostVariants = 16

    /// Of a tracked definition: objects that it made, some of which may be gone.
    private var tracked: [Tracked] = []
    private var mostTracked = 16

    public convenience init(_ recipe: Recipe) { self.init(recipe, arguments: []) }

    private init(_ recipe: Recipe, arguments: [Value]) {
        self.recipe = recipe
        self.arguments = arguments
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_cell())
        raw.pointee.id = UInt64(recipe.id)
        raw.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
        if recipe.isPlain { raw.pointee.prototype = recipe.type?.raw }
    }

    deinit {
        if let program = iv_cell_program(raw) { ProgramSource.release(program) }
        for object in tracked { if let weak = object.weak { recipe.type?.description.freeWeak(weak) } }
        if let weakReference { recipe.type?.description.freeWeak(weakReference) }
        raw.deallocate()
    }

    public var definition: Definition { recipe.definition }

    /// The handle of the built object that the graph holds, or 0.
    public var object: UInt64 { iv_load_u64(iv_cell_object(raw)) }

    /// Under the monitor: those of its objects that the graph holds, and disposes of by letting go.
    public func heldObjects() -> [(sequence: UInt64, object: UInt64)] {
        (object != 0 && claim == nil ? [(sequence, object)] : []) + variants.values.flatMap { $0.heldObjects() }
    }

    /// Under the monitor: its claims on objects that were not made here.
    func claims() -> [ObjectLease] { (claim.map { [$0] } ?? []) + variants.values.flatMap { $0.claims() } }

    /// Under the monitor: every object that was made by the recipe and is not gone, those with runtime arguments too.
    public func objects() -> [(sequence: UInt64, object: UInt64)] {
        var found = ownObject.map { [(sequence: sequence, object: $0)] } ?? []
        for cell in variants.values { found += cell.objects() }
        return found
    }

    /// An object that reloads follow: by its handle, and where its instance is counted elsewhere by the type's weak reference.
    public struct Tracked: @unchecked Sendable {
        public let object: UInt64
        let weak: UnsafeMutableRawPointer?
    }

    /// Under the monitor. When there are many: all of them, to be looked through and put back.
    func track(_ object: Tracked) -> [Tracked] {
        tracked.append(object)
        guard tracked.count >= mostTracked else { return [] }
        defer { tracked = [] }
        return tracked
    }

    /// Under the monitor: those that are still there.
    func keepTracking(_ objects: [Tracked]) {
        tracked = objects + tracked
        mostTracked = max(16, tracked.count * 2)
    }

    /// Under the monitor: the tracked objects that may be there.
    public func trackedObjects() -> [Tracked] { tracked }

    /// Under the monitor: takes over what the cell that it replaces knows.
    public func adoptTracked(of former: Cell) {
        tracked = former.tracked + tracked
        former.tracked = []
    }

    /// Under the monitor: the same in the order in which they were made, each with its runtime arguments.
    public func inOrder() -> [(object: UInt64, arguments: [Value])] {
        func all(_ cell: Cell) -> [(sequence: UInt64, object: UInt64, arguments: [Value])] {
            let own = cell.ownObject.map { [(cell.sequence, $0, cell.arguments)] } ?? []
            return own + cell.variants.values.flatMap(all)
        }
        return all(self).sorted { $0.sequence < $1.sequence }.map { ($0.object, $0.arguments) }
    }

    /// Under the monitor: what the recipe made, not what a processor answered in its place.
    private var ownObject: UInt64? {
        let known = object != 0 ? object : weakObject != 0 && ObjectTable.leases(weakObject) > 0 ? weakObject : 0
        return known == 0 ? nil : undecorated != 0 ? undecorated : known
    }

    /// Under the monitor: no graph to come leads here.
    public func markRetired() {
        isRetired = true
        for cell in variants.values { cell.markRetired() }
    }

    /// Under the monitor: whether somebody may hold what it makes, or is making it.
    public func isHeld() -> Bool {
        if case .building = state { return true }
        return !objects().isEmpty || variants.values.contains { $0.isHeld() }
    }

    /// Under the monitor: weakly shared objects that are gone leave their arguments; as often as their number has doubled.
    private func forgetGone(_ gone: inout [Cell]) {
        for (key, cell) in variants
        where cell.weakReference == nil && cell.weakObject != 0 && !cell.isHeld() {
            gone.append(cell)
            variants[key] = nil
        }
        mostVariants = max(16, variants.count * 2)
    }

    /// Under the monitor: the leases on objects that are runtime arguments here.
    func forEachArgument(_ body: (ObjectLease) -> Void) {
        for value in arguments { value.forEachLease(body) }
        for cell in variants.values { cell.forEachArgument(body) }
    }

    /// Under the monitor.
    public var isBuilding: Bool { if case .building = state { true } else { false } }

    /// Under the monitor.
    var isBuilt: Bool { if case .built = state { true } else { false } }

    /// Under the monitor: the cell of a place, and whether it is new.
    func placed(_ key: ArgumentsKey) -> (cell: Cell, isNew: Bool) {
        if let known = variants[key] { return (known, false) }
        // The place is the first.
        let cell = Cell(recipe, arguments: Array(key.values.dropFirst()))
        cell.isRetired = isRetired
        variants[key] = cell
        return (cell, true)
    }

    /// Under the monitor; somebody else has it still.
    func forget(_ key: ArgumentsKey) { variants[key] = nil }

    /// Under the monitor: the cell of these runtime arguments. `gone` gets what nobody needs any more, to be let go without the
    /// monitor.
    func variant(_ arguments: [Value], gone: inout [Cell]) -> Cell {
        guard !arguments.isEmpty else { return self }
        let key = ArgumentsKey(arguments)
        if let known = variants[key] { return known }
        if recipe.scope == .weakSingleton && variants.count >= mostVariants { forgetGone(&gone) }
        let cell = Cell(recipe, arguments: arguments)
        cell.isRetired = isRetired
        variants[key] = cell
        return cell
    }
}
