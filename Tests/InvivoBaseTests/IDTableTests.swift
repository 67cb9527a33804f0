import InvivoBase
import Testing

@Suite struct IDTableTests {
    /// Ids with no gaps, with regular gaps of each power of two, and scattered ones.
    private static let patterns: [[UInt32]] =
        [Array(0..<1000)] + (0..<22).map { shift in (0..<1000).map { $0 << UInt32(shift) } }
        + [(0..<1000).map { $0 &* 2_654_435_761 }]

    @Test(arguments: patterns)
    func aTableIsADictionary(_ ids: [UInt32]) {
        var table: IDTable<Int> = [:]
        var model: [UInt32: Int] = [:]
        #expect(table.isEmpty)
        for (index, id) in (ids + ids.prefix(100)).enumerated() {
            table[id] = index
            model[id] = index
        }
        for id in ids where id % 3 == 0 { #expect(table.removeValue(forKey: id) == model.removeValue(forKey: id)) }
        for id in ids {
            #expect(table[id] == model[id])
            #expect(table.contains(id) == (model[id] != nil))
        }
        #expect(table.count == model.count)
        #expect(Set(table.keys) == Set(model.keys))
        #expect(table.values.sorted() == model.values.sorted())
        #expect(Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) }) == model)
        #expect(table.filter { id, _ in id % 2 == 0 }.count == model.filter { $0.key % 2 == 0 }.count)
    }

    @Test(arguments: patterns)
    func aSetIsASet(_ ids: [UInt32]) {
        var set: IDSet = []
        var model: Set<UInt32> = []
        for id in ids + ids.prefix(100) { #expect(set.insert(id) == model.insert(id).inserted) }
        for id in ids where id % 3 == 0 {
            set.remove(id)
            model.remove(id)
        }
        for id in ids { #expect(set.contains(id) == model.contains(id)) }
        #expect(set.count == model.count)
        #expect(set.sorted() == model.sorted())
        #expect(set.union([1, 2, 3]).sorted() == model.union([1, 2, 3]).sorted())
    }

    /// Neighbours have neighbouring hashes, and so do not collide; blocks of 64 ids are spread.
    @Test func consecutiveIDsStayTogether() {
        for block in UInt32(0)..<100 {
            let first = KeyID(block * 64)._rawHashValue(seed: 0)
            #expect((1..<64).allSatisfy { KeyID(block * 64 + $0)._rawHashValue(seed: 7) == first + Int($0) })
        }
        let starts = Set((UInt32(0)..<1024).map { KeyID($0 * 64)._rawHashValue(seed: 0) >> 6 & 1023 })
        #expect(starts.count > 500)
    }
}
