internal import CPlatform
internal import Glibc
internal import InvivoBase

typealias PoolSlot = UnsafeMutablePointer<iv_pool_slot>
typealias PoolShard = UnsafeMutablePointer<iv_pool_shard>
typealias PoolWeak = UnsafeMutablePointer<iv_pool_weak>

/// The table of one shard: open addressing in raw memory. Whoever reads is in a reading section of its pool or has the
/// shard's lock; whoever writes has the lock.
enum PoolTable {
    typealias Table = UnsafeMutablePointer<iv_pool_table>

    // MARK: reading

    /// The slot of a key, or nil.
    @inline(__always)
    static func find(_ table: Table, _ key: PoolKey) -> PoolSlot? {
        let slots = iv_pool_slots(table).unsafelyUnwrapped
        let capacity = table.pointee.capacity
        var index = Int(truncatingIfNeeded: ((key.hash & 0xffff_ffff) &* UInt64(capacity)) >> 32)
        while true {
            let slot = slots + index
            let head = iv_load_u64(iv_pool_slot_head(slot))
            if head == key.head, isSame(slot, key) { return slot }
            if head == 0 { return nil }
            index = index &+ 1 == Int(capacity) ? 0 : index &+ 1
        }
    }

    @inline(__always)
    private static func isSame(_ slot: PoolSlot, _ key: PoolKey) -> Bool {
        guard let bytes = key.bytes else { return slot.pointee.word == key.word }
        guard let stored = UnsafeRawPointer(bitPattern: UInt(slot.pointee.word)) else { return false }
        // Eight at a time, the last eight once more: names are short, and a call costs more than they do.
        let last = key.length &- 8
        var offset = 0
        while offset < last {
            guard isSame(stored, bytes, at: offset) else { return false }
            offset &+= 8
        }
        return isSame(stored, bytes, at: last)
    }

