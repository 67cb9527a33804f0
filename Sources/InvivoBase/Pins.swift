public import CPlatform
internal import Glibc

/// A pin, in memory that is never freed.
public typealias PinRecord = UnsafeMutablePointer<iv_pin>

/// Pins: each keeps one generation until it is ended (docs/architecture.md: Reading).
///
/// The reads of a thread that is in a pin find the graph of its generation. A pin that belongs to no thread only keeps its generation;
/// threads enter it by a pin of their own. All functions use the thread's reader slot: they take no lock and wait for nothing, except
/// when a thread needs more pins than ever before.
public enum Pins {
    /// Guards the lists of pins. Never held while another lock is taken.
    private static let registry = Monitor(isProcessWide: true)
    private static let count = Guarded<UInt32>(0, by: registry)
    private static let batch = 8

    /// The source location of a pin. `file` is not copied.
    public struct Place {
        let file: UnsafePointer<CChar>?
        let line: UInt32

        public init(file: UnsafePointer<CChar>?, line: UInt32) { (self.file, self.line) = (file, line) }
    }

    public enum Begun {
        /// `isFirst`: no look for old pins is planned; the caller plans one.
        case begun(UInt64, isFirst: Bool)
        case closed
        case exhausted
        /// The pin has ended.
        case stale
        /// The thread has an open view of another generation.
        case viewing
        /// The process is a forked child of the runtime's.
        case forked
    }

    public enum Ended {
        /// `isOld`: its generation is not the newest, and may end now.
        case ended(Core, isOld: Bool)
        /// It had ended before, or it is zero.
        case before
        /// It is no handle of a pin.
        case unknown
        /// Another thread is in it.
        case elsewhere(UInt32)
    }

    // MARK: begin

    /// Begins a pin of the current generation, or of the calling thread's innermost pin. The thread is then in it, unless the pin is to
    /// belong to no thread.
    public static func begin(_ core: Core, tag: UInt64, isThreads: Bool, at place: Place) -> Begun {
        while true {
            guard let reader = Readers.enter(core, tag: tag) else { return .closed }
            defer { Readers.leave(reader) }
            let graph = reader.pointee.graph
            let isPinned = iv_reader_is_pinned(reader, core) != 0
            let isViewing = reader.pointee.depth > 1
            guard !isViewing || graph == iv_reader_begin(reader) else { return .viewing }
            guard let pin = take(reader, core, isThreads: isThreads) else { return .exhausted }
            let bits = open(pin, graph, tag, isThreads ? reader : nil, place)
            if isPinned {
                // The reclaimer may have looked at this pin before it was open, and looks at the other one when that has ended.
                _ = iv_add_u64(iv_core_pin_moves(core), 1)
            } else if graph != iv_core_current(core) {
                // A commit that has not seen this pin was published meanwhile.
                if letGo(pin, bits) { free(pin, core, isThreads ? reader : nil) }
                if isViewing { return .viewing }
                continue
            }
            if isThreads { join(pin, reader) }
            return .begun(bits, isFirst: iv_load_u64(iv_core_pins_watched(core)) == 0)
        }
    }

    /// Begins a further pin of the same generation, in which the calling thread is.
    public static func enter(_ bits: UInt64, at place: Place? = nil) -> Begun {
        guard let from = record(bits), let core = from.pointee.core else { return .stale }
        guard !Readers.isParents(core) else { return .forked }
        let tag = iv_load_u64(iv_pin_tag(from))
        guard let reader = Readers.enter(core, tag: tag) else { return .stale }
        defer { Readers.leave(reader) }
        guard hold(from, bits) else { return .stale }
        defer { letGo(from, core) }
        let graph = iv_pin_graph(from)
        guard reader.pointee.depth == 1 || reader.pointee.graph == graph else { return .viewing }
        guard let pin = take(reader, core, isThreads: true) else { return .exhausted }
        let place = place ?? Place(file: from.pointee.file, line: from.pointee.line)
        let own = open(pin, graph, tag, reader, place)
        _ = iv_add_u64(iv_core_pin_moves(core), 1)
        join(pin, reader)
        return .begun(own, isFirst: iv_load_u64(iv_core_pins_watched(core)) == 0)
    }

