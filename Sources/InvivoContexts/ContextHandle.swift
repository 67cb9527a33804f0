public import CPlatform
internal import Glibc
public import InvivoBase

/// A context in memory: valid in a reading section in which its handle was found open, and while it is open.
public typealias RawContext = UnsafeMutablePointer<iv_context>

/// The handle of a context: the generation of its slot and the index of the slot.
///
/// Each end of a context increments the generation of its slot, so that the handle never denotes another context. A slot that has used
/// all generations is abandoned.
public struct ContextHandle: Sendable, Hashable {
    public let bits: UInt64

    @inline(__always)
    public init(bits: UInt64) { self.bits = bits }

    private static let indexMask: UInt64 = 1 << UInt64(IV_CONTEXT_INDEX_BITS) - 1
    /// The handles of other kinds have a kind in the upper four bits.
    private static let lastGeneration: UInt64 = 1 << 36 - 1

    @inline(__always)
    private var index: UInt32 { UInt32(truncatingIfNeeded: bits & Self.indexMask) }
    @inline(__always)
    private var generation: UInt64 { bits >> UInt64(IV_CONTEXT_INDEX_BITS) }

    @inline(__always)
    private func isGeneration(of state: UInt64) -> Bool {
        state >> UInt64(IV_CONTEXT_GENERATION_SHIFT) == generation && generation != 0
    }

    @inline(__always)
    private static func core(of state: UInt64) -> Core? {
        iv_core_at(UInt32(truncatingIfNeeded: state >> UInt64(IV_CONTEXT_CORE_SHIFT)) & 0xfff)
    }

    /// The core of the runtime of an open context.
    @inline(__always)
    public var core: Core? {
        guard let slot = iv_context_slot_at(index) else { return nil }
        let state = iv_load_u64(iv_context_slot_state(slot))
        guard state & IV_CONTEXT_OPEN != 0, isGeneration(of: state) else { return nil }
        return Self.core(of: state)
    }

    /// The open context, in a reading section of its core. Nil if it has ended.
    @inline(__always)
    public var context: RawContext? {
        guard let slot = iv_context_slot_at(index) else { return nil }
        let context = iv_context_slot_context(slot)
        let state = iv_load_u64(iv_context_slot_state(slot))
        return state & IV_CONTEXT_OPEN != 0 && isGeneration(of: state) ? context : nil
    }

    /// The core of the runtime of a context that has ended, unless its slot was used again.
    public var lastCore: Core? {
        guard hasBeenOpen, let slot = iv_context_slot_at(index) else { return nil }
        return Self.core(of: iv_load_u64(iv_context_slot_state(slot)))
    }

    /// Whether this was the handle of a context.
    public var hasBeenOpen: Bool {
        guard generation != 0, let slot = iv_context_slot_at(index) else { return false }
        return iv_load_u64(iv_context_slot_state(slot)) >> UInt64(IV_CONTEXT_GENERATION_SHIFT) >= generation
    }

    /// The handle of an open context.
    @inline(__always)
    public init(of context: RawContext) {
        let index = context.pointee.index
        let state = iv_context_slot_at(index).map { iv_load_u64(iv_context_slot_state($0)) } ?? 0
        bits = (state >> UInt64(IV_CONTEXT_GENERATION_SHIFT)) << UInt64(IV_CONTEXT_INDEX_BITS) | UInt64(index)
    }

    // MARK: slots

    private struct Slots {
        var free: [UInt32] = []
        var count: UInt32 = 0
    }
    private static let slots = Guarded(Slots(), by: Monitor(isProcessWide: true))

    /// Takes a slot for a context that is not published yet; false without memory.
    static func take(for context: RawContext) -> Bool {
        let index = slots.locked { slots -> UInt32? in
            if let index = slots.free.popLast() { return index }
            let next = slots.count
            guard UInt64(next) <= indexMask, addChunk(for: next) else { return nil }
            slots.count += 1
            return next
        }
        guard let index else { return false }
        context.pointee.index = index
        return true
    }

    private static func addChunk(for index: UInt32) -> Bool {
        guard iv_context_slot_at(index) == nil else { return true }
        let size = MemoryLayout<iv_context_slot>.stride << Int(IV_CONTEXT_CHUNK_SHIFT)
        guard let memory = calloc(1, size) else { return false }
        iv_context_chunk_set(
            index >> UInt32(IV_CONTEXT_CHUNK_SHIFT), memory.assumingMemoryBound(to: iv_context_slot.self))
        return true
    }

    /// Publishes a complete context under its handle.
    static func open(_ context: RawContext, _ core: Core) -> ContextHandle {
        guard let slot = iv_context_slot_at(context.pointee.index) else { return ContextHandle(bits: 0) }
        let former = iv_load_u64(iv_context_slot_state(slot)) >> UInt64(IV_CONTEXT_GENERATION_SHIFT)
        let state =
            max(former, 1) << UInt64(IV_CONTEXT_GENERATION_SHIFT)
            | UInt64(core.pointee.index) << UInt64(IV_CONTEXT_CORE_SHIFT) | IV_CONTEXT_OPEN
        iv_context_slot_set(slot, context)
        iv_store_u64(iv_context_slot_state(slot), state)
        return ContextHandle(of: context)
    }

    /// Makes the handle of a context stale, and gives its slot back.
    static func close(_ context: RawContext) {
        let index = context.pointee.index
        guard let slot = iv_context_slot_at(index) else { return }
        let generation = iv_load_u64(iv_context_slot_state(slot)) >> UInt64(IV_CONTEXT_GENERATION_SHIFT) + 1
        // The core stays known, for calls that end the context again.
        let core =
            iv_load_u64(iv_context_slot_state(slot)) & (1 << UInt64(IV_CONTEXT_GENERATION_SHIFT) - 1 - IV_CONTEXT_OPEN)
        iv_store_u64(iv_context_slot_state(slot), generation << UInt64(IV_CONTEXT_GENERATION_SHIFT) | core)
        iv_context_slot_set(slot, nil)
        giveBack(index, after: generation)
    }

    /// Gives the slot of a context back that was never opened.
    static func drop(_ context: RawContext) { giveBack(context.pointee.index, after: 0) }

    private static func giveBack(_ index: UInt32, after generation: UInt64) {
        guard generation < lastGeneration else { return }
        slots.locked { $0.free.append(index) }
    }

    /// The open contexts of a runtime, in no order. For close, when no context is opened any more.
    static func all(of core: Core) -> [RawContext] {
        let count = slots.locked { $0.count }
        return (0..<count).compactMap { index in
            guard let slot = iv_context_slot_at(index) else { return nil }
            let state = iv_load_u64(iv_context_slot_state(slot))
            guard state & IV_CONTEXT_OPEN != 0, Self.core(of: state) == core else { return nil }
            return iv_context_slot_context(slot)
        }
    }
}
