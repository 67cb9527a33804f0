internal import CPlatform
internal import Glibc
internal import InvivoBase
internal import InvivoGraph

extension Pool {
    /// Memory that was taken out of a pool, and since when nobody new can see it.
    final class Retired: @unchecked Sendable {
        private let monitor = Monitor()
        // Guarded by the monitor.
        private var memory: [(epoch: UInt64, pointer: UnsafeMutableRawPointer)] = []
        private var bytes = 0

        /// When nobody can reach the pool any more.
        func freeAll() {
            for entry in memory { Glibc.free(entry.pointer) }
            memory = []
        }

        /// True when it is time to look what can be freed.
        func add(_ pointer: UnsafeMutableRawPointer, _ size: Int, epoch: UInt64) -> Bool {
            monitor.locked {
                memory.append((epoch, pointer))
                bytes += size
                return bytes >= 64 << 10 || memory.count >= 1024
            }
        }

        /// Frees what nobody reads who began at `oldest` or later.
        func free(before oldest: UInt64) {
            monitor.locked {
                bytes = 0
                memory.removeAll { entry in
                    guard entry.epoch &+ 1 < oldest else { return false }
                    Glibc.free(entry.pointer)
                    return true
                }
            }
        }
    }

    /// Frees memory when no reader is left that may see it. It is out of everybody's way already.
    func retire(_ pointer: UnsafeMutableRawPointer, _ size: Int) {
        let epoch = iv_add_u64(iv_core_pool_epoch(container.core), 1)
        if retired.add(pointer, size, epoch: epoch) { reclaim() }
    }

    func retire(_ table: PoolTable.Table) {
        var text = table.pointee.texts
        while let gone = text {
            text = gone.pointee.next
            retire(UnsafeMutableRawPointer(gone), Int(gone.pointee.size))
        }
        retire(UnsafeMutableRawPointer(table), Int(table.pointee.capacity) * MemoryLayout<iv_pool_slot>.stride)
    }

    private func reclaim() {
        Readers.barrier()
        retired.free(before: Readers.oldestPooling(container.core))
    }

    // MARK: weak references

    /// One claim more on a weak reference that a reader sees; false when it is on its way out.
    @inline(__always)
    static func hold(_ weak: PoolWeak) -> Bool {
        var references = iv_load_u64(iv_pool_weak_references(weak))
        while references != 0 {
            if iv_cas_u64(iv_pool_weak_references(weak), &references, references &+ 1) { return true }
        }
        return false
    }

    /// One claim less; the last frees it. Runs host code: no lock is held.
    func drop(_ weak: PoolWeak) {
        guard iv_sub_u64(iv_pool_weak_references(weak), 1) == 1 else { return }
        let type = Unmanaged<ObjectType>.fromOpaque(weak.pointee.type)
        if let reference = weak.pointee.weak { type.takeUnretainedValue().description.freeWeak(reference) }
        type.release()
        retire(UnsafeMutableRawPointer(weak), MemoryLayout<iv_pool_weak>.size)
    }

    func type(of weak: PoolWeak) -> ObjectType {
        Unmanaged<ObjectType>.fromOpaque(weak.pointee.type).takeUnretainedValue()
    }

    /// What an entry holds of an object: its handle, and where instances are counted elsewhere a weak reference. The caller
    /// has a lease. Runs host code.
    func value(for object: UInt64) throws(Failure) -> UInt64 {
        guard let record = ObjectTable.record(object) else { throw Failure(.handle, "the object handle is stale") }
        guard record.pointee.type.pointee.has_weak != 0 else { return object }
        let type = Container.type(record)
        guard let instance = record.pointee.instance, let reference = type.description.makeWeak(instance) else {
            return object
        }
        guard let memory = malloc(MemoryLayout<iv_pool_weak>.size) else {
            type.description.freeWeak(reference)
            throw Failure(.memory, "no memory for an entry of the pool '\(name)'")
        }
        let weak = memory.assumingMemoryBound(to: iv_pool_weak.self)
        weak.initialize(
            to: iv_pool_weak(
                references: 1, object: object, ended: 0, thread: record.pointee.thread, weak: reference,
                type: Unmanaged.passRetained(type).toOpaque()))
        return 0xf << 60 | UInt64(UInt(bitPattern: memory))
    }

    /// An object for an instance that lives and whose handles are gone; nil when it is gone too. The caller has a claim.
    func revive(_ weak: PoolWeak) throws(Failure) -> UInt64? {
        let type = type(of: weak)
        guard let instance = type.description.loadWeak(weak.pointee.weak) else {
            iv_store_u64(iv_pool_weak_ended(weak), 1)
            return nil
        }
        let build: Reader
        do throws(Failure) { build = try container.beginBuild() } catch {
            type.description.dispose(instance)
            throw error
        }
        defer { Readers.endBuild(build) }
        // The reference that came with it is the new record's.
        let object = try container.wrap(type, instance)
        ObjectTable.record(object)?.pointee.thread = weak.pointee.thread
        var known = iv_load_u64(iv_pool_weak_object(weak))
        while true {
            // Somebody else was first: one instance has one handle as long as that lives.
            if ObjectTable.retain(known) {
                _ = ObjectTable.release(object)
                return known
            }
            if iv_cas_u64(iv_pool_weak_object(weak), &known, object) { return object }
        }
    }

    /// Whether the instance is alive. The caller has a claim; runs host code.
    func isAlive(_ weak: PoolWeak) -> Bool {
        if iv_load_u64(iv_pool_weak_ended(weak)) != 0 { return false }
        if ObjectTable.isClaimed(iv_load_u64(iv_pool_weak_object(weak))) { return true }
        let description = type(of: weak).description
        guard let instance = description.loadWeak(weak.pointee.weak) else {
            iv_store_u64(iv_pool_weak_ended(weak), 1)
            return false
        }
        description.dispose(instance)
        return true
    }
}