    private static func open(
        _ pin: PinRecord, _ graph: UnsafeRawPointer?, _ tag: UInt64, _ reader: Reader?, _ place: Place
    ) -> UInt64 {
        iv_pin_set_graph(pin, graph)
        iv_store_u64(iv_pin_tag(pin), tag)
        iv_pin_set_reader(pin, reader)
        pin.pointee.since = iv_coarse_ns()
        (pin.pointee.file, pin.pointee.line) = (place.file, place.line)
        pin.pointee.thread = currentThread().pointee.reader?.pointee.thread ?? 0
        pin.pointee.is_reported = 0
        var unused = iv_load_u64(iv_pin_state(pin))
        let state = unused | UInt64(IV_PIN_OPEN) | 1
        // A full barrier: a commit sees the pin, or the pin sees the commit. No other thread changes an unused pin.
        _ = iv_cas_u64(iv_pin_state(pin), &unused, state)
        return state & ~UInt64((1 << IV_PIN_SHIFT) - 1) | UInt64(pin.pointee.index)
    }

    /// The thread of the slot is in the pin, and in its former pins around it.
    private static func join(_ pin: PinRecord, _ reader: Reader) {
        pin.pointee.outer = iv_reader_pins(reader)
        iv_reader_set_pins(reader, pin)
        iv_reader_set_source(reader, pin.pointee.source)
    }

    /// The thread of the slot is in the pin no longer. The order in which it ends its pins does not matter.
    private static func leave(_ pin: PinRecord, _ reader: Reader, _ core: Core) {
        var inner: PinRecord?
        var next = iv_reader_pins(reader)
        while let here = next, here != pin { (inner, next) = (here, here.pointee.outer) }
        guard next == pin else { return }
        if let inner {
            inner.pointee.outer = pin.pointee.outer
        } else {
            iv_reader_set_pins(reader, pin.pointee.outer)
            if let outer = pin.pointee.outer {
                iv_reader_set_source(reader, outer.pointee.source)
            } else {
                iv_reader_reset(reader, core)
            }
        }
    }

    // MARK: end

    /// Ends a pin. By the thread that is in it; by any thread if none is.
    public static func end(_ bits: UInt64) -> Ended {
        guard bits != 0 else { return .before }
        let number = bits >> UInt64(IV_PIN_SHIFT)
        guard number != 0, let pin = record(bits), let core = pin.pointee.core,
            iv_load_u64(iv_pin_state(pin)) >> UInt64(IV_PIN_SHIFT) >= number
        else { return .unknown }
        guard let reader = Readers.enter(core, tag: iv_load_u64(iv_pin_tag(pin))) else { return .before }
        defer { Readers.leave(reader) }
        guard isOpen(pin, bits) else { return .before }
        let own = iv_pin_reader(pin)
        if let own {
            guard own == reader else { return .elsewhere(iv_reader_thread(own)) }
            leave(pin, reader, core)
            // What the thread reads and builds in this generation goes on without the pin.
            if reader.pointee.building > 0 {
                let epoch = (UnsafePointer<iv_graph>(OpaquePointer(iv_pin_graph(pin)))?.pointee.order ?? 0) &+ 1
                let from = reader.pointee.builds_from
                iv_store_u64(iv_reader_builds_from(reader), from == 0 ? epoch : min(from, epoch))
            }
            if reader.pointee.building > 0 || reader.pointee.depth > 1 { _ = iv_add_u64(iv_core_pin_moves(core), 1) }
        }
        let isOld = iv_pin_graph(pin) != iv_core_current(core)
        var state = iv_load_u64(iv_pin_state(pin))
        repeat {
            guard isOpen(state, bits) else { return .before }
        } while !iv_cas_u64(iv_pin_state(pin), &state, (state & ~UInt64(IV_PIN_OPEN)) &- 1)
        if state & UInt64(IV_PIN_HOLDERS) == 1 { free(pin, core, own) }
        return .ended(core, isOld: isOld)
    }

