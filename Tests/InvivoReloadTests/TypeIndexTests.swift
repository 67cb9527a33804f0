import CInvivo
import InvivoBase
import InvivoGraph
import InvivoReload
import InvivoWiring
import Testing

/// The lists of the definitions of a type, long enough to be stored in several parts, compared with sorted arrays.
@Suite(.serialized, .tags(.rawMemory)) struct TypeIndexTests {
    private func type(_ name: String, in container: Container) throws -> ObjectType {
        try name.withCString { name in
            var options = invivo_type_options()
            options.struct_size = MemoryLayout<invivo_type_options>.size
            options.name = name
            (options.size, options.alignment) = (8, 8)
            return try container.register(try TypeTables.type(&options))
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func listsAreInOrderAfterAnyChanges(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let container = try Engine.open(EngineOptions()).container
        let type = try type("Part", in: container)
        var index = TypeIndex()
        var model: [UInt32: Definition] = [:]
        var (next, number): (UInt32, UInt64) = (0, 0)
        func definition(_ id: UInt32) -> Definition {
            // Mostly declared after all others; some before, and some with the order of another.
            number += 1
            let order = dice.next(4) > 0 ? number : UInt64(dice.next(Int(number) + 1))
            let rank = dice.next(10) > 0 ? 0 : Int32(dice.next(3)) - 1
            return Definition(id: id, key: "k\(id)", scope: .singleton, type: type).with { body in
                body.order = DefinitionOrder(number: order)
                body.rank = rank
            }
        }
        for round in 0..<120 {
            var changes: [TypeIndex.Change] = []
            var seen: Set<UInt32> = []
            let known = model.keys.sorted()
            for _ in 0..<(dice.next(5) == 0 ? 400 : 1 + dice.next(6)) {
                var id = next
                if !known.isEmpty && dice.next(3) > 0 {
                    id = known[dice.next(known.count)]
                } else {
                    next += 1
                }
                guard seen.insert(id).inserted else { continue }
                let new = model[id] != nil && dice.next(2) == 0 ? nil : definition(id)
                changes.append(TypeIndex.Change(id: id, definition: new, former: model[id]))
                model[id] = new
            }
            let former = index
            let before = former.all("Part", isExact: false).map(\.id)
            #expect(index.set(changes).subtracting(["Part"]).isEmpty)
            let found = index.all("Part", isExact: false).map(\.id)
            let locations = found.map { id in
                model[id].map { (-Int64($0.body.rank), $0.body.order.number) } ?? (.max, 0)
            }
            #expect(Set(found) == Set(model.keys) && found.count == model.count, "round \(round)")
            #expect(zip(locations, locations.dropFirst()).allSatisfy { $0 <= $1 }, "round \(round)")
            #expect(former.all("Part", isExact: false).map(\.id) == before, "a copy has changed")
        }
    }
}
