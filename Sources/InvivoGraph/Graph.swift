public import CInvivo
public import CPlatform
internal import Glibc
public import InvivoBase
public import InvivoConfig

/// The tunable properties of a shared object as one immutable struct. Never written after it is published.
public final class Block: Sendable {
    private let memory: ConstantMemory
    public let size: Int

    /// Written before the block is published only.
    public var bytes: UnsafeMutableRawPointer { UnsafeMutableRawPointer(mutating: memory.address) }

    /// Creates a zeroed block, to be filled before it is published.
    public init(size: Int) throws(Failure) {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(size, 1)) == 0, let memory else {
            throw Failure(.memory, "there is no memory for a block of \(size) bytes")
        }
        self.size = size
        self.memory = ConstantMemory(memory)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: max(size, 1))
        _ = iv_add_u64(iv_live_blocks(), 1)
    }

    public convenience init(copying other: Block) throws(Failure) {
        try self.init(size: other.size)
        bytes.copyMemory(from: other.bytes, byteCount: size)
    }

    public func hasSameBytes(as other: Block?) -> Bool {
        guard let other, other.size == size else { return false }
        return iv_same_bytes(bytes, other.bytes, size)
    }

    deinit {
        free(bytes)
        _ = iv_sub_u64(iv_live_blocks(), 1)
    }
}

/// The layers that all documents set for one key in one generation; applied to every object of the key. Immutable.
public protocol Configuration: AnyObject, Sendable {
    /// Applies the values of the documents to a new object, in the object's domain.
    func configure(_ object: Record) throws(Failure)
    /// Values for properties that only take effect when an object is created, by property index.
    var atCreation: [Int: Value] { get }
}

let chunkSize = 1 << Int(INVIVO_CHUNK_SHIFT)

/// 128 entries of a graph. Shared by all generations in which it is the same.
///
/// Unchecked: immutable once its graph is published, except for slots that are shown later, under the monitor.
public final class Chunk: @unchecked Sendable {
    let entries: UnsafeMutablePointer<invivo_entry>
    private(set) var slots: [GraphSlot?]
    /// The compiled definitions that differ from those of the slots.
    private var recipes: [Int: Recipe] = [:]
    /// The blocks of entries; few chunks have any.
    private(set) var blocks: IDTable<Block> = [:]
    private(set) var configurations: IDTable<any Configuration> = [:]
    /// Values of the configuration among the entries; few chunks have any.
    private(set) var settings: [Int: ConfigValue] = [:]
    /// Values of bindings among the entries.
    private(set) var bound: [Int: SettingsValue] = [:]

    init() {
        entries = .allocate(capacity: chunkSize)
        entries.initialize(repeating: invivo_entry(), count: chunkSize)
        slots = Array(repeating: nil, count: chunkSize)
    }

    init(copying other: Chunk) {
        entries = .allocate(capacity: chunkSize)
        for index in 0..<chunkSize {
            let entry = other.entries + index
            (entries + index).initialize(
                to: invivo_entry(
                    cell: iv_load_pointer(Self.shown(entry))?.assumingMemoryBound(to: invivo_cell.self),
                    block: entry.pointee.block, layers: entry.pointee.layers, type: entry.pointee.type))
        }
        slots = other.slots
        recipes = other.recipes
        blocks = other.blocks
        configurations = other.configurations
        settings = other.settings
        bound = other.bound
    }

    deinit { entries.deallocate() }

