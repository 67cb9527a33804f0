import Glibc
import Testing

@testable import InvivoBase

/// Memory that readers may still see, with scripted readers.
@Suite struct RetiredMemoryTests {
    /// Reading sections as numbers: each began in an epoch.
    private final class Readers: Sendable {
        private struct State {
            var epoch: UInt64 = 0
            var open: [UInt64] = []
            var freed: [UInt] = []
        }
        private let state = Guarded(State(), by: Monitor())

        var epoch: UInt64 { state.locked { $0.epoch } }
        var open: [UInt64] { state.locked { $0.open } }
        var freed: [UnsafeMutableRawPointer] {
            state.locked { $0.freed }.compactMap { UnsafeMutableRawPointer(bitPattern: $0) }
        }

        /// As `ReadSection` notes it: the epoch plus 1.
        func begin() { state.locked { $0.open.append($0.epoch + 1) } }
        func end(at index: Int) { state.locked { _ = $0.open.remove(at: index) } }
        func forget() { state.locked { $0.freed = [] } }

        private var epochs: ReadEpochs {
            ReadEpochs(
                advance: { [state] in
                    state.locked { state in
                        defer { state.epoch += 1 }
                        return state.epoch
                    }
                }, oldestOpen: { [state] in state.locked { $0.open.min() ?? .max } })
        }
        func memory() -> RetiredMemory {
            RetiredMemory(epochs) { [state] pointer in
                state.locked { [address = UInt(bitPattern: pointer)] in $0.freed.append(address) }
                Glibc.free(pointer)
            }
        }
    }

    private func block() -> UnsafeMutableRawPointer { malloc(16) }

    @Test func littleMemoryIsKeptUntilTheEnd() {
        let readers = Readers()
        var memory: RetiredMemory? = readers.memory()
        memory?.add(block(), size: 16)
        #expect(readers.freed.isEmpty)
        memory = nil
        #expect(readers.freed.count == 1)
    }

    @Test func muchMemoryIsFreedWhenNobodyReads() {
        let readers = Readers()
        let memory = readers.memory()
        memory.add(block(), size: RetiredMemory.mostBytes)
        #expect(readers.freed.count == 1)
        for _ in 1..<RetiredMemory.mostEntries { memory.add(block(), size: 1) }
        #expect(readers.freed.count == 1)
        memory.add(block(), size: 1)
        #expect(readers.freed.count == 1 + RetiredMemory.mostEntries)
    }

    @Test func aSectionKeepsWhatIsRemovedAfterItBegan() {
        let readers = Readers()
        let memory = readers.memory()
        let (before, after) = (block(), block())
        memory.add(before, size: 1)
        readers.begin()
        memory.add(after, size: RetiredMemory.mostBytes)
        #expect(readers.freed == [before])
        // A later section cannot reach it.
        readers.begin()
        memory.add(block(), size: RetiredMemory.mostBytes)
        #expect(readers.freed == [before])
        readers.end(at: 0)
        memory.add(block(), size: RetiredMemory.mostBytes)
        #expect(readers.freed == [before, after])
    }

    @Test func urgentMemoryIsFreedAtOnceOrByAPlannedLook() {
        let readers = Readers()
        let memory = readers.memory()
        let planned = Guarded(0, by: Monitor())
        memory.onPending { planned.locked { $0 += 1 } }
        memory.add(block(), size: 1, isUrgent: true)
        #expect(readers.freed.count == 1)
        readers.begin()
        memory.add(block(), size: 1, isUrgent: true)
        memory.add(block(), size: 1, isUrgent: true)
        #expect(readers.freed.count == 1)
        #expect(planned.locked { $0 } == 1)
        // A look that finds the section still open plans a further one.
        memory.freePlanned()
        #expect(planned.locked { $0 } == 2)
        readers.end(at: 0)
        memory.freePlanned()
        #expect(readers.freed.count == 3)
        #expect(planned.locked { $0 } == 2)
    }

    /// A section that begins in epoch E sees nothing that was removed in an earlier one.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func nothingThatASectionMaySeeIsFreed(_ seed: UInt64) {
        var steps = Steps(seed: seed)
        let readers = Readers()
        let memory = readers.memory()
        var removed: [UnsafeMutableRawPointer: UInt64] = [:]
        for _ in 0..<400 {
            switch Int.random(in: 0..<4, using: &steps) {
            case 0: readers.begin()
            case 1:
                if !readers.open.isEmpty {
                    readers.end(at: Int.random(in: 0..<readers.open.count, using: &steps))
                }
            default:
                let block = block()
                removed[block] = readers.epoch
                readers.forget()
                memory.add(block, size: Bool.random(using: &steps) ? RetiredMemory.mostBytes : 1)
                for pointer in readers.freed {
                    let epoch = removed.removeValue(forKey: pointer) ?? 0
                    #expect(readers.open.allSatisfy { $0 - 1 > epoch })
                }
            }
        }
    }
}

/// A generator whose steps can be repeated by its seed.
private struct Steps: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
