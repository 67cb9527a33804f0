public import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase
public import InvivoGraph

extension Pool {
    /// Enters a living object in the place of what the key had.
    public func put(_ value: UnsafePointer<invivo_value>, _ object: UInt64) throws(Failure) {
        try PoolKey.with(value, seed: raw.pointee.seed) { (key) throws(Failure) in
            let lease = try ObjectLease.retaining(object)
            guard let record = ObjectTable.record(lease.bits), Container.type(record).container === self.container
            else {
                throw Failure(.handle, "the object belongs to another runtime than the pool '\(self.name)'")
            }
            let build = try self.container.beginBuild()
            defer { Readers.endBuild(build) }
            let entry = try self.value(for: object)
            self.watch(entry, key)
            while true {
                var owed: [PoolWeak] = []
                defer { for weak in owed { self.drop(weak) } }
                let slot: PoolSlot
                do throws(Failure) { slot = try self.locked(key, &owed) } catch {
                    if let weak = PoolTable.weak(entry) { owed.append(weak) }
                    throw error
                }
                let former = slot.pointee.value
                guard PoolTable.making(former) != nil else {
                    self.replace(slot, key, by: entry, &owed)
                    self.unlock(key)
                    return
                }
                self.unlock(key)
                do throws(Failure) { try self.awaitMaking(key, former, value) } catch {
                    // Whether that failed is nothing to who puts; but a circle would never end.
                    guard error.code != .cycle else {
                        if let weak = PoolTable.weak(entry) { owed.append(weak) }
                        throw error
                    }
                }
            }
        }
    }

    /// Forgets an entry. False when there is none that lives.
    public func remove(_ value: UnsafePointer<invivo_value>) throws(Failure) -> Bool {
        try PoolKey.with(value, seed: raw.pointee.seed) { (key) throws(Failure) in
            let isAlive = try self.peek(key)
            if let isAlive { _ = ObjectTable.release(isAlive) }
            var owed: [PoolWeak] = []
            defer { for weak in owed { self.drop(weak) } }
            iv_pool_lock(self.shard(key.shard))
            if let table = iv_pool_table_of(self.shard(key.shard)), let slot = PoolTable.find(table, key) {
                self.replace(slot, key, by: 0, &owed)
            }
            iv_pool_unlock(self.shard(key.shard))
            return isAlive != nil
        }
    }

    /// With the shard's lock.
    func replace(_ slot: PoolSlot, _ key: PoolKey, by value: UInt64, _ owed: inout [PoolWeak]) {
        if let weak = PoolTable.weak(slot.pointee.value) { owed.append(weak) }
        store(slot, key, value)
    }

    /// The living entries: keys and objects, each object with a lease.
    public func list() throws(Failure) -> [(key: Value, object: ObjectLease)] {
        var found: [(key: Value, object: ObjectLease)] = []
        try forEachShard { (entries) throws(Failure) in
            for (key, object, weak) in entries {
                if let object {
                    found.append((key, object))
                } else if let weak, let object = try revivedOrKnown(weak) {
                    found.append((key, ObjectLease(owning: object)))
                }
            }
        }
        return found
    }

    private func revivedOrKnown(_ weak: PoolWeak) throws(Failure) -> UInt64? {
        let known = iv_load_u64(iv_pool_weak_object(weak))
        return ObjectTable.retain(known) ? known : try revive(weak)
    }

    /// How many entries live now.
    public func count() -> UInt64 {
        var count: UInt64 = 0
        for index in 0..<UInt64(IV_POOL_SHARDS) {
            var asked: [PoolWeak] = []
            iv_pool_lock(shard(index))
            if let table = iv_pool_table_of(shard(index)) {
                PoolTable.forEach(table) { slot in
                    let value = slot.pointee.value
                    if PoolTable.isObject(value) {
                        if ObjectTable.isClaimed(value) { count += 1 }
                    } else if let weak = PoolTable.weak(value), Self.hold(weak) {
                        asked.append(weak)
                    }
                }
            }
            iv_pool_unlock(shard(index))
            for weak in asked {
                if isAlive(weak) { count += 1 }
                drop(weak)
            }
        }
        return count
    }

    private typealias Entry = (key: Value, object: ObjectLease?, weak: PoolWeak?)

    /// Shows `body` what each shard holds, without its lock: with a lease on each object, or a claim on its weak reference.
    private func forEachShard(_ body: ([Entry]) throws(Failure) -> Void) throws(Failure) {
        for index in 0..<UInt64(IV_POOL_SHARDS) {
            var entries: [Entry] = []
            iv_pool_lock(shard(index))
            if let table = iv_pool_table_of(shard(index)) {
                PoolTable.forEach(table) { slot in
                    let value = slot.pointee.value
                    if PoolTable.isObject(value) {
                        if ObjectTable.retain(value) {
                            entries.append((PoolTable.key(slot), ObjectLease(owning: value), nil))
                        }
                    } else if let weak = PoolTable.weak(value), Self.hold(weak) {
                        entries.append((PoolTable.key(slot), nil, weak))
                    }
                }
            }
            iv_pool_unlock(shard(index))
            defer { for entry in entries { if let weak = entry.weak { drop(weak) } } }
            try body(entries)
        }
    }

    /// Forgets all entries; how many lived. What is being made goes to those who asked, and into no entry.
    public func forgetAll() -> UInt64 {
        let count = count()
        for index in 0..<UInt64(IV_POOL_SHARDS) {
            var owed: [PoolWeak] = []
            iv_pool_lock(shard(index))
            if let table = iv_pool_table_of(shard(index)) {
                PoolTable.forEach(table) { slot in
                    if let weak = PoolTable.weak(slot.pointee.value) { owed.append(weak) }
                }
                iv_pool_publish(shard(index), nil)
                iv_store_u64(iv_pool_ended(raw, index), 0)
                retire(table)
            }
            iv_pool_unlock(shard(index))
            for weak in owed { drop(weak) }
        }
        return count
    }

    /// The instance of an entry whose type counts instances itself, with one reference of the type's.
    public func peekInstance(_ value: UnsafePointer<invivo_value>, _ type: ObjectType) throws(Failure)
        -> UnsafeMutableRawPointer?
    {
        try PoolKey.with(value, seed: raw.pointee.seed) { (key) throws(Failure) -> UnsafeMutableRawPointer? in
            guard let weak = try self.heldWeak(key) else {
                guard let object = try self.peek(key) else { return nil }
                _ = ObjectTable.release(object)
                throw Failure(.type, "the object has no weak references; peek at it instead")
            }
            defer { self.drop(weak) }
            let own = self.type(of: weak)
            guard own === type else {
                throw Failure(.type, "the object is a '\(own.name)', not a '\(type.name)'")
            }
            return type.description.loadWeak(weak.pointee.weak)
        }
    }

    /// The weak reference of an entry, with a claim on it.
    private func heldWeak(_ key: PoolKey) throws(Failure) -> PoolWeak? {
        guard let reader = Readers.enter(container.core, tag: container.tag) else {
            throw Failure(.closed, "the runtime is closed")
        }
        iv_store_u64(iv_reader_pooling(reader), iv_load_u64(iv_core_pool_epoch(container.core)) &+ 1)
        iv_compiler_barrier()
        defer { Self.leave(reader) }
        guard let table = iv_pool_table_of(shard(key.shard)), let slot = PoolTable.find(table, key),
            let weak = PoolTable.weak(iv_load_u64(iv_pool_slot_value(slot))), Self.hold(weak)
        else { return nil }
        return weak
    }
}