    /// The cell of an entry: its first word.
    @inlinable @inline(__always)
    public static func shown(_ entry: UnsafeMutablePointer<invivo_entry>) -> UnsafeMutablePointer<
        UnsafeMutableRawPointer?
    > {
        UnsafeMutableRawPointer(entry).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    private static func type(_ entry: UnsafeMutablePointer<invivo_entry>) -> UnsafeMutablePointer<UInt64> {
        (UnsafeMutableRawPointer(entry) + MemoryLayout<invivo_entry>.offset(of: \.type)!)
            .assumingMemoryBound(to: UInt64.self)
    }

    func set(_ slot: GraphSlot?, at index: Int) {
        let former = slots[index] == nil && recipes[index] == nil ? nil : recipe(index)
        put(slot, at: index)
        set(former, at: index)
    }

    func setWithItsRecipe(_ slot: GraphSlot, at index: Int) {
        put(slot, at: index)
        recipes[index] = nil
    }

    private func put(_ slot: GraphSlot?, at index: Int) {
        slots[index] = slot
        entries[index].cell = slot?.shown.map {
            UnsafeMutableRawPointer($0).assumingMemoryBound(to: invivo_cell.self)
        }
        entries[index].type = slot?.type?.description.handleBits ?? 0
    }

    /// Under the monitor: publishes the slot to readers, if it is at this index.
    func show(_ slot: GraphSlot, at index: Int) {
        guard slots[index] === slot, let raw = slot.shown else { return }
        let type = slot.shownType?.description.handleBits ?? 0
        if entries[index].type != type { iv_store_u64(Self.type(entries + index), type) }
        iv_store_pointer(Self.shown(entries + index), UnsafeMutableRawPointer(raw))
    }

    /// Under the monitor: publishes the slots that were published elsewhere while the chunk was copied.
    func showAll() {
        for index in 0..<chunkSize { if let slot = slots[index] { show(slot, at: index) } }
    }

    func recipe(_ index: Int) -> Recipe? { recipes[index] ?? slots[index]?.recipe }

    /// The compiled definition that is not in the slot.
    func ownRecipe(_ index: Int) -> Recipe? { recipes[index] }

    func set(_ recipe: Recipe?, at index: Int) {
        let isInSlot = recipe.map { recipe in slots[index]?.isMade(by: recipe) ?? false } ?? true
        recipes[index] = isInSlot ? nil : recipe
    }

    func set(_ block: Block?, at index: Int) {
        blocks[UInt32(index)] = block
        entries[index].block = block.map { UnsafeRawPointer($0.bytes) }
    }

    func set(_ configuration: (any Configuration)?, at index: Int) {
        configurations[UInt32(index)] = configuration
        entries[index].layers = configuration.map { Unmanaged.passUnretained($0 as AnyObject).toOpaque() }
    }

    /// Stores a configuration value. Views read it where keys have their block.
    func set(_ setting: ConfigValue?, at index: Int) {
        settings[index] = setting
        entries[index].block = setting?.block
        entries[index].type = setting.map { UInt64($0.isLazy ? INVIVO_ENTRY_CONFIG_LATE : INVIVO_ENTRY_CONFIG) } ?? 0
    }

    /// Stores the value of a binding. Views read it where keys have their block.
    func set(_ value: SettingsValue?, at index: Int) {
        bound[index] = value
        entries[index].block = value?.shown
        entries[index].type = value == nil ? 0 : UInt64(INVIVO_ENTRY_SETTINGS)
    }
}

/// 32 chunks, so that a new graph of many definitions takes over few references.
struct Page: Sendable {
    static let size = 32
    fileprivate(set) var chunks: [Chunk] = []
}

/// All definitions of one generation, immutable, with the slots that hold its shared instances.
public final class Graph: @unchecked Sendable {
    public let raw: UnsafeMutablePointer<iv_graph>
    /// The definitions by the types of their objects, for lookups by type.
    public let types: TypeIndex
    /// The secret paths of the configuration.
    public let secrets: SecretPaths
    let pages: [Page]
    fileprivate let chunkCount: Int
    /// One pointer for each chunk, for readers. Copied as a whole, then changed where chunks are new.
    fileprivate let directory: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// The chunks that the former graph has not.
    private let changed: Set<Int>

    fileprivate init(
        generation: UInt64, owner: UInt32, keys: UnsafePointer<iv_keys>, pages: [Page], chunkCount: Int,
        changed: Set<Int>, former: Graph?, types: TypeIndex, secrets: SecretPaths
    ) {
        let isStep = former.map { $0.generation == generation } ?? false
        self.types = types
        self.secrets = secrets
        self.pages = pages
        self.chunkCount = chunkCount
        self.changed = changed
        directory = .allocate(capacity: max(chunkCount, 1))
        let kept = min(former?.chunkCount ?? 0, chunkCount)
        if let former { directory.initialize(from: former.directory, count: kept) }
        for index in kept..<chunkCount {
            (directory + index).initialize(
                to: UnsafeMutableRawPointer(pages[index / Page.size].chunks[index % Page.size].entries))
        }
        for index in changed {
            directory[index] = UnsafeMutableRawPointer(pages[index / Page.size].chunks[index % Page.size].entries)
        }
        raw = .allocate(capacity: 1)
        raw.initialize(
            to: iv_graph(
                generation: generation, owner: owner, count: UInt32(chunkCount * chunkSize),
                chunks: UnsafePointer(directory), keys: keys, graph: nil,
                step: isStep ? (former?.step ?? 0) + 1 : 0, order: former.map { $0.order + 1 } ?? 0))
        raw.pointee.graph = Unmanaged.passUnretained(self).toOpaque()
        _ = iv_add_u64(iv_live_graphs(), 1)
    }

