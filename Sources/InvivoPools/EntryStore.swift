internal import CPlatform
internal import Glibc
internal import InvivoBase
internal import InvivoWiring

/// The entries of one pool: in each of its shards a table, and a lock for writers. Any thread; runs no host code under a lock.
///
/// A weak reference in an entry counts as one claim on it. Functions that remove entries append their weak references to
/// `dropped`, and the caller gives the claims back: that may run host code.
struct EntryStore: ~Copyable {
    /// The raw pool that readers without a lock use.
    let raw: RawPool
    private let retired: RetiredMemory
    /// Finds out of each reference whether its instance lives. Runs host code.
    private let check: ([RawWeak]) -> Void

    static let shardCount = UInt64(IV_POOL_SHARDS)

    init(retired: RetiredMemory, check: @escaping ([RawWeak]) -> Void) throws(Failure) {
        var shards: UnsafeMutableRawPointer?
        let bytes = MemoryLayout<iv_pool_shard>.stride * Int(IV_POOL_SHARDS)
        guard posix_memalign(&shards, 64, bytes) == 0, let shards else {
            throw Failure(.memory, "no memory for a pool")
        }
        memset(shards, 0, bytes)
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_pool())
        raw.pointee.shards = shards.assumingMemoryBound(to: iv_pool_shard.self)
        for index in 0..<Self.shardCount { iv_pool_shard_begin(raw.pointee.shards + Int(index)) }
        // A host that chooses keys must not be able to predict their slots.
        var generator = SystemRandomNumberGenerator()
        raw.pointee.seed = generator.next()
        self.retired = retired
        self.check = check
    }

    /// No thread reads or writes anymore, and no entry holds a weak reference.
    deinit {
        for index in 0..<UInt64(IV_POOL_SHARDS) {
            let shard = raw.pointee.shards + Int(index)
            if let table = iv_pool_table_of(shard) { EntryTable(table).free() }
            iv_pool_shard_end(shard)
        }
        Glibc.free(raw.pointee.shards)
        raw.deallocate()
    }

    var seed: UInt64 { raw.pointee.seed }

    // MARK: reading

    /// Returns the content of a key's entry, or `none` for an unknown key. In a reading section.
    @inline(__always)
    static func find(_ raw: RawPool, _ key: PoolKey) -> EntryWord {
        guard let table = iv_pool_table_of(raw.pointee.shards + Int(truncatingIfNeeded: key.shard)),
            let slot = EntryTable(table).find(key)
        else { return .none }
        return slot.word
    }

    /// Shows the entries of a shard, with its lock.
    func forEach(in index: UInt64, _ body: (RawSlot) -> Void) {
        let shard = shard(index)
        iv_pool_lock(shard)
        defer { iv_pool_unlock(shard) }
        table(of: shard)?.forEach(body)
    }

    @inline(__always)
    private func shard(_ index: UInt64) -> UnsafeMutablePointer<iv_pool_shard> {
        raw.pointee.shards + Int(truncatingIfNeeded: index)
    }

    @inline(__always)
    private func table(of shard: UnsafeMutablePointer<iv_pool_shard>) -> EntryTable? {
        iv_pool_table_of(shard).map { EntryTable($0) }
    }

    // MARK: creations

    enum Claim {
        /// A living object, with a lease for the caller.
        case object(UInt64)
        /// A weak reference whose instance may live, with a claim for the caller.
        case weak(RawWeak)
        /// The entry holds the caller's creation now.
        case claimed
        /// The entry holds another creation.
        case creation(EntryWord)
        case noMemory
    }

    /// Finds the object of a key. Without one, stores `creation` under the key.
    func claim(_ key: PoolKey, for creation: Creation, dropped: inout [RawWeak]) -> Claim {
        let shard = shard(key.shard)
        iv_pool_lock(shard)
        // Most often the key has no entry, or its object has ended.
        guard let table = table(of: shard), let slot = table.find(key) ?? table.append(key),
            slot.word.object != nil || slot.word == .none
        else {
            iv_pool_unlock(shard)
            return claimSlowly(key, for: creation, dropped: &dropped)
        }
        defer { iv_pool_unlock(shard) }
        if let object = slot.word.object {
            if ObjectTable.retain(object) { return .object(object) }
            uncountEnd(in: key.shard)
        }
        iv_store_u64(iv_pool_slot_value(slot), EntryWord(creation: creation).bits)
        return .claimed
    }

    @inline(never)
    private func claimSlowly(_ key: PoolKey, for creation: Creation, dropped: inout [RawWeak]) -> Claim {
        let shard = shard(key.shard)
        iv_pool_lock(shard)
        defer { iv_pool_unlock(shard) }
        guard let (table, slot) = ensuredSlot(key, &dropped) else { return .noMemory }
        let word = slot.word
        if let object = word.object, ObjectTable.retain(object) { return .object(object) }
        if word.creation != nil { return .creation(word) }
        if let weak = word.weak {
            if WeakReferences.mayLive(weak), WeakReferences.hold(weak) { return .weak(weak) }
            dropped.append(weak)
        }
        if word.object != nil { uncountEnd(in: key.shard) }
        table.store(EntryWord(creation: creation), in: slot)
        return .claimed
    }

    /// Puts the outcome of a creation into its entry. False when the entry was removed meanwhile, or replaced.
    ///
    /// Other threads cannot find the creation anymore afterwards.
    func finish(_ creation: Creation, of key: PoolKey, with word: EntryWord) -> Bool {
        let shard = shard(key.shard)
        iv_pool_lock(shard)
        defer { iv_pool_unlock(shard) }
        guard let table = table(of: shard), let slot = table.find(key), slot.word.creation == creation else {
            return false
        }
        table.store(word, in: slot)
        return true
    }

    /// Runs `body` while the creation that `word` names cannot end; nil when it has ended.
    func withCreation<Result>(_ word: EntryWord, of key: PoolKey, _ body: (Creation) -> Result) -> Result? {
        let shard = shard(key.shard)
        iv_pool_lock(shard)
        defer { iv_pool_unlock(shard) }
        // Its thread removes it from the entry under this lock before its memory ends.
        guard let slot = table(of: shard)?.find(key), slot.word == word else { return nil }
        return word.creation.map(body)
    }

    // MARK: other changes

    enum Replacement {
        case done
        /// The entry holds a creation, which is not replaced.
        case creation(EntryWord)
        case noMemory
    }

    /// Stores a word under a key.
    func replace(_ key: PoolKey, with word: EntryWord, dropped: inout [RawWeak]) -> Replacement {
        let shard = shard(key.shard)
        iv_pool_lock(shard)
        defer { iv_pool_unlock(shard) }
        guard let (table, slot) = ensuredSlot(key, &dropped) else { return .noMemory }
        guard slot.word.creation == nil else { return .creation(slot.word) }
        if let weak = slot.word.weak { dropped.append(weak) }
        table.store(word, in: slot)
        return .done
    }

    /// Removes an entry, also one that holds a creation.
    func remove(_ key: PoolKey, dropped: inout [RawWeak]) {
        let shard = shard(key.shard)
        iv_pool_lock(shard)
        defer { iv_pool_unlock(shard) }
        guard let table = table(of: shard), let slot = table.find(key) else { return }
        if let weak = slot.word.weak { dropped.append(weak) }
        table.store(.none, in: slot)
    }

    /// Removes all entries of a shard, also those that hold creations.
    func removeAll(in index: UInt64, dropped: inout [RawWeak]) {
        let shard = shard(index)
        iv_pool_lock(shard)
        defer { iv_pool_unlock(shard) }
        guard let table = table(of: shard) else { return }
        table.forEach { slot in
            if let weak = slot.word.weak { dropped.append(weak) }
        }
        publish(nil, in: index, after: table)
    }

    // MARK: entries whose objects have ended

    /// Counts the end of an object. True when so many entries of the shard may be over that it should be swept. In a reading
    /// section.
    @inline(__always)
    static func countEnd(_ raw: RawPool, in index: UInt64) -> Bool {
        let count = iv_add_u64(iv_pool_ended(raw, index), 1)
        guard count & 63 == 63, let table = iv_pool_table_of(raw.pointee.shards + Int(index)) else { return false }
        return count > UInt64(table.pointee.limit) / 2
    }

    /// With the shard's lock: the entry of an object that has ended, and was counted, is used again.
    @inline(__always)
    private func uncountEnd(in index: UInt64) {
        if Int64(bitPattern: iv_load_u64(iv_pool_ended(raw, index))) > 0 {
            _ = iv_sub_u64(iv_pool_ended(raw, index), 1)
        }
    }

    /// Removes the entries of a shard that are over, unless another thread writes in it: then a later end sweeps it.
    func sweep(_ index: UInt64, dropped: inout [RawWeak]) {
        let shard = shard(index)
        guard iv_pool_try_lock(shard) else { return }
        defer { iv_pool_unlock(shard) }
        if let table = table(of: shard) { _ = rebuild(table, in: index, &dropped) }
    }

    // MARK: with the shard's lock

    /// The slot of a key, which is added when it is new; nil without memory. May release the lock meanwhile.
    @inline(__always)
    private func ensuredSlot(_ key: PoolKey, _ dropped: inout [RawWeak]) -> (table: EntryTable, slot: RawSlot)? {
        guard let table = table(of: shard(key.shard)), let slot = table.find(key) ?? table.append(key) else {
            return ensuredSlotSlowly(key, &dropped)
        }
        return (table, slot)
    }

    @inline(never)
    private func ensuredSlotSlowly(_ key: PoolKey, _ dropped: inout [RawWeak]) -> (table: EntryTable, slot: RawSlot)? {
        let shard = shard(key.shard)
        var isChecked = false
        while true {
            guard let table = table(of: shard) else {
                guard let first = EntryTable.make(for: 2) else { return nil }
                iv_pool_publish(shard, first.raw)
                continue
            }
            if let slot = table.find(key) { return (table, slot) }
            if !table.isFull { return table.append(key).map { (table, $0) } }
            if table.weakCount > 0 && !isChecked {
                isChecked = true
                iv_pool_unlock(shard)
                checkWeak(in: key.shard)
                iv_pool_lock(shard)
                continue
            }
            guard rebuild(table, in: key.shard, &dropped) else { return nil }
        }
    }

    /// Without the lock: finds out which weak references of a shard lead nowhere.
    private func checkWeak(in index: UInt64) {
        var held: [RawWeak] = []
        forEach(in: index) { slot in
            if let weak = slot.word.weak, WeakReferences.hold(weak) { held.append(weak) }
        }
        check(held)
    }

    /// Replaces a table by one without ended entries and with free slots. False without memory.
    private func rebuild(_ table: EntryTable, in index: UInt64, _ dropped: inout [RawWeak]) -> Bool {
        guard let fresh = table.rebuilt(dropped: &dropped) else { return false }
        publish(fresh, in: index, after: table)
        return true
    }

    private func publish(_ table: EntryTable?, in index: UInt64, after former: EntryTable) {
        iv_pool_publish(shard(index), table?.raw)
        iv_store_u64(iv_pool_ended(raw, index), 0)
        former.forEachBlock { retired.add($0, size: $1) }
    }
}
