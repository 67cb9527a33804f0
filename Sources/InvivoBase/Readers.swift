public import CPlatform
internal import Glibc
import Synchronization

public typealias Core = UnsafeMutablePointer<iv_core>
public typealias Reader = UnsafeMutablePointer<iv_reader>

/// Read-side protection (docs/architecture.md: Reading).
///
/// A reader stores its epoch and loads the graph, with a compiler barrier between. The reclaimer publishes, issues one
/// `membarrier`, and then reads the slots. A reader that it does not see has not loaded the graph yet, and will load
/// the new one.
///
/// The barrier interrupts every running thread of the process, so it belongs to reclaiming, where one serves many
/// generations, and not to publishing. Slots belong to (core, thread); only their thread writes them. The read side
/// never waits.
public enum Readers {
    /// Guards the lists of cores and slots; taken when a thread meets a runtime for the first time.
    private static let registry = Monitor(isProcessWide: true)

    /// Enters; nil when `tag` no longer names an open runtime. Every success is paired with `leave`.
    @inlinable @inline(__always)
    public static func enter(_ core: Core, tag: UInt64) -> Reader? {
        let thread = iv_thread()!
        var reader = thread.pointee.reader
        if thread.pointee.core != core {
            reader = seat(core, thread)
        }
        guard let reader else { return nil }
        if reader.pointee.depth == 0 {
            iv_store_u64(iv_reader_epoch(reader), iv_load_u64(iv_core_epoch(core)))
            iv_compiler_barrier()
            guard iv_load_u64(iv_core_tag(core)) == tag else {
                iv_store_u64(iv_reader_epoch(reader), 0)
                return nil
            }
            iv_reader_set_graph(reader, iv_reader_begin(reader))
        } else if iv_load_u64(iv_core_tag(core)) != tag {
            return nil
        }
        reader.pointee.depth &+= 1
        return reader
    }

    @inlinable @inline(__always)
    public static func leave(_ reader: Reader) {
        let depth = reader.pointee.depth
        // If a host ends a view twice, the depth must not become negative.
        if depth > 1 {
            reader.pointee.depth = depth &- 1
        } else {
            reader.pointee.depth = 0
            iv_store_u64(iv_reader_pooling(reader), 0)
            iv_reader_set_graph(reader, nil)
            iv_store_u64(iv_reader_epoch(reader), 0)
        }
    }

    /// Whether a core belongs to a runtime that the parent process opened, in a forked child. Built objects may be
    /// read.
    @inlinable @inline(__always)
    public static func isParents(_ core: Core) -> Bool { iv_load_u32(iv_core_state(core)) == UInt32(IV_CORE_FORKED) }

    // MARK: builds

    /// Begins an outermost build of the slot's thread, which is inside a view; paired with `endBuild`.
    ///
    /// Returns false in a forked child. Returns false when the runtime is closing, unless this thread already has a
    /// build in it: the dependencies of that build are still created. Close stores `closing`, issues a barrier, and
    /// then sees every build that did not see it.
    @inlinable @inline(__always)
    public static func beginBuild(_ reader: Reader, _ core: Core) -> Bool {
        let former = reader.pointee.building
        iv_store_u64(iv_reader_building(reader), former &+ 1)
        iv_compiler_barrier()
        let closing = iv_load_u64(iv_core_closing(core))
        guard closing == 0 || former > 0 && closing == UInt64(IV_CLOSING_BUILDS) else {
            iv_store_u64(iv_reader_building(reader), former)
            return false
        }
        return true
    }

    /// Begins a build outside a view. Keeps the current generation: its objects are not disposed of before the build
    /// ends. Nil also when the runtime is closed.
    public static func beginBuild(_ core: Core, tag: UInt64) -> Reader? {
        guard let reader = enter(core, tag: tag) else { return nil }
        defer { leave(reader) }
        guard beginBuild(reader, core) else { return nil }
        // The epoch of the view, which is not newer than later loads.
        if reader.pointee.builds_from == 0 { iv_store_u64(iv_reader_builds_from(reader), reader.pointee.epoch) }
        return reader
    }