    @inline(__always)
    private static func isSame(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, at offset: Int) -> Bool {
        a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            == b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// An object's handle, not one of the structs.
    @inline(__always)
    static func isObject(_ value: UInt64) -> Bool { value >> 60 == 2 }

    static func weak(_ value: UInt64) -> PoolWeak? {
        value >> 60 == 0xf ? PoolWeak(bitPattern: UInt(value & ~(0xf << 60))) : nil
    }

    static func making(_ value: UInt64) -> UnsafeMutablePointer<iv_pool_making>? {
        value >> 60 == 0xe ? UnsafeMutablePointer(bitPattern: UInt(value & ~(0xf << 60))) : nil
    }

    /// The key of a slot as a value again.
    static func key(_ slot: PoolSlot) -> Value {
        let meta = slot.pointee.head >> 32
        guard let kind = PoolKey.Kind(rawValue: meta >> 27) else { return .null }
        let length = Int(meta & 0x7ff_ffff)
        switch kind {
        case .string, .bytes, .list:
            if length > 8 {
                let bytes = UnsafeRawPointer(bitPattern: UInt(slot.pointee.word))
                return kind.value(bytes: UnsafeRawBufferPointer(start: bytes, count: length))
            }
            return withUnsafeBytes(of: slot.pointee.word) {
                kind.value(bytes: UnsafeRawBufferPointer(rebasing: $0[..<length]))
            }
        default: return kind.value(number: slot.pointee.word)
        }
    }

    // MARK: writing, with the shard's lock

    /// Enters a key that is not there, if there is room; nil without memory.
    static func append(_ table: Table, _ key: PoolKey) -> PoolSlot? {
        var word = key.word
        if let bytes = key.bytes {
            guard let place = text(table, key.length) else { return nil }
            memcpy(place, bytes, key.length)
            word = UInt64(UInt(bitPattern: place))
        }
        let slot = free(table, key.head)
        slot.pointee.word = word
        slot.pointee.value = 0
        iv_store_u64(iv_pool_slot_head(slot), key.head)
        table.pointee.used += 1
        return slot
    }

    /// The same; nil also where there is no room.
    static func room(_ table: Table, _ key: PoolKey) -> PoolSlot? {
        table.pointee.used < table.pointee.limit ? append(table, key) : nil
    }

    private static func free(_ table: Table, _ head: UInt64) -> PoolSlot {
        let slots = iv_pool_slots(table).unsafelyUnwrapped
        let capacity = table.pointee.capacity
        var index = Int(((head & 0xffff_ffff) &* UInt64(capacity)) >> 32)
        while slots[index].head != 0 { index = index &+ 1 == Int(capacity) ? 0 : index &+ 1 }
        return slots + index
    }

    /// Room for the bytes of a key.
    private static func text(_ table: Table, _ length: Int) -> UnsafeMutableRawPointer? {
        if let text = table.pointee.texts, Int(text.pointee.size - text.pointee.used) >= length {
            defer { text.pointee.used += UInt32(length) }
            return UnsafeMutableRawPointer(iv_pool_bytes(text)) + Int(text.pointee.used)
        }
        // A sixteenth of what the table has: little is left over.
        guard let fresh = newText(table, max(length, 64, Int(table.pointee.used))) else { return nil }
        fresh.pointee.used = UInt32(length)
        return UnsafeMutableRawPointer(iv_pool_bytes(fresh))
    }

    private static func newText(_ table: Table, _ size: Int) -> UnsafeMutablePointer<iv_pool_text>? {
        guard let memory = malloc(MemoryLayout<iv_pool_text>.size + size) else { return nil }
        let text = memory.assumingMemoryBound(to: iv_pool_text.self)
        text.initialize(to: iv_pool_text(next: table.pointee.texts, size: UInt32(size), used: 0))
        table.pointee.texts = text
        return text
    }

    /// An empty table for so many entries and a third more, with room for the bytes of those.
    static func make(for count: Int, bytes: Int = 0) -> Table? {
        let capacity = max(5, (count + 1) * 5 / 3)
        guard
            let memory = calloc(
                1, MemoryLayout<iv_pool_table>.size + capacity * MemoryLayout<iv_pool_slot>.stride)
        else { return nil }
        let table = memory.assumingMemoryBound(to: iv_pool_table.self)
        table.pointee.capacity = UInt32(capacity)
        table.pointee.limit = UInt32(capacity * 4 / 5)
        if bytes > 0, newText(table, bytes) == nil {
            Glibc.free(memory)
            return nil
        }
        return table
    }

    /// A table with those of a former one's entries that are not over; nil without memory. `dropped` gets the weak references
    /// that are left behind.
    static func rebuilt(_ former: Table, dropped: inout [PoolWeak]) -> Table? {
        var count = 0
        var bytes = 0
        forEach(former) { slot in
            guard isLive(slot.pointee.value) else { return }
            count += 1
            bytes += bytesOutside(slot)
        }
        guard let table = make(for: count, bytes: bytes) else { return nil }
        forEach(former) { slot in
            let weak = weak(slot.pointee.value)
            guard count > 0, isLive(slot.pointee.value) else {
                if let weak { dropped.append(weak) }
                return
            }
            count -= 1
            if weak != nil { table.pointee.weak += 1 }
            var word = slot.pointee.word
            let length = bytesOutside(slot)
            if length > 0, let text = table.pointee.texts, let from = UnsafeRawPointer(bitPattern: UInt(word)) {
                let place = UnsafeMutableRawPointer(iv_pool_bytes(text)) + Int(text.pointee.used)
                memcpy(place, from, length)
                text.pointee.used += UInt32(length)
                word = UInt64(UInt(bitPattern: place))
            }
            let copy = free(table, slot.pointee.head)
            copy.initialize(to: iv_pool_slot(head: slot.pointee.head, word: word, value: slot.pointee.value))
            table.pointee.used += 1
        }
        return table
    }

    @inline(__always)
    static func forEach(_ table: Table, _ body: (PoolSlot) -> Void) {
        let slots = iv_pool_slots(table).unsafelyUnwrapped
        for index in 0..<Int(table.pointee.capacity) where slots[index].head != 0 { body(slots + index) }
    }

    private static func bytesOutside(_ slot: PoolSlot) -> Int {
        let meta = slot.pointee.head >> 32
        let length = Int(meta & 0x7ff_ffff)
        return length > 8 ? length : 0
    }

    /// Whether an entry is to be kept: its object lives, is being made, or may live (known without running host code).
    static func isLive(_ value: UInt64) -> Bool {
        if isObject(value) { return ObjectTable.isClaimed(value) }
        if let weak = weak(value) { return iv_load_u64(iv_pool_weak_ended(weak)) == 0 }
        return value != 0
    }
}
