internal import CPlatform
internal import Glibc

/// The start times of a runtime's read sections. Incremented with each removal of memory that a section may see.
public struct ReadEpochs: Sendable {
    /// Ends the current epoch, and returns it.
    public let advance: @Sendable () -> UInt64
    /// After it, `oldestOpen` knows every section that began before.
    public let barrier: @Sendable () -> Void
    /// The first epoch without a section that began in it or before it; `.max` when no section is open.
    public let oldestOpen: @Sendable () -> UInt64

    public init(
        advance: @escaping @Sendable () -> UInt64, barrier: @escaping @Sendable () -> Void = {},
        oldestOpen: @escaping @Sendable () -> UInt64
    ) {
        self.advance = advance
        self.barrier = barrier
        self.oldestOpen = oldestOpen
    }

    public init(_ core: Core) {
        let core = CoreReference(core, tag: 0)
        advance = { iv_add_u64(iv_core_pool_epoch(core.core), 1) }
        barrier = { Readers.barrier() }
        oldestOpen = { ReadSection.oldest(core.core) }
    }
}

/// Memory that was removed and that open reading sections may still see. Freed, some of it at a time, when the sections that began before
/// the removal have ended. Any thread.
public final class RetiredMemory: Sendable {
    public typealias Free = @Sendable (UnsafeMutableRawPointer) -> Void

    private struct State {
        var entries: [(epoch: UInt64, address: UInt, isUrgent: Bool)] = []
        var bytes = 0
        var urgent = 0
        var credit = BarrierCredit()
        /// Plans a call of `freePlanned` soon.
        var plan: (@Sendable () -> Void)?
        /// Such a call is planned.
        var isPlanned = false
    }

    private let epochs: ReadEpochs
    private let free: Free
    private let state = Guarded(State(), by: Monitor())

    /// Freeing is attempted after this much memory was added since the last attempt.
    public static let mostBytes = 64 << 10
    public static let mostEntries = 1024

    /// `free` is called without locks held; nil: that of malloc.
    public init(_ epochs: ReadEpochs, free: Free? = nil) {
        self.epochs = epochs
        self.free = free ?? { Glibc.free($0) }
    }

    /// No section can see any of it anymore.
    deinit { freeAll() }

    /// Takes over memory from `malloc` that no new section can reach. Urgent memory is freed soon after the last section that may see it
    /// has ended, the rest with the next of it.
    public func add(_ pointer: UnsafeMutableRawPointer, size: Int, isUrgent: Bool = false) {
        let epoch = epochs.advance()
        let isDue = state.locked { [address = UInt(bitPattern: pointer)] state -> Bool in
            state.entries.append((epoch, address, isUrgent))
            state.bytes += size
            if isUrgent { state.urgent += 1 }
            return state.bytes >= Self.mostBytes || state.entries.count >= Self.mostEntries
                || isUrgent && state.credit.take()
        }
        if isDue { freeUnseen() } else if isUrgent { plan() }
    }

    /// For a time at which no section is open.
    public func freeAll() {
        let all = state.locked { state -> [UInt] in
            defer { (state.entries, state.bytes, state.urgent) = ([], 0, 0) }
            return state.entries.map(\.address)
        }
        free(all)
    }

    /// Frees what no section may see.
    public func freeUnseen() {
        epochs.barrier()
        let oldest = epochs.oldestOpen()
        let unseen = state.locked { state -> [UInt] in
            state.bytes = 0
            var unseen: [UInt] = []
            state.entries.removeAll { entry in
                // A section stores the epoch plus 1. It may have begun in the epoch that the removal ended.
                guard entry.epoch &+ 1 < oldest else { return false }
                unseen.append(entry.address)
                if entry.isUrgent { state.urgent -= 1 }
                return true
            }
            return unseen
        }
        free(unseen)
        plan()
    }

    private func free(_ addresses: [UInt]) {
        for address in addresses {
            if let pointer = UnsafeMutableRawPointer(bitPattern: address) { free(pointer) }
        }
    }

    // MARK: urgent memory

    /// Sets the function that plans a call of `freePlanned` soon; nil: urgent memory is freed with the next of it.
    public func onPending(_ plan: (@Sendable () -> Void)?) { state.locked { $0.plan = plan } }

    private func plan() {
        let plan = state.locked { state -> (@Sendable () -> Void)? in
            guard let plan = state.plan, !state.isPlanned, state.urgent > 0 else { return nil }
            state.isPlanned = true
            return plan
        }
        plan?()
    }

    /// The planned look. Plans a further one if sections are still open.
    public func freePlanned() {
        state.locked { $0.isPlanned = false }
        freeUnseen()
    }
}
