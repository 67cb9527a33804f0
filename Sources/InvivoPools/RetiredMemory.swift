internal import CPlatform
internal import Glibc
internal import InvivoBase

/// The start times of a runtime's read sections. Incremented with each removal of memory that a section may see.
struct ReadEpochs {
    /// Ends the current epoch, and returns it.
    let advance: () -> UInt64
    /// After it, `oldestOpen` knows every section that began before.
    let barrier: () -> Void
    /// The first epoch without a section that began in it or before it; `.max` when no section is open.
    let oldestOpen: () -> UInt64

    init(advance: @escaping () -> UInt64, barrier: @escaping () -> Void = {}, oldestOpen: @escaping () -> UInt64) {
        self.advance = advance
        self.barrier = barrier
        self.oldestOpen = oldestOpen
    }

    init(_ core: Core) {
        advance = { iv_add_u64(iv_core_pool_epoch(core), 1) }
        barrier = { Readers.barrier() }
        oldestOpen = { Readers.oldestPooling(core) }
    }
}

/// Memory that was removed from a pool and that open reading sections may still see. Freed, some of it at a time, when the
/// sections that began before the removal have ended. Any thread.
final class RetiredMemory {
    private let epochs: ReadEpochs
    private let free: (UnsafeMutableRawPointer) -> Void
    private let monitor = Monitor()
    // Guarded by the monitor.
    private var entries: [(epoch: UInt64, pointer: UnsafeMutableRawPointer)] = []
    private var bytes = 0

    /// Freeing is attempted after this much memory was added since the last attempt.
    static let mostBytes = 64 << 10
    static let mostEntries = 1024

    init(_ epochs: ReadEpochs, free: @escaping (UnsafeMutableRawPointer) -> Void = { Glibc.free($0) }) {
        self.epochs = epochs
        self.free = free
    }

    /// No section can see any of it anymore.
    deinit {
        for entry in entries { free(entry.pointer) }
    }

    /// Takes over memory from `malloc` that no new section can reach.
    func add(_ pointer: UnsafeMutableRawPointer, size: Int) {
        let epoch = epochs.advance()
        let isDue = monitor.locked {
            entries.append((epoch, pointer))
            bytes += size
            return bytes >= Self.mostBytes || entries.count >= Self.mostEntries
        }
        if isDue { freeUnseen() }
    }

    private func freeUnseen() {
        epochs.barrier()
        let oldest = epochs.oldestOpen()
        monitor.locked {
            bytes = 0
            entries.removeAll { entry in
                // A section stores the epoch plus 1. It may have begun in the epoch that the removal ended.
                guard entry.epoch &+ 1 < oldest else { return false }
                free(entry.pointer)
                return true
            }
        }
    }
}
