public import CPlatform
internal import Glibc

public typealias Record = UnsafeMutablePointer<iv_record>

/// The slots that object handles refer to, for all runtimes of the process.
///
/// A handle is [kind 2: 4 bits][generation: 28][slot: 32]. The slot's one word holds the generation, the graph's hold
/// and the leases of hosts, so that every check and count is one atomic operation. Slots are never freed. The thread
/// that removes the last claim sets IV_DYING in the same operation, and only this thread disposes of the record.
///
/// An object has at most 2^31 leases. Further requests are refused, long before the count would reach the bits above. A
/// host that releases its leases does not come near this limit.
public enum ObjectTable {
    @usableFromInline static let kind: UInt64 = 2
    @usableFromInline static let lastGeneration: UInt64 = 0xfff_ffff
    private static let monitor = Monitor(isProcessWide: true)
    private struct Slots {
        var free: [UInt32] = []
        var count: UInt32 = 0
    }
    private static let slots = Guarded(Slots(), by: monitor)

    /// Disposes of a record without claims; set once by InvivoWiring before the first object is created.
    @inlinable @inline(__always)
    public static var dispose: @convention(c) (Record) -> Void {
        get { iv_dispose() }
        set { iv_set_dispose(newValue) }
    }

    @inlinable @inline(__always)
    static func slot(_ bits: UInt64) -> UnsafeMutablePointer<iv_slot>? {
        guard HandleBits(bits).kind == kind else { return nil }
        return iv_slot_at(UInt32(truncatingIfNeeded: bits))
    }

    @inlinable @inline(__always)
    static func generation(_ bits: UInt64) -> UInt64 { HandleBits(bits).tag }

    /// Checks whether an object that lost a claim is held only by a reference cycle; set as `dispose` is.
    @inlinable @inline(__always)
    public static var lookForCycle: @convention(c) (UInt64) -> Void {
        get { iv_search_cycle() }
        set { iv_set_search_cycle(newValue) }
    }

    // MARK: creation

    /// A free slot; nil without memory.
    @inlinable @inline(__always)
    public static func takeSlot() -> UInt32? {
        let thread = iv_thread()!
        let count = thread.pointee.magazine_count
        if count > 0 {
            thread.pointee.magazine_count = count &- 1
            return magazine(thread)[Int(count &- 1)]
        }
        return refill(thread)
    }

    @inlinable @inline(__always)
    static func magazine(_ thread: ThreadState) -> UnsafeMutablePointer<UInt32> {
        (UnsafeMutableRawPointer(thread) + MemoryLayout<iv_thread>.offset(of: \.magazine).unsafelyUnwrapped)
            .assumingMemoryBound(to: UInt32.self)
    }

    @usableFromInline @inline(never)
    static func refill(_ thread: ThreadState) -> UInt32? {
        thread.prepareForExit()
        return slots.locked { slots -> UInt32? in
            if slots.free.count < 8 {
                let chunk = slots.count >> UInt32(IV_SLOT_CHUNK_SHIFT)
                let size = 1 << Int(IV_SLOT_CHUNK_SHIFT)
                guard chunk < UInt32(IV_SLOT_CHUNKS) else { return slots.free.popLast() }
                if iv_slot_at(slots.count) == nil {
                    guard let memory = calloc(size, MemoryLayout<iv_slot>.stride) else { return slots.free.popLast() }
                    iv_slot_chunk_set(chunk, memory.assumingMemoryBound(to: iv_slot.self))
                }
                let fresh = min(16, UInt32(size) - slots.count % UInt32(size))
                slots.free += (slots.count..<slots.count + fresh).reversed()
                slots.count += fresh
            }
            let taken = slots.free.popLast()
            let spare = magazine(thread)
            while thread.pointee.magazine_count < UInt32(IV_MAGAZINE) / 2, let next = slots.free.popLast() {
                spare[Int(thread.pointee.magazine_count)] = next
                thread.pointee.magazine_count += 1
            }
            return taken
        }
    }

