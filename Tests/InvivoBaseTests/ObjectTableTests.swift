import CPlatform
import Testing

@testable import InvivoBase

/// The slot of an object at the ends of its two counts.
@Suite struct ObjectTableTests {
    private func record() -> Record {
        let record = Record.allocate(capacity: 1)
        record.initialize(to: iv_record())
        return record
    }

    @Test func aHandleIsNeverUsedForASecondObject() throws {
        let record = record()
        defer { record.deallocate() }
        let index = try #require(ObjectTable.takeSlot())
        let slot = try #require(iv_slot_at(index))
        // As if the slot had been used for all objects but one.
        iv_store_u64(iv_slot_state(slot), 0xfff_ffff << UInt64(IV_GENERATION_SHIFT))
        let last = ObjectTable.open(index, record, owner: 1, leases: 1, hold: false)
        #expect(ObjectTable.record(last) == record)
        ObjectTable.close(index)
        #expect(!ObjectTable.retain(last))
        #expect(!ObjectTable.release(last))
        #expect(ObjectTable.record(last) == nil)
        #expect(ObjectTable.claims(last)?.leases == 0)
        var taken: [UInt32] = []
        for _ in 0..<200 { taken.append(try #require(ObjectTable.takeSlot())) }
        #expect(!taken.contains(index))
        for index in taken { ObjectTable.close(index) }
    }

    @Test func leasesEndBeforeTheyReachTheGraphsHold() throws {
        let record = record()
        defer { record.deallocate() }
        let index = try #require(ObjectTable.takeSlot())
        let object = ObjectTable.open(index, record, owner: 1, leases: (1 << 31) - 1, hold: false)
        #expect(ObjectTable.leaseKnownAlive(object))
        #expect(ObjectTable.isExhausted(object))
        #expect(!ObjectTable.leaseKnownAlive(object))
        #expect(!ObjectTable.retain(object))
        #expect(throws: Failure.self) { _ = try ObjectLease.retaining(object) }
        #expect(ObjectTable.claims(object)?.isHeld == false)
        #expect(ObjectTable.leases(object) == 1 << 31)
        #expect(ObjectTable.release(object))
        #expect(ObjectTable.retain(object))
        ObjectTable.close(index)
    }
}
