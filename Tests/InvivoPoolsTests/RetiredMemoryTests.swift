import Glibc
import Testing

@testable import InvivoPools

/// Memory that readers may still see, with scripted readers.
@Suite(.tags(.rawMemory)) struct RetiredMemoryTests {
    /// Reading sections as numbers: each began in an epoch.
    private final class Readers {
        var epoch: UInt64 = 0
        var open: [UInt64] = []
        var freed: [UnsafeMutableRawPointer] = []

        /// As `ReadSection` notes it: the epoch plus 1.
        func begin() { open.append(epoch + 1) }
        func endOldest() { open.removeFirst() }
        var epochs: ReadEpochs {
            ReadEpochs(
                advance: {
                    defer { self.epoch += 1 }
                    return self.epoch
                }, oldestOpen: { self.open.min() ?? .max })
        }
        func memory() -> RetiredMemory {
            RetiredMemory(epochs) { pointer in
                self.freed.append(pointer)
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
        readers.endOldest()
        memory.add(block(), size: RetiredMemory.mostBytes)
        #expect(readers.freed == [before, after])
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
                    readers.open.remove(at: Int.random(in: 0..<readers.open.count, using: &steps))
                }
            default:
                let block = block()
                removed[block] = readers.epoch
                readers.freed = []
                memory.add(block, size: Bool.random(using: &steps) ? RetiredMemory.mostBytes : 1)
                for pointer in readers.freed {
                    let epoch = removed.removeValue(forKey: pointer) ?? 0
                    #expect(readers.open.allSatisfy { $0 - 1 > epoch })
                }
            }
        }
    }
}