    /// Brings a record to life under a handle with `leases` claims of hosts, and the graph's if `hold`.
    @inlinable @inline(__always)
    public static func open(_ index: UInt32, _ record: Record, owner: UInt64, leases: UInt64, hold: Bool) -> UInt64 {
        guard let slot = iv_slot_at(index) else { return 0 }
        let generation = iv_load_relaxed_u64(iv_slot_state(slot)) >> UInt64(IV_GENERATION_SHIFT)
        record.pointee.slot = index
        slot.pointee.record = record
        iv_store_relaxed_u64(iv_slot_owner(slot), owner)
        iv_store_u64(
            iv_slot_state(slot), generation << UInt64(IV_GENERATION_SHIFT) | (hold ? IV_HOLD : 0) | leases)
        return kind << 60 | generation << 32 | UInt64(index)
    }

    /// Ends a handle after disposal: it is stale from now on, and the slot free.
    @inlinable @inline(__always)
    public static func close(_ index: UInt32) {
        guard let slot = iv_slot_at(index) else { return }
        iv_thread().assertUnlocked()
        let generation = iv_load_relaxed_u64(iv_slot_state(slot)) >> UInt64(IV_GENERATION_SHIFT)
        guard generation < lastGeneration else { return retire(slot) }
        let owner = iv_load_relaxed_u64(iv_slot_owner(slot))
        iv_store_u64(iv_slot_state(slot), (generation &+ 1) << UInt64(IV_GENERATION_SHIFT))
        if owner >> 63 != 0 { reportEnd(owner) }
        let thread = iv_thread()!
        let count = thread.pointee.magazine_count
        if count < UInt32(IV_MAGAZINE), thread.pointee.prepared != 0 {
            magazine(thread)[Int(count)] = index
            thread.pointee.magazine_count = count &+ 1
        } else {
            giveBack(thread, index)
        }
    }

    /// Marks an object, so that its end is reported with its owner word to `object_ended` of the runtime's core. The first mark
    /// (35 bits) is kept. The caller has a lease.
    @inlinable @inline(__always)
    public static func mark(_ bits: UInt64, _ mark: UInt64) {
        guard let slot = slot(bits), iv_load_relaxed_u64(iv_slot_owner(slot)) >> 63 == 0 else { return }
        _ = iv_or_u64(iv_slot_owner(slot), 1 << 63 | mark << 28)
    }

    /// Cores outlive their runtimes: the function checks whether the one of the owner word is still open.
    @inlinable @inline(__always)
    static func reportEnd(_ owner: UInt64) {
        guard let core = iv_core_at(UInt32(truncatingIfNeeded: owner >> 16) & 0xfff) else { return }
        iv_core_object_ended(core, owner)
    }

    /// A slot that has used all its generations is abandoned, so that no handle ever refers to two objects.
    @usableFromInline @inline(never)
    static func retire(_ slot: UnsafeMutablePointer<iv_slot>) {
        slot.pointee.record = nil
        iv_store_u64(iv_slot_state(slot), lastGeneration << UInt64(IV_GENERATION_SHIFT))
    }

    @usableFromInline @inline(never)
    static func giveBack(_ thread: ThreadState, _ index: UInt32) {
        slots.locked { slots in
            slots.free.append(index)
            let spare = magazine(thread)
            while thread.pointee.magazine_count > UInt32(IV_MAGAZINE) / 2 {
                thread.pointee.magazine_count -= 1
                slots.free.append(spare[Int(thread.pointee.magazine_count)])
            }
        }
    }

    static func returnMagazine(_ thread: ThreadState) {
        slots.locked { slots in
            while thread.pointee.magazine_count > 0 {
                thread.pointee.magazine_count -= 1
                slots.free.append(magazine(thread)[Int(thread.pointee.magazine_count)])
            }
        }
    }

    // MARK: claims