    deinit {
        directory.deallocate()
        raw.deallocate()
        _ = iv_sub_u64(iv_live_graphs(), 1)
    }

    /// Creates a graph without definitions.
    public convenience init(generation: UInt64, keys: KeyTable) {
        self.init(
            generation: generation, owner: keys.owner, keys: keys.raw, pages: [], chunkCount: 0, changed: [],
            former: nil, types: TypeIndex(), secrets: SecretPaths())
    }

    /// The graph of a view, which keeps it until it ends.
    public static func read(_ raw: UnsafePointer<invivo_graph>) -> Graph? {
        UnsafeRawPointer(raw).assumingMemoryBound(to: iv_graph.self).pointee.graph.map {
            Unmanaged<Graph>.fromOpaque($0).takeUnretainedValue()
        }
    }

    public var generation: UInt64 { raw.pointee.generation }

    /// The number of graphs before it that have the same generation. They differ in blocks only.
    public var step: UInt64 { raw.pointee.step }

    /// Greater than that of each graph before it. The epoch of its readers is greater by 1.
    public var order: UInt64 { raw.pointee.order }

    /// Puts the graph behind one that was published after it was begun. Before it is published itself.
    public func come(after other: Graph) { raw.pointee.order = max(order, other.order + 1) }

    private func chunk(_ id: UInt32) -> Chunk? {
        let index = Int(id) / chunkSize
        return index < chunkCount ? pages[index / Page.size].chunks[index % Page.size] : nil
    }

    public func slot(_ id: UInt32) -> GraphSlot? {
        chunk(id)?.slots[Int(id) % chunkSize]
    }

    /// The compiled definition of a key; for an alias without arguments, that of its target.
    public func recipe(_ id: UInt32) -> Recipe? {
        chunk(id)?.recipe(Int(id) % chunkSize)
    }

    /// Whether a key has a definition. Does not unpack the definition.
    public func isDefined(_ id: UInt32) -> Bool {
        guard let chunk = chunk(id) else { return false }
        let index = Int(id) % chunkSize
        return chunk.slots[index] != nil || chunk.ownRecipe(index) != nil
    }

    /// Whether `recipe` itself, not an equal one, creates the objects of a key. Not under the monitor.
    public func isMade(_ id: UInt32, by recipe: Recipe) -> Bool {
        guard let chunk = chunk(id) else { return false }
        let index = Int(id) % chunkSize
        if let own = chunk.ownRecipe(index) { return own === recipe }
        return chunk.slots[index]?.isMade(by: recipe) ?? false
    }

    /// Whether the key of a slot has no other compiled definition than the slot's in this graph.
    public func isOwn(_ recipe: Recipe, _ slot: GraphSlot) -> Bool {
        chunk(recipe.id)?.ownRecipe(Int(recipe.id) % chunkSize) == nil && slot.isMade(by: recipe)
    }

    /// Whether the recipe of a key is packed in the key's own slot.
    public func isPacked(_ id: UInt32) -> Bool { ownRecipe(id) == nil && slot(id)?.id == id }

    /// The recipe of a key that is not packed in its slot.
    public func ownRecipe(_ id: UInt32) -> Recipe? {
        guard let chunk = chunk(id) else { return nil }
        let index = Int(id) % chunkSize
        return chunk.ownRecipe(index) ?? chunk.slots[index].flatMap { $0.isPacked ? nil : $0.recipe }
    }

    /// Under the monitor: publishes the contents of the slot to readers.
    public func show(_ slot: GraphSlot) {
        let id = slot.id
        chunk(id)?.show(slot, at: Int(id) % chunkSize)
    }

    /// Under the monitor, when the graph is published: publishes the slots that were published in the former graph
    /// meanwhile.
    public func showAll() {
        for index in changed { pages[index / Page.size].chunks[index % Page.size].showAll() }
    }

    /// Whether readers see the slot of a key.
    public func isShown(_ id: UInt32) -> Bool {
        guard let chunk = chunk(id) else { return false }
        return iv_load_pointer(Chunk.shown(chunk.entries + Int(id) % chunkSize)) != nil
    }

    public func block(_ id: UInt32) -> Block? {
        chunk(id)?.blocks[id % UInt32(chunkSize)]
    }

