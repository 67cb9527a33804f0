import Testing

@testable import InvivoPools

/// The table of one shard, without a pool.
@Suite(.tags(.rawMemory)) struct EntryTableTests {
    private let seed: UInt64 = 0x1234_5678_9abc_def1

    @Test func aTableFindsExactlyWhatWasAdded() throws {
        var steps = Steps(seed: 5)
        let table = try #require(EntryTable.make(for: 300))
        defer { table.free() }
        var model: [String: UInt64] = [:]
        for _ in 0..<2000 {
            let name =
                String(repeating: "k", count: Int.random(in: 0...20, using: &steps))
                + "\(UInt8.random(in: 0...200, using: &steps))"
            let word = UInt64.random(in: 1..<1 << 50, using: &steps) | 2 << 60
            let slot = withKey(name, seed: seed) { table.find($0) ?? table.append($0) }
            guard let slot else {
                #expect(table.isFull && model[name] == nil)
                continue
            }
            table.store(EntryWord(object: word), in: slot)
            model[name] = word
        }
        for (name, word) in model { #expect(withKey(name, seed: seed) { table.find($0)?.word.bits } == word) }
        #expect(withKey("never added", seed: seed) { table.find($0) } == nil)
        var count = 0
        table.forEach { _ in count += 1 }
        #expect(count == model.count)
    }

    @Test func aFullTableTakesNoFurtherKey() throws {
        let table = try #require(EntryTable.make(for: 2))
        defer { table.free() }
        var added: UInt64 = 0
        while table.append(key(added, seed: seed)) != nil { added += 1 }
        #expect(table.isFull && added >= 2)
        #expect(table.find(key(added, seed: seed)) == nil)
        for number in 0..<added { #expect(table.find(key(number, seed: seed)) != nil) }
    }

    @Test func aRebuiltTableHasTheLivingEntriesOnly() throws {
        let table = try #require(EntryTable.make(for: 60))
        defer { table.free() }
        var objects: [String: TestObject] = [:]
        for number in 0..<60 {
            let name = number % 2 == 0 ? "\(number)" : "a longer name, number \(number)"
            let object = try TestObject()
            let slot = try #require(withKey(name, seed: seed) { table.append($0) })
            table.store(EntryWord(object: object.handle), in: slot)
            objects[name] = object
        }
        for (index, name) in objects.keys.sorted().enumerated() where index % 3 != 0 {
            objects.removeValue(forKey: name)?.end()
        }
        var dropped: [RawWeak] = []
        let rebuilt = try #require(table.rebuilt(dropped: &dropped))
        defer { rebuilt.free() }
        var found: [String: UInt64] = [:]
        rebuilt.forEach { slot in found[slot.key.description] = slot.word.bits }
        #expect(found.count == objects.count)
        for (name, object) in objects {
            #expect(withKey(name, seed: seed) { rebuilt.find($0)?.word.object } == object.handle)
        }
        #expect(dropped.isEmpty && !rebuilt.isFull)
    }

    @Test func marksKeepTheirPoolAndShard() {
        for (pool, shard) in [(0, 0), (1, 63), (1 << 28, 17), ((1 << 29) - 1, 63)] as [(UInt32, UInt64)] {
            let mark = EntryMark(owner: 1 << 63 | EntryMark(pool: pool, shard: shard).bits << 28 | 0xfff_ffff)
            #expect(mark.pool == pool && mark.shard == shard)
        }
    }
}