    /// Adds a lease, for a caller that is sure that the object lives (inside a view that leads to it, or with a lease).
    /// Returns false when it has the maximum number.
    @inlinable @inline(__always)
    public static func leaseKnownAlive(_ bits: UInt64) -> Bool {
        guard let slot = iv_slot_at(UInt32(truncatingIfNeeded: bits)) else { return false }
        if iv_add_u64(iv_slot_state(slot), 1) & tooMany == 0 { return true }
        // The limit leaves room for threads that add at the same time: half of the range, before other bits are
        // affected.
        _ = iv_sub_u64(iv_slot_state(slot), 1)
        return false
    }

    /// The bit of the lease count that is set when there are too many.
    @usableFromInline static let tooMany: UInt64 = 1 << 31

    /// Whether an object has the maximum number of leases.
    public static func isExhausted(_ bits: UInt64) -> Bool { (claims(bits)?.leases ?? 0) & tooMany != 0 }

    /// Adds the graph's hold to an object with a lease.
    public static func hold(_ bits: UInt64) {
        if let slot = slot(bits) { _ = iv_or_u64(iv_slot_state(slot), IV_HOLD) }
    }

    /// Notes that the object is part of a reference cycle.
    public static func markCycle(_ bits: UInt64) {
        if let slot = slot(bits) { _ = iv_or_u64(iv_slot_state(slot), IV_CYCLE) }
    }

    public static func isInCycle(_ bits: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        let state = iv_load_u64(iv_slot_state(slot))
        return state >> UInt64(IV_GENERATION_SHIFT) == generation(bits) && state & IV_CYCLE != 0
    }

    /// Leases, and whether the graph holds it; nil for a stale handle or an object on its way out.
    public static func claims(_ bits: UInt64) -> (leases: UInt64, isHeld: Bool)? {
        guard let slot = slot(bits) else { return nil }
        let state = iv_load_u64(iv_slot_state(slot))
        guard state >> UInt64(IV_GENERATION_SHIFT) == generation(bits), state & IV_DYING == 0 else { return nil }
        return (state & IV_LEASES, state & IV_HOLD != 0)
    }

    /// Whether the object has a lease or the graph's hold.
    @inlinable @inline(__always)
    public static func isClaimed(_ bits: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        let state = iv_load_u64(iv_slot_state(slot))
        return state >> UInt64(IV_GENERATION_SHIFT) == generation(bits) && state & (IV_LEASES | IV_HOLD) != 0
            && (state & IV_DYING == 0 || state & IV_TRIAL != 0)
    }

    // MARK: reference cycles
    //
    // No single check can see that objects are held only by each other. They are put on trial one after another, and a
    // new lease on one of them cancels its trial. When all are on trial at the same time, nothing else holds a claim.

    /// Gives an object that has just lost its last claim the graph's hold, so that it lives on. Called by the thread
    /// that would otherwise dispose of it.
    public static func revive(_ bits: UInt64) {
        guard let slot = slot(bits) else { return }
        var state = iv_load_u64(iv_slot_state(slot))
        while !iv_cas_u64(iv_slot_state(slot), &state, (state | IV_HOLD) & ~IV_DYING) {}
    }

    /// Puts an object on trial that has exactly so many leases and no hold. False when it has others.
    private static func beginTrial(_ bits: UInt64, leases: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        var state = iv_load_u64(iv_slot_state(slot))
        while state >> UInt64(IV_GENERATION_SHIFT) == generation(bits),
            state & (IV_LEASES | IV_HOLD | IV_DYING) == leases
        {
            if iv_cas_u64(iv_slot_state(slot), &state, state | IV_TRIAL | IV_DYING) { return true }
        }
        return false
    }

    private static func isOnTrial(_ bits: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        return iv_load_u64(iv_slot_state(slot)) & IV_TRIAL != 0
    }

    /// Ends objects that have exactly these leases and no hold: all of them, or none when a thread takes a lease meanwhile. The
    /// release of that lease looks again.
    public static func endTogether(_ objects: [(object: UInt64, leases: UInt64)]) -> Bool {
        let tried = objects.filter { beginTrial($0.object, leases: $0.leases) }
        if tried.count == objects.count, tried.allSatisfy({ isOnTrial($0.object) }) {
            if tried.filter({ end($0.object) }).count == objects.count { return true }
        }
        for (object, _) in tried { acquit(object) }
        return false
    }

