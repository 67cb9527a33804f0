import CPlatform
import InvivoBase
import InvivoReload
import InvivoWiring
import Testing

/// Generations end by who reads them, compared with a model that keeps for each object the list of generations that show it.
@Suite(.tags(.rawMemory)) struct RetiredGenerationsTests {
    private final class Graph {
        let number: UInt64
        let address = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        init(_ number: UInt64) { self.number = number }
        deinit { address.deallocate() }
    }

    /// A reader as its slot shows it: with the generation that it reads, or with an epoch alone.
    private struct Reader {
        var epoch: UInt64
        var reads: Graph?

        func mayRead(_ number: UInt64) -> Bool { reads.map { $0.number == number } ?? (number + 1 >= epoch) }
    }

    private func inside(_ readers: [Reader]) -> Readers.Inside {
        var inside = Readers.Inside()
        for reader in readers {
            inside.oldest = min(inside.oldest, reader.epoch)
            if let graph = reader.reads {
                inside.graphs.insert(UnsafeRawPointer(graph.address))
            } else {
                inside.open = min(inside.open, reader.epoch)
            }
        }
        return inside
    }

    @Test func aReaderKeepsItsOwnGenerationAndTheObjectsThatItShows() {
        var retired = RetiredGenerations()
        let graphs = (1...4).map { Graph(UInt64($0)) }
        func append(_ graph: Graph, _ objects: [(object: UInt64, birth: UInt64)]) {
            retired.append(
                graph.number, graph, at: graph.address,
                objects: objects.map { ReplacedObject(sequence: $0.object, object: $0.object, birth: $0.birth) })
        }
        append(graphs[0], [(10, 1)])
        append(graphs[1], [(20, 1), (21, 2)])
        append(graphs[2], [(30, 3)])
        append(graphs[3], [(40, 1), (41, 2)])
        let first = inside([Reader(epoch: 2, reads: graphs[0])])
        var ended = retired.end(first, upTo: retired.newest)
        #expect(ended.generations.map(\.generation.number) == [2, 3, 4])
        #expect(ended.generations.map(\.objects) == [1, 1, 1])
        #expect(ended.objects.map(\.object) == [21, 30, 41])
        #expect(retired.objects.map(\.object) == [10, 20, 40])
        // A build may read every generation from its epoch on.
        #expect(retired.end(inside([Reader(epoch: 1)]), upTo: .max).objects.isEmpty)
        ended = retired.end(inside([]), upTo: .max)
        #expect(ended.objects.map(\.object) == [10, 20, 40] && retired.isEmpty)
    }

    @Test(arguments: 1...40) func generationsAndObjectsEndAsInTheModel(seed: Int) {
        var chance = SeededNumbers(state: UInt64(seed))
        var retired = RetiredGenerations()
        var current = Graph(1)
        /// Key -> its object and the generation that brought it.
        var shown: [Int: (object: UInt64, birth: UInt64)] = [:]
        /// Objects that no later generation shows, with the first and last one that do.
        var replaced: [(object: UInt64, shown: ClosedRange<UInt64>)] = []
        var unread: Set<UInt64> = []
        var readers: [Reader] = []
        var (objects, barrier): (UInt64, UInt64) = (0, 0)
        for key in 0..<6 {
            objects += 1
            shown[key] = (objects, 1)
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<4:
                var gone: [ReplacedObject] = []
                for key in 0..<6 where Int.random(in: 0..<3, using: &chance) == 0 {
                    guard let (object, birth) = shown[key] else { continue }
                    gone.append(ReplacedObject(sequence: object, object: object, birth: birth))
                    replaced.append((object, birth...current.number))
                    objects += 1
                    shown[key] = (objects, current.number + 1)
                }
                retired.append(current.number, current, at: current.address, objects: gone)
                unread.insert(current.number)
                current = Graph(current.number + 1)
            case 4: readers.append(Reader(epoch: current.number + 1, reads: current))
            case 5: readers.append(Reader(epoch: current.number + 1, reads: nil))
            case 6: if !readers.isEmpty { readers.remove(at: Int.random(in: 0..<readers.count, using: &chance)) }
            case 7: barrier = current.number  // Everything that was replaced until now has this epoch or an older one.
            default:
                let ended = retired.end(inside(readers), upTo: barrier)
                let numbers = unread.filter { number in
                    number + 1 <= barrier && !readers.contains { $0.mayRead(number) }
                }
                unread.subtract(numbers)
                #expect(Set(ended.generations.map(\.generation.number)) == numbers)
                let over = replaced.filter { $0.shown.allSatisfy { !unread.contains($0) } }
                replaced.removeAll { each in over.contains { $0.object == each.object } }
                #expect(Set(ended.objects.map(\.object)) == Set(over.map(\.object)))
                #expect(Set(retired.objects.map(\.object)) == Set(replaced.map(\.object)))
            }
        }
        #expect(retired.takeAll().objects.count == replaced.count)
    }

    /// An object that was built for a replaced slot passes to the newest generation that shows the slot and is read.
    @Test func anObjectThatWasBuiltTooLatePassesToAReadGeneration() {
        var retired = RetiredGenerations()
        let graphs = (1...3).map { Graph(UInt64($0)) }
        for graph in graphs { retired.append(graph.number, graph, at: graph.address, objects: []) }
        let readers = inside([Reader(epoch: 3, reads: graphs[1])])
        let late = [(7, 1), (8, 3)].map { ReplacedObject(sequence: $0.0, object: $0.0, birth: $0.1) }
        #expect(retired.end(readers, upTo: .max, overtaken: late).objects.map(\.object) == [8])
        #expect(retired.end(inside([]), upTo: .max).objects.map(\.object) == [7])
    }
}

/// Numbers that a seed repeats.
private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
