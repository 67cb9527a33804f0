import CInvivo
import InvivoBase
import Testing

@testable import InvivoPools

/// Keys of entries: equality, hashes, and the way back to a value.
@Suite(.tags(.rawMemory)) struct PoolKeyTests {
    private func key(of value: invivo_value, seed: UInt64 = 7) throws -> (hash: UInt64, head: UInt64, word: UInt64) {
        var value = value
        return try PoolKey.with(&value, seed: seed) { ($0.hash, $0.head, $0.word) }
    }

    private func isSame(_ a: invivo_value, _ b: invivo_value) throws -> Bool { try key(of: a) == key(of: b) }

    @Test func numbersOfAllWidthsAreEqualByValue() throws {
        #expect(try isSame(invivo_int64(5), invivo_uint64(5)))
        #expect(try isSame(invivo_int64(5), invivo_double(5)))
        #expect(try isSame(invivo_int64(-5), invivo_double(-5)))
        #expect(try isSame(invivo_uint64(1 << 63), invivo_double(0x1p63)))
        #expect(try isSame(invivo_float(0.5), invivo_double(0.5)))
        #expect(try !isSame(invivo_int64(1), invivo_bool(true)))
        #expect(try !isSame(invivo_int64(-1), invivo_uint64(.max)))
    }

    @Test func valuesThatCannotBeFoundAgainAreRefused() {
        #expect(throws: Failure.self) { try key(of: invivo_double(.nan)) }
        let long = String(repeating: "x", count: PoolKey.mostBytes + 1)
        var value = Value.string(long).owned()
        defer { Value.free(&value) }
        #expect(throws: Failure.self) { try key(of: value) }
    }

    @Test func eachSeedGivesOtherHashes() throws {
        #expect(try key(of: invivo_int64(5), seed: 1).hash != key(of: invivo_int64(5), seed: 2).hash)
    }

    @Test func consecutiveNumbersUseAllShards() {
        var shards: Set<UInt64> = []
        for number in 0..<1000 as Range<UInt64> { shards.insert(InvivoPoolsTests.key(number, seed: 99).shard) }
        #expect(shards.count == 64)
    }

    @Test func stringsThatDifferInOneByteAreDifferentKeys() {
        var seen: Set<UInt64> = []
        for length in 0...40 {
            for position in 0..<max(1, length) {
                var bytes = [UInt8](repeating: 0x61, count: length)
                if length > 0 { bytes[position] = 0x62 }
                let text = String(decoding: bytes, as: UTF8.self)
                // A seed with few bits would cancel the length of a short string.
                let hash = withKey(text, seed: 0x9e37_79b9_7f4a_7c15) { $0.hash }
                #expect(seen.insert(hash).inserted, "\(text)")
            }
        }
    }

    @Test(
        arguments: [
            .null, .bool(true), .int64(-3), .int64(3), .uint64(.max), .double(0.25), .string(""), .string("short"),
            .string("a string of more than eight bytes"), .bytes([1, 2, 3]),
            .list([.int64(1), .string("x"), .list([.bool(false), .string("a longer string")])]),
        ] as [Value])
    func aKeyIsReadBackAsItsValue(_ value: Value) throws {
        let table = try #require(EntryTable.make(for: 1))
        defer { table.free() }
        var raw = value.owned()
        defer { Value.free(&raw) }
        let read = try PoolKey.with(&raw, seed: 11) { key in table.append(key)?.key }
        #expect(read?.description == value.description)
    }
}