    /// Ends a pin in which no thread is. Returns whether its holders have let go.
    private static func letGo(_ pin: PinRecord, _ bits: UInt64) -> Bool {
        iv_and_u64(iv_pin_state(pin), ~UInt64(IV_PIN_OPEN))
        return iv_sub_u64(iv_pin_state(pin), 1) & UInt64(IV_PIN_HOLDERS) == 1
    }

    /// The innermost pin of the calling thread; 0 if it is in none.
    public static func innermost(_ core: Core) -> UInt64 {
        guard let reader = Readers.known(core, iv_thread()!), iv_reader_is_pinned(reader, core) != 0,
            let pin = iv_reader_pins(reader)
        else { return 0 }
        return iv_load_u64(iv_pin_state(pin)) & ~UInt64((1 << IV_PIN_SHIFT) - 1) | UInt64(pin.pointee.index)
    }

    /// The generation of a pin; nil if it has ended.
    public static func generation(_ bits: UInt64) -> UInt64? {
        guard let pin = record(bits), let core = pin.pointee.core,
            let reader = Readers.enter(core, tag: iv_load_u64(iv_pin_tag(pin)))
        else { return nil }
        defer { Readers.leave(reader) }
        guard hold(pin, bits) else { return nil }
        defer { letGo(pin, core) }
        return UnsafePointer<iv_graph>(OpaquePointer(iv_pin_graph(pin)))?.pointee.generation
    }

    /// At the end of a thread: the pins that it is in belong to no thread from now on.
    static func leaveAll(_ reader: Reader, _ core: Core) {
        while let pin = iv_reader_pins(reader) {
            iv_reader_set_pins(reader, pin.pointee.outer)
            iv_pin_set_reader(pin, nil)
        }
        iv_reader_reset(reader, core)
    }

    // MARK: reads

    /// The graph that the reads of the calling thread find, if it is in a pin. Valid while it stays in it.
    @inlinable
    public static func graph(_ core: Core) -> UnsafePointer<iv_graph>? {
        guard let reader = Readers.known(core, iv_thread()!), iv_reader_is_pinned(reader, core) != 0 else { return nil }
        return iv_reader_begin(reader)?.assumingMemoryBound(to: iv_graph.self)
    }

    /// Runs code that belongs to none of the calling thread's pins: a job, an observer, the creation of an entry of a pool.
    @inlinable @inline(__always)
    public static func outside<Result>(_ core: Core, _ body: () throws -> Result) rethrows -> Result {
        guard let reader = Readers.known(core, iv_thread()!), iv_reader_is_pinned(reader, core) != 0 else {
            return try body()
        }
        return try outside(reader, core, body)
    }

    @usableFromInline
    static func outside<Result>(_ reader: Reader, _ core: Core, _ body: () throws -> Result) rethrows -> Result {
        var section = iv_pin()
        return try withUnsafeMutablePointer(to: &section) { section in
            iv_pin_read_current(section, core)
            join(section, reader)
            defer { leave(section, reader, core) }
            return try body()
        }
    }

    // MARK: all pins

    /// Calls `body` with the graph of each pin that has a holder.
    static func forEachKept(_ core: Core, _ body: (UnsafeRawPointer) -> Void) {
        var next = iv_core_pins(core)
        while let pin = next {
            next = pin.pointee.next
            guard iv_load_u64(iv_pin_state(pin)) & UInt64(IV_PIN_HOLDERS) != 0, let graph = iv_pin_graph(pin) else {
                continue
            }
            body(graph)
        }
    }

    /// Whether an open pin keeps another generation than the current one.
    public static func areSomeOld(_ core: Core) -> Bool {
        let current = iv_core_current(core)
        var isOld = false
        forEachKept(core) { if $0 != current { isOld = true } }
        return isOld
    }

