import CInvivo
import CPlatform
import Glibc
import InvivoBase
import Testing

@testable import InvivoPools

extension Tag {
    /// Suites of code that uses unsafe pointers: the sanitizers run them (scripts/tagged).
    @Tag static var rawMemory: Self
}

/// An object that lives in the object table and has no runtime.
final class TestObject {
    let handle: UInt64
    private let record: Record
    private let slot: UInt32
    private var isEnded = false

    init() throws {
        record = .allocate(capacity: 1)
        record.initialize(to: iv_record())
        guard let slot = ObjectTable.takeSlot() else { throw Failure(.memory, "no object slot") }
        self.slot = slot
        handle = ObjectTable.open(slot, record, owner: 1, leases: 1, hold: false)
    }

    /// Makes the handle stale, whoever has leases.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        ObjectTable.close(slot)
    }

    deinit {
        end()
        record.deallocate()
    }
}

/// Calls `body` with the key of a string.
func withKey<Result>(_ text: String, seed: UInt64, _ body: (PoolKey) -> Result) -> Result {
    var text = text
    return text.withUTF8 { bytes in
        body(
            bytes.baseAddress.map { PoolKey(.string, bytes: $0, length: bytes.count, seed: seed) }
                ?? PoolKey(empty: .string, seed: seed))
    }
}

func key(_ number: UInt64, seed: UInt64) -> PoolKey { PoolKey(.natural, number: number, seed: seed) }

/// Epochs without readers: removed memory can be freed at once.
func epochsWithoutReaders() -> ReadEpochs {
    let epoch = Guarded<UInt64>(0, by: Monitor())
    return ReadEpochs(
        advance: {
            epoch.locked { epoch in
                defer { epoch += 1 }
                return epoch
            }
        }, oldestOpen: { .max })
}

/// A generator whose steps can be repeated by its seed.
struct Steps: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
