internal import CPlatform
internal import Glibc
internal import InvivoBase

typealias RawSlot = UnsafeMutablePointer<iv_pool_slot>

extension RawSlot {
    /// Read without a lock, in a reading section or with the shard's lock.
    @inline(__always)
    var word: EntryWord { EntryWord(bits: iv_load_u64(iv_pool_slot_value(self))) }

    /// The key as a value again.
    var key: Value {
        let meta = pointee.head >> 32
        guard let kind = PoolKey.Kind(rawValue: meta >> 27) else { return .null }
        let length = Int(meta & 0x7ff_ffff)
        switch kind {
        case .string, .bytes, .list:
            if length > 8 {
                let bytes = UnsafeRawPointer(bitPattern: UInt(pointee.word))
                return kind.value(bytes: UnsafeRawBufferPointer(start: bytes, count: length))
            }
            return withUnsafeBytes(of: pointee.word) {
                kind.value(bytes: UnsafeRawBufferPointer(rebasing: $0[..<length]))
            }
        default: return kind.value(number: pointee.word)
        }
    }

    /// The number of the key's bytes outside of the slot.
    fileprivate var bytesOutside: Int {
        let length = Int(pointee.head >> 32 & 0x7ff_ffff)
        return length > 8 ? length : 0
    }
}

/// The table of one shard: open addressing in memory from `malloc`. Reading needs a reading section or the shard's lock,
/// writing the lock. It never grows: a full table is replaced by `rebuilt`.
struct EntryTable {
    let raw: UnsafeMutablePointer<iv_pool_table>

    @inline(__always)
    init(_ raw: UnsafeMutablePointer<iv_pool_table>) { self.raw = raw }

    // MARK: reading

    /// The slot of a key; nil when the table does not have it.
    @inline(__always)
    func find(_ key: PoolKey) -> RawSlot? {
        let slots = iv_pool_slots(raw).unsafelyUnwrapped
        let capacity = raw.pointee.capacity
        var index = Int(truncatingIfNeeded: ((key.hash & 0xffff_ffff) &* UInt64(capacity)) >> 32)
        while true {
            let slot = slots + index
            let head = iv_load_u64(iv_pool_slot_head(slot))
            if head == key.head, Self.isSame(slot, key) { return slot }
            if head == 0 { return nil }
            index = index &+ 1 == Int(capacity) ? 0 : index &+ 1
        }
    }