    /// Keeps the current generation for a build of the calling thread that began without. Later loads are not older.
    public static func keepGenerations(_ core: Core) {
        guard let reader = seat(core, iv_thread()!), reader.pointee.builds_from == 0 else { return }
        iv_store_u64(iv_reader_builds_from(reader), iv_load_u64(iv_core_epoch(core)))
        iv_compiler_barrier()
    }

    @inlinable @inline(__always)
    public static func endBuild(_ reader: Reader) {
        let left = reader.pointee.building &- 1
        if left == 0 && reader.pointee.builds_from != 0 { iv_store_u64(iv_reader_builds_from(reader), 0) }
        iv_store_u64(iv_reader_building(reader), left)
    }

    // MARK: slots

    /// Returns the slot that this thread has in a core already.
    @inlinable @inline(__always)
    static func known(_ core: Core, _ thread: ThreadState) -> Reader? {
        thread.pointee.core == core ? thread.pointee.reader : otherSeat(core, thread)
    }

    /// The slot that the calling thread has in a core already. For data that belongs to the thread.
    public static func own(_ core: Core) -> Reader? { known(core, iv_thread()!) }

    /// The same, which is created if necessary; nil without memory.
    public static func ensured(_ core: Core) -> Reader? { known(core, iv_thread()!) ?? seat(core, iv_thread()!) }

    /// The cores in which the calling thread has a slot.
    public static func cores() -> [Core] {
        let thread = iv_thread()!
        return (0..<Int(thread.pointee.seat_count)).compactMap { thread.pointee.seats[$0].core }
    }

    @usableFromInline @inline(never)
    static func otherSeat(_ core: Core, _ thread: ThreadState) -> Reader? {
        for index in 0..<Int(thread.pointee.seat_count) where thread.pointee.seats[index].core == core {
            return thread.pointee.seats[index].reader
        }
        return nil
    }

    /// Returns the slot of this thread in a core, which is created if necessary. Nil if memory is exhausted, and on a
    /// thread that runs a rule of the runtime.
    @usableFromInline @inline(never)
    static func seat(_ core: Core, _ thread: ThreadState) -> Reader? {
        // The fast paths need no check: the thread has forgotten its last slot when it begins to run a rule.
        if thread.pointee.barred != 0, iv_load_u64(iv_core_tag(core)) == thread.pointee.barred { return nil }
        for index in 0..<Int(thread.pointee.seat_count) where thread.pointee.seats[index].core == core {
            thread.pointee.core = core
            thread.pointee.reader = thread.pointee.seats[index].reader
            return thread.pointee.reader
        }
        thread.prepareForExit()
        if thread.pointee.seat_count == thread.pointee.seat_capacity {
            let capacity = max(4, thread.pointee.seat_capacity * 2)
            let bytes = Int(capacity) * MemoryLayout<iv_seat>.stride
            guard let grown = realloc(thread.pointee.seats, bytes) else { return nil }
            thread.pointee.seats = grown.assumingMemoryBound(to: iv_seat.self)
            thread.pointee.seat_capacity = capacity
        }
        let reader = registry.locked { () -> Reader? in
            let id = UInt32(bitPattern: iv_gettid())
            var slot = iv_readers(core)
            while let free = slot {
                if iv_reader_thread(free) == 0 {
                    iv_reader_set_thread(free, id)
                    return free
                }
                slot = free.pointee.next
            }
            var memory: UnsafeMutableRawPointer?
            guard posix_memalign(&memory, 64, MemoryLayout<iv_reader>.stride) == 0, let memory else { return nil }
            memset(memory, 0, MemoryLayout<iv_reader>.stride)
            let fresh = memory.assumingMemoryBound(to: iv_reader.self)
            fresh.pointee.thread = id
            iv_reader_reset(fresh, core)
            iv_readers_push(core, fresh)
            return fresh
        }
        guard let reader else { return nil }
        thread.pointee.seats[Int(thread.pointee.seat_count)] = iv_seat(core: core, reader: reader)
        thread.pointee.seat_count += 1
        thread.pointee.core = core
        thread.pointee.reader = reader
        return reader
    }

