public import InvivoBase
public import InvivoGraph
public import InvivoWiring

/// The generations that were replaced and may still be read, with the objects that end after them.
///
/// A generation ends when no reader is in it, independent of older and newer ones. An object that generations `birth` to
/// `last` show ends when the last of these has ended. It is kept by the newest of them that is left: when that one ends, the
/// object passes to the next older one, or ends where there is none. So each end looks only at objects of the ended generation.
///
/// A generation has several graphs if properties move in it; each of them ends alone.
///
/// Guarded by the engine's monitor.
public struct RetiredGenerations {
    /// A graph of a generation.
    public struct Generation {
        public let number: UInt64
        /// The position of its graph among all.
        let order: UInt64
        /// The address by which a reader's slot names it.
        let address: UnsafeRawPointer
        /// Keeps it in memory.
        let graph: AnyObject
        let since: UInt64
        public fileprivate(set) var objects: [ReplacedObject]
        /// Objects that lazy references had resolved. Released with the generation, without the monitor.
        let remembered: DeferredTable.Forgotten
        /// The age at which a warning says that it is still read. It doubles with each warning.
        var warnsAfter = firstWarning
        static let firstWarning: UInt64 = 2_000_000_000

        /// The least epoch in the slot of a reader of this generation.
        var epoch: UInt64 { order + 1 }
    }

    /// The generations and objects that have ended. Released without the monitor.
    public struct Ended {
        /// Each with the number of objects that end because it has ended.
        public var generations: [(generation: Generation, objects: Int)] = []
        public var objects: [ReplacedObject] = []
        /// The numbers of the generations that have ended with all their graphs.
        public var numbers: [UInt64] = []
        var names: [KeyTable.Outgrown] = []
    }

    /// In their order.
    public private(set) var generations: [Generation] = []
    /// Name tables that were replaced by larger ones. A reader of any former generation may be searching one, so these wait for
    /// all readers that began before.
    private var names: [(epoch: UInt64, table: KeyTable.Outgrown)] = []

    public init() {}

    public var isEmpty: Bool { generations.isEmpty && names.isEmpty }
    public var objects: [ReplacedObject] { generations.flatMap(\.objects) }
    var remembered: [ObjectLease] { generations.flatMap(\.remembered.objects) }
    var oldest: Generation? { generations.first }
    var youngest: Generation? { generations.last }
    /// The epoch of the newest.
    public var newest: UInt64 { max(generations.last?.epoch ?? 0, names.last?.epoch ?? 0) }

    /// Adds the graph that was just replaced. `order` is by default the number.
    public mutating func append(
        _ number: UInt64, order: UInt64? = nil, _ graph: AnyObject,
        at address: UnsafeRawPointer, objects: [ReplacedObject],
        remembered: DeferredTable.Forgotten = DeferredTable.Forgotten(), names: [KeyTable.Outgrown] = []
    ) {
        let order = order ?? number
        generations.append(
            Generation(
                number: number, order: order, address: address, graph: graph, since: monotonicNow(), objects: objects,
                remembered: remembered))
        self.names += names.map { (order + 1, $0) }
    }

    /// The epoch of the newest generation that may end according to `readers`, with or without a further barrier; 0 if none may.
    public func mayEnd(_ readers: Readers.Inside) -> UInt64 {
        let generation = generations.last { !readers.mayRead($0.address, $0.epoch) }?.epoch ?? 0
        return max(generation, names.last { readers.oldest > $0.epoch }?.epoch ?? 0)
    }

    /// Removes the generations up to the epoch `newest` that nobody reads, and the objects that end with them. `overtaken` are objects
    /// of slots that were replaced while they were built, and `current` the number of the current generation.
    public mutating func end(
        _ readers: Readers.Inside, upTo newest: UInt64, current: UInt64 = .max, overtaken: [ReplacedObject] = []
    ) -> Ended {
        var ended = Ended()
        let over = generations.filter { $0.epoch <= newest && !readers.mayRead($0.address, $0.epoch) }
        if !over.isEmpty {
            let orders = Set(over.map(\.order))
            generations.removeAll { orders.contains($0.order) }
        }
        for generation in over {
            let before = ended.objects.count
            for object in generation.objects { pass(object, before: generation.order, &ended) }
            ended.generations.append((generation, ended.objects.count - before))
            let isLast = !generations.contains { $0.number == generation.number }
            if isLast, generation.number < current, ended.numbers.last != generation.number {
                ended.numbers.append(generation.number)
            }
        }
        for object in overtaken { pass(object, before: object.last == .max ? .max : object.last + 1, &ended) }
        let free = names.prefix { $0.epoch <= newest && $0.epoch < readers.oldest }.count
        ended.names = names.prefix(free).map(\.table)
        names.removeFirst(free)
        return ended
    }

    /// The order of the newest graph that fits; 0 without one.
    func newest(where fits: (AnyObject) -> Bool) -> UInt64 { generations.last { fits($0.graph) }?.order ?? 0 }

    /// Lets the newest graph before `order` that shows an object keep it, or ends it.
    private mutating func pass(_ object: ReplacedObject, before order: UInt64, _ ended: inout Ended) {
        let newest = generations.partitioningIndex { $0.order >= order } - 1
        guard newest >= 0, generations[newest].number >= object.birth else { return ended.objects.append(object) }
        generations[newest].objects.append(object)
    }

    /// Doubles the age at which the oldest generation causes the next warning.
    mutating func warnLater(_ age: UInt64) { if !generations.isEmpty { generations[0].warnsAfter = 2 * age } }

    /// Removes all of it: for close, when no reader is left.
    public mutating func takeAll(current: UInt64 = .max) -> Ended {
        defer { self = RetiredGenerations() }
        return Ended(
            generations: generations.map { ($0, $0.objects.count) }, objects: objects,
            numbers: Set(generations.map(\.number)).filter { $0 < current }.sorted(), names: names.map(\.table))
    }
}
