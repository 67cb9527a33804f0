import CPlatform
import InvivoBase
import Testing

@testable import InvivoPools

/// The shards of a pool against a dictionary, without a runtime.
@Suite(.tags(.rawMemory)) struct EntryStoreTests {
    /// What a key holds by the model.
    private enum Held {
        case object(TestObject)
        case creation(UnsafeMutablePointer<iv_creation>)
    }

    private func store() throws -> EntryStore {
        try EntryStore(retired: RetiredMemory(epochsWithoutReaders())) { _ in }
    }

    private func poolKey(_ number: UInt64, _ store: borrowing EntryStore) -> PoolKey {
        key(number, seed: store.seed)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func aStoreHoldsWhatAModelHolds(_ seed: UInt64) throws {
        var steps = Steps(seed: seed)
        let store = try store()
        var model: [UInt64: Held] = [:]
        var dropped: [RawWeak] = []
        let creations = UnsafeMutablePointer<iv_creation>.allocate(capacity: 4000)
        defer { creations.deallocate() }
        for step in 0..<4000 {
            let number = UInt64.random(in: 0..<400, using: &steps)
            let key = poolKey(number, store)
            switch Int.random(in: 0..<20, using: &steps) {
            case 0..<6:
                let object = try TestObject()
                switch store.replace(key, with: EntryWord(object: object.handle), dropped: &dropped) {
                case .done:
                    if case .creation = model[number] { Issue.record("a creation was replaced") }
                    model[number] = .object(object)
                case .creation(let word):
                    guard case .creation(let creation) = model[number] else { throw Unexpected() }
                    #expect(word.creation == creation)
                case .noMemory: throw Unexpected()
                }
            case 6..<12:
                let creation = creations + step
                creation.initialize(to: iv_creation())
                switch store.claim(key, for: creation, dropped: &dropped) {
                case .object(let handle):
                    guard case .object(let object) = model[number] else { throw Unexpected() }
                    #expect(object.handle == handle)
                case .creation(let word):
                    guard case .creation(let other) = model[number] else { throw Unexpected() }
                    #expect(word.creation == other)
                case .claimed:
                    #expect(model[number] == nil)
                    model[number] = .creation(creation)
                default: throw Unexpected()
                }
            case 12..<16:
                // Creations end with an object or without one; objects end.
                switch model[number] {
                case .creation(let creation):
                    let object = step % 3 == 0 ? nil : try TestObject()
                    let word = object.map { EntryWord(object: $0.handle) } ?? .none
                    let found = store.withCreation(EntryWord(creation: creation), of: key) { $0 }
                    let isFinished = store.finish(creation, of: key, with: word)
                    let isFinishedAgain = store.finish(creation, of: key, with: word)
                    let foundAgain = store.withCreation(EntryWord(creation: creation), of: key) { $0 }
                    #expect(found == creation && isFinished && !isFinishedAgain && foundAgain == nil)
                    model[number] = object.map { .object($0) }
                case .object(let object):
                    object.end()
                    _ = EntryStore.countEnd(store.raw, in: key.shard)
                    model[number] = nil
                case nil: break
                }
            case 16: store.sweep(key.shard, dropped: &dropped)
            case 17..<19:
                store.remove(key, dropped: &dropped)
                model[number] = nil
            default:
                guard step % 10 == 0 else { continue }
                store.removeAll(in: key.shard, dropped: &dropped)
                for other in model.keys where poolKey(other, store).shard == key.shard { model[other] = nil }
            }
        }
        for number in 0..<400 as Range<UInt64> {
            let word = EntryStore.find(store.raw, poolKey(number, store))
            switch model[number] {
            case .object(let object): #expect(word.object == object.handle)
            case .creation(let creation): #expect(word.creation == creation)
            case nil: #expect(!word.isKept)
            }
        }
        var kept = 0
        for index in 0..<EntryStore.shardCount { store.forEach(in: index) { slot in kept += slot.word.isKept ? 1 : 0 } }
        #expect(kept == model.count)
        #expect(dropped.isEmpty)
    }

    @Test func endsAskForASweepWhenHalfOfAShardIsOver() throws {
        let store = try store()
        var dropped: [RawWeak] = []
        var objects: [TestObject] = []
        var numbers: [UInt64] = []
        for number in 0... as PartialRangeFrom<UInt64> where poolKey(number, store).shard == 0 {
            let object = try TestObject()
            _ = store.replace(poolKey(number, store), with: EntryWord(object: object.handle), dropped: &dropped)
            objects.append(object)
            numbers.append(number)
            if objects.count == 400 { break }
        }
        var asked = 0
        for object in objects {
            object.end()
            if EntryStore.countEnd(store.raw, in: 0) {
                asked += 1
                store.sweep(0, dropped: &dropped)
            }
        }
        #expect(asked > 0)
        var entries = 0
        store.forEach(in: 0) { _ in entries += 1 }
        #expect(entries < 400)
    }

    private struct Unexpected: Error {}
}