    /// At a thread's end.
    static func leaveAll(_ thread: ThreadState) {
        for index in 0..<Int(thread.pointee.seat_count) {
            guard let reader = thread.pointee.seats[index].reader, let core = thread.pointee.seats[index].core else {
                continue
            }
            Pins.leaveAll(reader, core)
            reader.pointee.depth = 0
            iv_store_u64(iv_reader_building(reader), 0)
            iv_store_u64(iv_reader_builds_from(reader), 0)
            iv_store_u64(iv_reader_pooling(reader), 0)
            free(reader.pointee.entered)
            (reader.pointee.entered, reader.pointee.entered_count, reader.pointee.entered_capacity) = (nil, 0, 0)
            iv_reader_set_graph(reader, nil)
            iv_store_u64(iv_reader_epoch(reader), 0)
            iv_reader_set_thread(reader, 0)
        }
        free(thread.pointee.seats)
        thread.pointee.seats = nil
        thread.pointee.seat_count = 0
        thread.pointee.seat_capacity = 0
        thread.pointee.core = nil
        thread.pointee.reader = nil
        thread.pointee.prepared = 0
    }

    // MARK: the reclaimer's side

    /// Whether `membarrier` can be used; where not, a full fence on both sides would be needed, and open is refused.
    public static let canReclaim: Bool = iv_membarrier_register() == 0

    /// Publishes a graph to every new reader. The replaced graph may be freed when `inside`, after a later `barrier`,
    /// shows no reader of it.
    public static func publish(_ core: Core, graph: UnsafeRawPointer?, epoch: UInt64) {
        iv_core_publish(core, graph, epoch)
    }

    /// After it every reader that began before is seen by `inside`, `building` and `readers`.
    public static func barrier() { _ = iv_membarrier_all() }

    /// The readers and pins of a runtime at one moment.
    public struct Inside {
        /// The epoch of the oldest reader or build, `.max` when there is none.
        public var oldest = UInt64.max
        /// The oldest epoch among readers that may read any generation from theirs on: builds, and those that have not yet stored
        /// which one they read.
        public var open = UInt64.max
        /// The graphs that readers have stored, and those of pins.
        public var graphs: Set<UnsafeRawPointer> = []

        public init() {}

        /// Whether a reader may use the generation with this graph and epoch.
        public func mayRead(_ graph: UnsafeRawPointer, _ epoch: UInt64) -> Bool {
            epoch >= open || graphs.contains(graph)
        }

        fileprivate mutating func add(_ reader: Reader) {
            // Loads the graph before the epoch, and both before the epoch of builds: a thread stores and clears them in
            // the opposite order.
            let graph = iv_reader_graph(reader)
            let epoch = iv_load_u64(iv_reader_epoch(reader))
            let builds = iv_load_u64(iv_reader_builds_from(reader))
            if epoch != 0 {
                oldest = min(oldest, epoch)
                if let graph { graphs.insert(graph) } else { open = min(open, epoch) }
            }
            if builds != 0 {
                oldest = min(oldest, builds)
                open = min(open, builds)
            }
        }
    }

    /// The readers of a core. Covers only generations that were replaced before the last `barrier`.
    ///
    /// A thread that began to read an older generation is seen with its epoch, because it stored that before it loaded
    /// the graph, and the barrier came in between or later. It is seen with that graph or with none: it removed the
    /// former one before it stored the epoch. If epoch and graph belong to different readings, the first reading has
    /// ended, and the second began after the barrier.
    ///
    /// A generation that passes from a pin to a reader or another pin meanwhile might be overlooked in both. Each such move is
    /// counted before the pin ends, and then the readers are looked at again.
    public static func inside(_ core: Core) -> Inside {
        for _ in 0..<mostLooks {
            let moves = iv_load_u64(iv_core_pin_moves(core))
            var inside = Inside()
            var slot = iv_readers(core)
            while let reader = slot {
                inside.add(reader)
                slot = reader.pointee.next
            }
            // After the readers: a reader that begins a pin leaves when the pin is open.
            Pins.forEachKept(core) { inside.graphs.insert($0) }
            if iv_load_u64(iv_core_pin_moves(core)) == moves { return inside }
        }
        // Every generation may be in use.
        var all = Inside()
        (all.oldest, all.open) = (0, 0)
        return all
    }