    /// Ends an object that is on trial. The caller then disposes of it. Returns false if the trial was canceled.
    private static func end(_ bits: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        var state = iv_load_u64(iv_slot_state(slot))
        while state & IV_TRIAL != 0 {
            if iv_cas_u64(iv_slot_state(slot), &state, state & ~IV_TRIAL) { return true }
        }
        return false
    }

    /// Ends the trial of an object that stays alive, whether it is still on trial or its trial was canceled.
    private static func acquit(_ bits: UInt64) {
        if let slot = slot(bits) { _ = iv_and_u64(iv_slot_state(slot), ~(IV_TRIAL | IV_DYING)) }
    }

    /// Drops a lease, for a caller that has searched for cycles itself and found the object alive. Returns true if it
    /// was the last claim nevertheless: then the caller disposes of the object.
    public static func releaseUnseen(_ bits: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        var state = iv_load_u64(iv_slot_state(slot))
        while true {
            let last = state & (IV_LEASES | IV_HOLD | IV_DYING) == 1
            if iv_cas_u64(iv_slot_state(slot), &state, last ? (state &- 1) | IV_DYING : state &- 1) { return last }
        }
    }

    // MARK: leases

    /// Adds a lease. Returns false when the handle is stale, the object is not held any more, or it has the maximum
    /// number of leases.
    @inlinable @inline(__always)
    public static func retain(_ bits: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        var state = iv_load_u64(iv_slot_state(slot))
        while true {
            // A stale handle stays so.
            guard state >> UInt64(IV_GENERATION_SHIFT) == generation(bits) else { return false }
            guard state & (IV_DYING | tooMany) == 0, state & (IV_LEASES | IV_HOLD) != 0 else {
                return retainOnTrial(slot, bits)
            }
            if iv_cas_u64(iv_slot_state(slot), &state, state &+ 1) { return true }
        }
    }

    /// Adds a lease to an object on trial, which cancels the trial.
    @usableFromInline @inline(never)
    static func retainOnTrial(_ slot: UnsafeMutablePointer<iv_slot>, _ bits: UInt64) -> Bool {
        var state = iv_load_u64(iv_slot_state(slot))
        while state >> UInt64(IV_GENERATION_SHIFT) == generation(bits), state & tooMany == 0,
            state & (IV_LEASES | IV_HOLD) != 0,
            state & IV_DYING == 0 || state & IV_TRIAL != 0
        {
            if iv_cas_u64(iv_slot_state(slot), &state, (state & ~(IV_TRIAL | IV_DYING)) &+ 1) { return true }
        }
        return false
    }

    /// Drops a lease; the last claim disposes of the object. Returns false when the handle is stale or there is no
    /// lease.
    @inlinable @inline(__always)
    public static func release(_ bits: UInt64) -> Bool {
        guard let slot = slot(bits) else { return false }
        var state = iv_load_u64(iv_slot_state(slot))
        while true {
            guard state >> UInt64(IV_GENERATION_SHIFT) == generation(bits), state & IV_LEASES != 0 else {
                return false
            }
            // Not when the object is already being disposed of, with its cycle: its record may be freed.
            let last = state & (IV_LEASES | IV_HOLD | IV_DYING) == 1
            if iv_cas_u64(iv_slot_state(slot), &state, last ? (state &- 1) | IV_DYING : state &- 1) {
                if last {
                    if let record = slot.pointee.record { dispose(record) }
                } else if state & (IV_HOLD | IV_DYING | IV_CYCLE) == IV_CYCLE {
                    lookForCycle(bits)
                }
                return true
            }
        }
    }