    public func configuration(_ id: UInt32) -> (any Configuration)? {
        chunk(id)?.configurations[id % UInt32(chunkSize)]
    }

    /// The configuration value at the path of this id.
    public func setting(_ id: UInt32) -> ConfigValue? {
        chunk(id)?.settings[Int(id) % chunkSize]
    }

    /// The value of the binding with this id.
    public func bound(_ id: UInt32) -> SettingsValue? { chunk(id)?.bound[Int(id) % chunkSize] }

    /// Calls `body` with every slot once, and with its first key.
    public func forEachSlot(_ body: (UInt32, GraphSlot) -> Void) {
        for (index, chunk) in pages.flatMap(\.chunks).enumerated() {
            for (offset, slot) in chunk.slots.enumerated() {
                if let slot { body(UInt32(index * chunkSize + offset), slot) }
            }
        }
    }
}

/// The next graph while it is planned: shares every chunk that stays the same.
public struct GraphEditor {
    /// The graph that is changed.
    public let former: Graph
    public var types: TypeIndex
    public var secrets: SecretPaths
    private var pages: [Page]
    private var chunkCount: Int
    private var ownChunks: Set<Int> = []
    /// The chunk that was changed last: neighbors are often changed one after the other.
    private var latest: (index: Int, chunk: Chunk)?

    public init(_ graph: Graph) {
        former = graph
        types = graph.types
        secrets = graph.secrets
        pages = graph.pages
        chunkCount = graph.chunkCount
    }

    private mutating func chunk(_ id: UInt32) -> Chunk {
        let index = Int(id) / chunkSize
        if let latest, latest.index == index { return latest.chunk }
        while chunkCount <= index {
            if chunkCount / Page.size == pages.count { pages.append(Page()) }
            pages[chunkCount / Page.size].chunks.append(Chunk())
            ownChunks.insert(chunkCount)
            chunkCount += 1
        }
        let (page, position) = (index / Page.size, index % Page.size)
        if ownChunks.insert(index).inserted {
            pages[page].chunks[position] = Chunk(copying: pages[page].chunks[position])
        }
        latest = (index, pages[page].chunks[position])
        return pages[page].chunks[position]
    }

    private func existing(_ id: UInt32) -> Chunk? {
        let index = Int(id) / chunkSize
        return index < chunkCount ? pages[index / Page.size].chunks[index % Page.size] : nil
    }

    public mutating func set(_ slot: GraphSlot?, at id: UInt32) { chunk(id).set(slot, at: Int(id) % chunkSize) }
    /// Sets a slot with its own compiled definition, which makes a comparison unnecessary.
    public mutating func setWithItsRecipe(_ slot: GraphSlot, at id: UInt32) {
        chunk(id).setWithItsRecipe(slot, at: Int(id) % chunkSize)
    }
    public mutating func set(_ recipe: Recipe?, at id: UInt32) { chunk(id).set(recipe, at: Int(id) % chunkSize) }
    public mutating func set(_ block: Block?, at id: UInt32) { chunk(id).set(block, at: Int(id) % chunkSize) }
    public mutating func set(_ configuration: (any Configuration)?, at id: UInt32) {
        chunk(id).set(configuration, at: Int(id) % chunkSize)
    }

    public mutating func set(_ setting: ConfigValue?, at id: UInt32) {
        chunk(id).set(setting, at: Int(id) % chunkSize)
    }

    public mutating func set(_ value: SettingsValue?, at id: UInt32) {
        chunk(id).set(value, at: Int(id) % chunkSize)
    }

    public func slot(_ id: UInt32) -> GraphSlot? { existing(id)?.slots[Int(id) % chunkSize] }
    public func recipe(_ id: UInt32) -> Recipe? { existing(id)?.recipe(Int(id) % chunkSize) }
    public func block(_ id: UInt32) -> Block? { existing(id)?.blocks[id % UInt32(chunkSize)] }
    public func configuration(_ id: UInt32) -> (any Configuration)? {
        existing(id)?.configurations[id % UInt32(chunkSize)]
    }

    /// The next generation, or with the number of the former one, a step of it.
    public func finish(generation: UInt64, keys: KeyTable) -> Graph {
        Graph(
            generation: generation, owner: keys.owner, keys: keys.raw, pages: pages, chunkCount: chunkCount,
            changed: ownChunks,
            former: former, types: types, secrets: secrets)
    }
}
