/// The kind of object that a handle refers to: the top 4 bits of its word.
public enum HandleKind: UInt64, Sendable {
    case runtime = 1
    case object, key, type, callable, domain, job, changes, source, target, observer, module, app, override, pool

    /// Types and callables are descriptions and functions: they are valid in a forked child, too.
    var belongsToRuntime: Bool { self != .type && self != .callable }

    /// For messages.
    public var name: String {
        switch self {
        case .runtime: "runtime"
        case .object: "object"
        case .key: "key"
        case .type: "type"
        case .callable: "callable"
        case .domain: "domain"
        case .job: "job"
        case .changes: "change set"
        case .source: "source"
        case .target: "target"
        case .observer: "observer"
        case .module: "module"
        case .app: "app"
        case .override: "override"
        case .pool: "pool"
        }
    }
}

/// The process-wide table of checked handles: `[kind: 4][generation: 28][index: 32]`.
///
/// Each removal increments the generation of the slot. A slot that has used all generations is abandoned, so that a
/// stale handle never matches a newer object. Any thread may call. The lock is held for a few loads only, and never
/// while an object is deallocated. Runtimes, objects and keys have tables of their own on the hot path.
public enum HandleTable {
    public typealias Object = any AnyObject & Sendable

    private static let lastGeneration: UInt32 = 1 << 28 - 1
    private static let chunkSize = 256

    private struct Slot {
        var generation: UInt32 = 1
        var kind: HandleKind?
        var home: HomeProcess?
        var strong: Object?
        weak var weakly: Object?
        var object: Object? { strong ?? weakly }
    }

    /// Chunks never move and are never freed: a slot lives as long as the process.
    private struct Storage {
        var chunks: [UnsafeMutablePointer<Slot>] = []
        var free: [UInt32] = []
        var used: UInt32 = 0
        var live: [HandleKind: Int] = [:]

        mutating func takeSlot() -> UInt32 {
            if let index = free.popLast() { return index }
            if Int(used) == chunks.count * HandleTable.chunkSize {
                let chunk = UnsafeMutablePointer<Slot>.allocate(capacity: HandleTable.chunkSize)
                chunk.initialize(repeating: Slot(), count: HandleTable.chunkSize)
                chunks.append(chunk)
            }
            defer { used += 1 }
            return used
        }

        func slot(_ index: UInt32) -> UnsafeMutablePointer<Slot> {
            chunks[Int(index) / HandleTable.chunkSize] + Int(index) % HandleTable.chunkSize
        }

        /// The slot that `bits` names, if it is live and of this kind.
        func slot(of bits: UInt64, _ kind: HandleKind) -> (index: UInt32, slot: UnsafeMutablePointer<Slot>)? {
            guard HandleBits(bits).kind == kind.rawValue else { return nil }
            let index = UInt32(truncatingIfNeeded: bits)
            guard index < used else { return nil }
            let slot = slot(index)
            guard slot.pointee.kind == kind, slot.pointee.generation == UInt32(HandleBits(bits).tag) else {
                return nil
            }
            return (index, slot)
        }
    }

    private static let storage = Guarded(Storage(), by: Monitor(isProcessWide: true))

    /// Enters an object that the table keeps alive until `remove`.
    public static func insert(_ object: Object, kind: HandleKind) -> UInt64 { enter(kind, strong: object) }

    /// Returns a handle that has no object yet, so that an initializer can store it. `fill` follows, or `remove`.
    public static func reserve(_ kind: HandleKind) -> UInt64 { enter(kind, strong: nil) }

    /// Gives a reserved handle its object, which the table keeps alive until `remove`.
    public static func fill(_ bits: UInt64, _ kind: HandleKind, with object: Object) {
        storage.locked { $0.slot(of: bits, kind)?.slot.pointee.strong = object }
    }

    /// Gives a reserved handle its object without keeping it alive; its deinit must call `remove`.
    public static func fill(_ bits: UInt64, _ kind: HandleKind, weaklyWith object: Object) {
        storage.locked { $0.slot(of: bits, kind)?.slot.pointee.weakly = object }
    }

    private static func enter(_ kind: HandleKind, strong object: Object?) -> UInt64 {
        storage.locked { storage in
            let index = storage.takeSlot()
            let slot = storage.slot(index)
            slot.pointee.kind = kind
            slot.pointee.home = HomeProcess()
            slot.pointee.strong = object
            storage.live[kind, default: 0] += 1
            return kind.rawValue << 60 | UInt64(slot.pointee.generation) << 32 | UInt64(index)
        }
    }

    /// The object of a handle. Nil when the handle is stale, foreign or of another kind, or belongs to a runtime of the
    /// parent process.
    public static func find<T: AnyObject>(_ bits: UInt64, _ kind: HandleKind, as type: T.Type) -> T? {
        let isBarred = kind.belongsToRuntime && Failure.isInRule
        let found = storage.locked { storage -> Object? in
            guard let slot = storage.slot(of: bits, kind)?.slot, !isParents(slot), !isBarred else { return nil }
            return slot.pointee.object
        }
        return found as? T
    }

    /// The object of a handle. Throws the failure for the caller in C if there is none.
    public static func require<T: AnyObject>(
        _ bits: UInt64, _ kind: HandleKind, as type: T.Type
    ) throws(Failure) -> T {
        if let object = find(bits, kind, as: type) { return object }
        if kind.belongsToRuntime { try Failure.refuseInRules() }
        throw isParents(bits, kind) ? .parents(kind) : .badHandle(bits, kind)
    }

    /// Whether a handle belongs to a runtime of the process that this one was forked from. Its runtime's state must not
    /// be used here: a lock may be held forever, and the state may be half changed.
    public static func isParents(_ bits: UInt64, _ kind: HandleKind) -> Bool {
        storage.locked { $0.slot(of: bits, kind).map { isParents($0.slot) } ?? false }
    }

    private static func isParents(_ slot: UnsafeMutablePointer<Slot>) -> Bool {
        guard slot.pointee.kind?.belongsToRuntime == true, let home = slot.pointee.home else { return false }
        return !home.isHere
    }

    /// Makes a handle stale and returns its object. Nil when it was stale already, or was held weakly and its object
    /// has ended.
    @discardableResult
    public static func remove(_ bits: UInt64, _ kind: HandleKind) -> Object? {
        storage.locked { storage -> Object? in
            guard let (index, slot) = storage.slot(of: bits, kind) else { return nil }
            let object = slot.pointee.object
            slot.pointee.strong = nil
            slot.pointee.weakly = nil
            slot.pointee.kind = nil
            storage.live[kind, default: 1] -= 1
            if slot.pointee.generation < lastGeneration {
                slot.pointee.generation += 1
                storage.free.append(index)
            }
            return object
        }
    }

    /// The number of live handles of a kind.
    public static func count(of kind: HandleKind) -> Int {
        storage.locked { $0.live[kind] ?? 0 }
    }
}