    private static let mostLooks = 8

    /// Threads (kernel ids) that are inside an outermost build.
    public static func building(_ core: Core) -> [UInt32] { threads(core) { iv_load_u64(iv_reader_building($0)) != 0 } }

    private static func threads(_ core: Core, where holds: (Reader) -> Bool) -> [UInt32] {
        var threads: [UInt32] = []
        var slot = iv_readers(core)
        while let reader = slot {
            if holds(reader) { threads.append(iv_reader_thread(reader)) }
            slot = reader.pointee.next
        }
        return threads
    }

    /// Threads that read or build.
    public static func readers(_ core: Core) -> [UInt32] { threads(core) { only($0).oldest != .max } }

    /// Threads that may read the generation with this graph and epoch.
    public static func readers(_ core: Core, of graph: UnsafeRawPointer, _ epoch: UInt64) -> [UInt32] {
        threads(core) { only($0).mayRead(graph, epoch) }
    }

    private static func only(_ reader: Reader) -> Inside {
        var inside = Inside()
        inside.add(reader)
        return inside
    }

    // MARK: closing

    /// Whether the calling thread has a build for this core.
    public static func isBuilding(_ core: Core) -> Bool {
        guard let reader = seat(core, iv_thread()!) else { return false }
        return reader.pointee.building > 0
    }

    /// Whether the calling thread has a view open.
    public static func isReading(_ core: Core) -> Bool { (seat(core, iv_thread()!)?.pointee.depth ?? 0) > 0 }

    /// Refuses new outermost builds after this call; `building` shows the current ones.
    public static func refuseBuilds(_ core: Core) {
        iv_store_u64(iv_core_closing(core), UInt64(IV_CLOSING_BUILDS))
        barrier()
    }

    /// No reader enters after this call; `readers` shows those that are inside.
    public static func shut(_ core: Core) {
        iv_store_u64(iv_core_tag(core), 0)
        barrier()
    }

    /// Reverts `refuseBuilds` and `shut`.
    public static func reopen(_ core: Core, tag: UInt64) {
        iv_store_u64(iv_core_tag(core), tag)
        iv_store_u64(iv_core_closing(core), 0)
    }

    // MARK: cores

    private static let tags = Counter()
    private static let nextIndex = Guarded<UInt32>(0, by: registry)

    /// Takes a core for a new runtime; nil when 4,096 are open. The tag is set by `open`.
    public static func takeCore() -> (core: Core, tag: UInt64)? {
        iv_at_fork_install()
        return registry.locked { () -> (core: Core, tag: UInt64)? in
            for _ in 0..<UInt32(IV_CORES) {
                let index = nextIndex.held { next -> UInt32 in
                    defer { next = (next &+ 1) % UInt32(IV_CORES) }
                    return next
                }
                var core = iv_core_at(index)
                if core == nil {
                    var memory: UnsafeMutableRawPointer?
                    guard posix_memalign(&memory, 64, MemoryLayout<iv_core>.stride) == 0, let memory else { return nil }
                    memset(memory, 0, MemoryLayout<iv_core>.stride)
                    core = memory.assumingMemoryBound(to: iv_core.self)
                    core?.pointee.index = index
                    iv_core_set(index, core)
                }
                guard let core, iv_load_u32(iv_core_state(core)) == UInt32(IV_CORE_FREE) else { continue }
                iv_store_u32(iv_core_state(core), UInt32(IV_CORE_OPEN))
                iv_store_u64(iv_core_epoch(core), 1)
                let tag = (UInt64(index) << 16) | (tags.next() % 0xffff + 1)
                return (core, tag)
            }
            return nil
        }
    }

    public static func freeCore(_ core: Core) {
        registry.locked {
            core.pointee.engine = nil
            iv_store_u64(iv_core_closing(core), 0)
            iv_store_u32(iv_core_state(core), UInt32(IV_CORE_FREE))
        }
    }
}

/// A process-wide count.
public final class Counter: Sendable {
    private let last = Atomic<UInt64>(0)

    public init() {}

    /// 1, 2, 3, ...
    public func next() -> UInt64 { last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