    /// An open pin, for messages and status.
    public struct Open: Sendable {
        public let generation: UInt64
        /// "server.c:12", or "" if it is not known.
        public let place: String
        /// The kernel's id of the thread that began it.
        public let thread: UInt32
        /// In monotonic nanoseconds.
        public let since: UInt64
        /// Whether `open` has returned it with `onlyNew`.
        public let isReported: Bool
    }

    /// The open pins of a runtime that began before `time`, the oldest first. With `onlyNew`, each is returned once.
    public static func open(_ core: Core, tag: UInt64, before time: UInt64 = .max, onlyNew: Bool = false) -> [Open] {
        // Close ends the pins when no thread is inside.
        guard let reader = Readers.enter(core, tag: tag) else { return [] }
        defer { Readers.leave(reader) }
        return all(core, before: time, onlyNew: onlyNew)
    }

    private static func all(_ core: Core, before time: UInt64 = .max, onlyNew: Bool = false) -> [Open] {
        var found: [Open] = []
        var next = iv_core_pins(core)
        while let pin = next {
            next = pin.pointee.next
            let bits = iv_load_u64(iv_pin_state(pin)) & ~UInt64((1 << IV_PIN_SHIFT) - 1) | UInt64(pin.pointee.index)
            // While it is held, no other thread changes what is read here.
            guard hold(pin, bits) else { continue }
            defer { letGo(pin, core) }
            guard pin.pointee.since < time, !onlyNew || pin.pointee.is_reported == 0 else { continue }
            if onlyNew { pin.pointee.is_reported = 1 }
            found.append(facts(of: pin))
        }
        return found.sorted { $0.since < $1.since }
    }

    private static func facts(of pin: PinRecord) -> Open {
        let file = pin.pointee.file.map { String(cString: $0) } ?? ""
        return Open(
            generation: UnsafePointer<iv_graph>(OpaquePointer(iv_pin_graph(pin)))?.pointee.generation ?? 0,
            place: file.isEmpty ? "" : "\(file):\(pin.pointee.line)", thread: pin.pointee.thread,
            since: pin.pointee.since, isReported: pin.pointee.is_reported != 0)
    }

    /// For close, when no thread is inside and none can enter: ends all pins. Returns them.
    public static func endAll(_ core: Core) -> [Open] {
        let open = all(core)
        iv_store_u64(iv_core_pins_watched(core), 0)
        registry.locked {
            var slot = iv_readers(core)
            while let reader = slot {
                iv_reader_reset(reader, core)
                slot = reader.pointee.next
            }
            var next = iv_core_pins(core)
            while let pin = next {
                next = pin.pointee.next
                guard iv_load_u64(iv_pin_state(pin)) & UInt64(IV_PIN_HOLDERS) != 0 else { continue }
                close(pin)
                give(pin, core)
            }
        }
        return open
    }

    // MARK: records

    private static func record(_ bits: UInt64) -> PinRecord? {
        iv_pin_at(UInt32(truncatingIfNeeded: bits & UInt64((1 << IV_PIN_SHIFT) - 1)))
    }

    private static func isOpen(_ pin: PinRecord, _ bits: UInt64) -> Bool {
        isOpen(iv_load_u64(iv_pin_state(pin)), bits)
    }

    private static func isOpen(_ state: UInt64, _ bits: UInt64) -> Bool {
        state & UInt64(IV_PIN_OPEN) != 0 && state >> UInt64(IV_PIN_SHIFT) == bits >> UInt64(IV_PIN_SHIFT)
    }

    /// Keeps the generation of an open pin, whatever becomes of the pin. Paired with `letGo`.
    private static func hold(_ pin: PinRecord, _ bits: UInt64) -> Bool {
        var state = iv_load_u64(iv_pin_state(pin))
        repeat {
            guard isOpen(state, bits), state & UInt64(IV_PIN_HOLDERS) < UInt64(IV_PIN_HOLDERS) else { return false }
        } while !iv_cas_u64(iv_pin_state(pin), &state, state + 1)
        return true
    }