    @inline(__always)
    private static func isSame(_ slot: RawSlot, _ key: PoolKey) -> Bool {
        guard let bytes = key.bytes else { return slot.pointee.word == key.word }
        guard let stored = UnsafeRawPointer(bitPattern: UInt(slot.pointee.word)) else { return false }
        // Eight bytes at a time, and the last eight, which may overlap: keys are short, and a call of memcmp costs more.
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

    @inline(__always)
    func forEach(_ body: (RawSlot) -> Void) {
        let slots = iv_pool_slots(raw).unsafelyUnwrapped
        for index in 0..<Int(raw.pointee.capacity) where slots[index].head != 0 { body(slots + index) }
    }

    @inline(__always)
    var isFull: Bool { raw.pointee.used >= raw.pointee.limit }

    /// The number of entries with weak references.
    var weakCount: Int { Int(raw.pointee.weak) }

    // MARK: writing

    /// Adds a key that the table does not have, with the word `none`; nil when the table is full or without memory.
    @inline(__always)
    func append(_ key: PoolKey) -> RawSlot? {
        guard !isFull else { return nil }
        var word = key.word
        if let bytes = key.bytes {
            guard let copy = room(for: key.length) else { return nil }
            memcpy(copy, bytes, key.length)
            word = UInt64(UInt(bitPattern: copy))
        }
        let slot = unusedSlot(key.head)
        slot.pointee.word = word
        slot.pointee.value = EntryWord.none.bits
        iv_store_u64(iv_pool_slot_head(slot), key.head)
        raw.pointee.used += 1
        return slot
    }

    @inline(__always)
    func store(_ word: EntryWord, in slot: RawSlot) {
        if slot.word.weak != nil { raw.pointee.weak -= 1 }
        if word.weak != nil { raw.pointee.weak += 1 }
        iv_store_u64(iv_pool_slot_value(slot), word.bits)
    }

    @inline(__always)
    private func unusedSlot(_ head: UInt64) -> RawSlot {
        let slots = iv_pool_slots(raw).unsafelyUnwrapped
        let capacity = raw.pointee.capacity
        var index = Int(((head & 0xffff_ffff) &* UInt64(capacity)) >> 32)
        while slots[index].head != 0 { index = index &+ 1 == Int(capacity) ? 0 : index &+ 1 }
        return slots + index
    }

    /// Memory for the bytes of a key, freed with the table.
    private func room(for length: Int) -> UnsafeMutableRawPointer? {
        if let text = raw.pointee.texts, Int(text.pointee.size - text.pointee.used) >= length {
            defer { text.pointee.used += UInt32(length) }
            return UnsafeMutableRawPointer(iv_pool_bytes(text)) + Int(text.pointee.used)
        }
        // Allocates one byte for each entry: a small part of the size of the entries.
        guard let fresh = addText(max(length, 64, Int(raw.pointee.used))) else { return nil }
        fresh.pointee.used = UInt32(length)
        return UnsafeMutableRawPointer(iv_pool_bytes(fresh))
    }

    private func addText(_ size: Int) -> UnsafeMutablePointer<iv_pool_text>? {
        guard let memory = malloc(MemoryLayout<iv_pool_text>.size + size) else { return nil }
        let text = memory.assumingMemoryBound(to: iv_pool_text.self)
        text.initialize(to: iv_pool_text(next: raw.pointee.texts, size: UInt32(size), used: 0))
        raw.pointee.texts = text
        return text
    }

    // MARK: life

    /// Creates an empty table for `count` entries and a third more, and for `bytes` of their keys; nil without memory.
    static func make(for count: Int, bytes: Int = 0) -> EntryTable? {
        let capacity = max(5, (count + 1) * 5 / 3)
        guard
            let memory = calloc(1, MemoryLayout<iv_pool_table>.size + capacity * MemoryLayout<iv_pool_slot>.stride)
        else { return nil }
        let table = EntryTable(memory.assumingMemoryBound(to: iv_pool_table.self))
        table.raw.pointee.capacity = UInt32(capacity)
        table.raw.pointee.limit = UInt32(capacity * 4 / 5)
        if bytes > 0, table.addText(bytes) == nil {
            Glibc.free(memory)
            return nil
        }
        return table
    }

    /// A new table with the entries of this one that `EntryWord.isKept`; nil without memory. Appends the weak references of
    /// the other entries to `dropped`.
    func rebuilt(dropped: inout [RawWeak]) -> EntryTable? {
        var count = 0
        var bytes = 0
        forEach { slot in
            guard slot.word.isKept else { return }
            count += 1
            bytes += slot.bytesOutside
        }
        guard let table = Self.make(for: count, bytes: bytes) else { return nil }
        forEach { slot in
            let word = slot.word
            // Entries may have ended since they were counted, and none can have begun.
            guard count > 0, word.isKept else {
                if let weak = word.weak { dropped.append(weak) }
                return
            }
            count -= 1
            table.appendCopy(of: slot, word)
        }
        return table
    }

    private func appendCopy(of slot: RawSlot, _ word: EntryWord) {
        var key = slot.pointee.word
        let length = slot.bytesOutside
        if length > 0, let text = raw.pointee.texts, let from = UnsafeRawPointer(bitPattern: UInt(key)) {
            let copy = UnsafeMutableRawPointer(iv_pool_bytes(text)) + Int(text.pointee.used)
            memcpy(copy, from, length)
            text.pointee.used += UInt32(length)
            key = UInt64(UInt(bitPattern: copy))
        }
        unusedSlot(slot.pointee.head)
            .initialize(to: iv_pool_slot(head: slot.pointee.head, word: key, value: word.bits))
        raw.pointee.used += 1
        if word.weak != nil { raw.pointee.weak += 1 }
    }

    /// Shows the memory blocks of the table with their sizes; the table itself is the last.
    func forEachBlock(_ body: (UnsafeMutableRawPointer, _ size: Int) -> Void) {
        var text = raw.pointee.texts
        while let block = text {
            text = block.pointee.next
            body(UnsafeMutableRawPointer(block), Int(block.pointee.size))
        }
        body(UnsafeMutableRawPointer(raw), Int(raw.pointee.capacity) * MemoryLayout<iv_pool_slot>.stride)
    }

    /// Called when no other thread can reach the table.
    func free() { forEachBlock { block, _ in Glibc.free(block) } }
}