    /// Drops a lease, for a caller that disposes of the object itself. Returns the record if that was the last claim.
    @inlinable @inline(__always)
    public static func giveBack(_ bits: UInt64) -> Record? {
        guard let slot = slot(bits) else { return nil }
        var state = iv_load_u64(iv_slot_state(slot))
        while state >> UInt64(IV_GENERATION_SHIFT) == generation(bits), state & IV_LEASES != 0 {
            let last = state & (IV_LEASES | IV_HOLD | IV_DYING) == 1
            if iv_cas_u64(iv_slot_state(slot), &state, last ? (state &- 1) | IV_DYING : state &- 1) {
                if last { return slot.pointee.record }
                if state & (IV_HOLD | IV_DYING | IV_CYCLE) == IV_CYCLE { lookForCycle(bits) }
                return nil
            }
        }
        return nil
    }

    /// Drops the graph's hold. If it was the last claim, disposes of the object.
    public static func dropHold(_ bits: UInt64) {
        guard let slot = slot(bits) else { return }
        var state = iv_load_u64(iv_slot_state(slot))
        while true {
            guard state >> UInt64(IV_GENERATION_SHIFT) == generation(bits), state & IV_HOLD != 0 else { return }
            let last = state & IV_LEASES == 0
            let next = (state & ~IV_HOLD) | (last ? IV_DYING : 0)
            if iv_cas_u64(iv_slot_state(slot), &state, next) {
                if last {
                    if let record = slot.pointee.record { dispose(record) }
                } else if state & IV_CYCLE != 0 {
                    lookForCycle(bits)
                }
                return
            }
        }
    }

    /// The record of a handle on which the caller holds a claim.
    @inlinable @inline(__always)
    public static func record(_ bits: UInt64) -> Record? {
        guard let slot = slot(bits),
            iv_load_u64(iv_slot_state(slot)) >> UInt64(IV_GENERATION_SHIFT) == generation(bits)
        else { return nil }
        return slot.pointee.record
    }

    /// The handle of a live record.
    public static func handle(_ record: Record) -> UInt64 {
        guard let slot = iv_slot_at(record.pointee.slot) else { return 0 }
        return kind << 60 | (iv_load_u64(iv_slot_state(slot)) >> UInt64(IV_GENERATION_SHIFT)) << 32
            | UInt64(record.pointee.slot)
    }

    /// The number of live objects in the process.
    public static func liveCount() -> UInt64 {
        let count = slots.locked { $0.count }
        var live: UInt64 = 0
        for index in 0..<count {
            guard let slot = iv_slot_at(index) else { continue }
            if iv_load_u64(iv_slot_state(slot)) & (IV_LEASES | IV_HOLD | IV_DYING) != 0 { live += 1 }
        }
        return live
    }

    /// The handles of one runtime's live objects; to use one, the caller takes a lease on it.
    public static func all(of owner: UInt64) -> [UInt64] {
        let count = slots.locked { $0.count }
        var found: [UInt64] = []
        for index in 0..<count {
            guard let slot = iv_slot_at(index) else { continue }
            let state = iv_load_u64(iv_slot_state(slot))
            guard state & (IV_LEASES | IV_HOLD) != 0,
                iv_load_relaxed_u64(iv_slot_owner(slot)) & HandleBits.tagMask == owner
            else {
                continue
            }
            found.append(kind << 60 | (state >> UInt64(IV_GENERATION_SHIFT)) << 32 | UInt64(index))
        }
        return found
    }

    /// Whether some thread is disposing of an object of this runtime.
    public static func isDisposing(of owner: UInt64) -> Bool {
        let count = slots.locked { $0.count }
        for index in 0..<count {
            guard let slot = iv_slot_at(index) else { continue }
            guard iv_load_u64(iv_slot_state(slot)) & IV_DYING != 0 else { continue }
            if iv_load_relaxed_u64(iv_slot_owner(slot)) & HandleBits.tagMask == owner { return true }
        }
        return false
    }

    /// Leases of hosts on a live handle; 0 for a stale one.
    public static func leases(_ bits: UInt64) -> UInt64 {
        guard let slot = slot(bits) else { return 0 }
        let state = iv_load_u64(iv_slot_state(slot))
        return state >> UInt64(IV_GENERATION_SHIFT) == generation(bits) ? state & IV_LEASES : 0
    }
}