    private static func letGo(_ pin: PinRecord, _ core: Core) {
        if iv_sub_u64(iv_pin_state(pin), 1) & UInt64(IV_PIN_HOLDERS) == 1 { free(pin, core, nil) }
    }

    /// The last holder has let go. `reader`: the slot of the calling thread, if that was in the pin.
    private static func free(_ pin: PinRecord, _ core: Core, _ reader: Reader?) {
        close(pin)
        if let reader {
            pin.pointee.outer = reader.pointee.free_pins
            reader.pointee.free_pins = pin
        } else {
            registry.locked { give(pin, core) }
        }
    }

    fileprivate static func place(of bits: UInt64) -> Place? {
        record(bits).map { Place(file: $0.pointee.file, line: $0.pointee.line) }
    }

    /// Makes its handle stale.
    private static func close(_ pin: PinRecord) {
        iv_pin_set_graph(pin, nil)
        iv_pin_set_reader(pin, nil)
        let number = iv_load_u64(iv_pin_state(pin)) >> UInt64(IV_PIN_SHIFT) &+ 1
        // No handle is 0.
        let next = number << UInt64(IV_PIN_SHIFT) == 0 ? 1 : number
        iv_store_u64(iv_pin_state(pin), next << UInt64(IV_PIN_SHIFT))
    }

    /// With the lock held.
    private static func give(_ pin: PinRecord, _ core: Core) {
        pin.pointee.outer = core.pointee.free_pins
        core.pointee.free_pins = pin
    }

    /// An unused pin, from those of the thread if it is to be in it. Nil if memory or the numbers of pins are exhausted.
    private static func take(_ reader: Reader, _ core: Core, isThreads: Bool) -> PinRecord? {
        if isThreads, let pin = reader.pointee.free_pins {
            reader.pointee.free_pins = pin.pointee.outer
            return pin
        }
        return registry.locked {
            if core.pointee.free_pins == nil { addUnused(core) }
            guard let pin = core.pointee.free_pins else { return nil }
            core.pointee.free_pins = pin.pointee.outer
            return pin
        }
    }

    /// With the lock held: adds a batch of unused pins.
    private static func addUnused(_ core: Core) {
        for _ in 0..<batch {
            guard let index = count.held({ $0 < UInt32(1 << IV_PIN_SHIFT) ? $0 : nil }) else { return }
            if iv_pin_at(index) == nil {
                let size = MemoryLayout<iv_pin>.stride << Int(IV_PIN_CHUNK_SHIFT)
                guard let memory = calloc(1, size) else { return }
                iv_pin_chunk_set(index >> UInt32(IV_PIN_CHUNK_SHIFT), memory.assumingMemoryBound(to: iv_pin.self))
            }
            guard let pin = iv_pin_at(index) else { return }
            count.held { $0 += 1 }
            (pin.pointee.index, pin.pointee.core) = (index, core)
            iv_pin_read_own(pin)
            iv_store_u64(iv_pin_state(pin), 1 << UInt64(IV_PIN_SHIFT))
            iv_core_push_pin(core, pin)
            give(pin, core)
        }
    }
}

/// The generation of the calling thread's innermost pin, kept for work on other threads. Without such a pin, nothing.
public final class HeldPin: Sendable {
    private let bits: UInt64

    public init(_ core: Core, tag: UInt64) {
        let around = Pins.innermost(core)
        guard around != 0, let pin = Pins.place(of: around),
            case .begun(let bits, _) = Pins.begin(core, tag: tag, isThreads: false, at: pin)
        else {
            bits = 0
            return
        }
        self.bits = bits
    }

    deinit { if bits != 0 { _ = Pins.end(bits) } }

    /// Runs `body` in the pin.
    public func within<Result>(_ body: () -> Result) -> Result {
        guard bits != 0, case .begun(let own, _) = Pins.enter(bits) else { return body() }
        defer { _ = Pins.end(own) }
        return body()
    }
}
