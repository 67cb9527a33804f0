internal import CPlatform
internal import Glibc
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The weak references in the entries of one pool, for types that count references to their instances themselves.
///
/// A reference is used with a claim on it; the last claim frees it. Its functions are host code: no lock is held.
final class WeakReferences {
    private let container: Container
    private let retired: RetiredMemory
    /// The name of the pool, for messages.
    private let poolName: String

    init(_ container: Container, _ retired: RetiredMemory, poolName: String) {
        self.container = container
        self.retired = retired
        self.poolName = poolName
    }

    // MARK: claims

    /// Adds a claim to a reference that a reader sees. Returns false when its last claim was dropped.
    @inline(__always)
    static func hold(_ weak: RawWeak) -> Bool {
        var references = iv_load_u64(iv_pool_weak_references(weak))
        while references != 0 {
            if iv_cas_u64(iv_pool_weak_references(weak), &references, references &+ 1) { return true }
        }
        return false
    }

    /// Gives claims back.
    func drop(_ claims: [RawWeak]) {
        for weak in claims { drop(weak) }
    }

    func drop(_ weak: RawWeak) {
        guard iv_sub_u64(iv_pool_weak_references(weak), 1) == 1 else { return }
        let type = Unmanaged<ObjectType>.fromOpaque(weak.pointee.type)
        if let reference = weak.pointee.weak { type.takeUnretainedValue().description.freeWeak(reference) }
        type.release()
        retired.add(UnsafeMutableRawPointer(weak), size: MemoryLayout<iv_pool_weak>.size)
    }

    // MARK: instances

    /// Returns the entry's content for an object: a weak reference if its type has them, otherwise its handle. The caller has a lease.
    func word(for object: UInt64) throws(Failure) -> EntryWord {
        guard let record = ObjectTable.record(object) else { throw Failure(.handle, "the object handle is stale") }
        guard record.pointee.type.pointee.has_weak != 0 else { return EntryWord(object: object) }
        let type = ObjectType.of(record)
        guard let instance = record.pointee.instance, let reference = type.description.makeWeak(instance) else {
            return EntryWord(object: object)
        }
        guard let memory = malloc(MemoryLayout<iv_pool_weak>.size) else {
            type.description.freeWeak(reference)
            throw Failure(.memory, "no memory for an entry of the pool '\(poolName)'")
        }
        let weak = memory.assumingMemoryBound(to: iv_pool_weak.self)
        weak.initialize(
            to: iv_pool_weak(
                references: 1, object: object, ended: 0, thread: record.pointee.thread, weak: reference,
                type: Unmanaged.passRetained(type).toOpaque()))
        return EntryWord(weak: weak)
    }

    /// Returns false when the instance is known to have ended. Runs no host code.
    @inline(__always)
    static func mayLive(_ weak: RawWeak) -> Bool { iv_load_u64(iv_pool_weak_ended(weak)) == 0 }

    /// Whether the instance is alive.
    func isAlive(_ weak: RawWeak) -> Bool {
        guard Self.mayLive(weak) else { return false }
        if ObjectTable.isClaimed(iv_load_u64(iv_pool_weak_object(weak))) { return true }
        guard let instance = load(weak) else { return false }
        type(of: weak).description.dispose(instance)
        return true
    }

    /// The object of the instance, with a lease: the known one, or a new one when its handles have ended. Nil when the
    /// instance has ended, too.
    func object(of weak: RawWeak) throws(Failure) -> UInt64? {
        let known = iv_load_u64(iv_pool_weak_object(weak))
        return ObjectTable.retain(known) ? known : try revive(weak)
    }

    /// The object of the instance, when the known object has ended.
    func revive(_ weak: RawWeak) throws(Failure) -> UInt64? {
        guard let instance = load(weak) else { return nil }
        let type = type(of: weak)
        let build: Reader
        do throws(Failure) { build = try container.beginBuild() } catch {
            type.description.dispose(instance)
            throw error
        }
        defer { Readers.endBuild(build) }
        // The new record owns the reference that was loaded.
        let object = try container.wrap(type, instance)
        ObjectTable.record(object)?.pointee.thread = weak.pointee.thread
        var known = iv_load_u64(iv_pool_weak_object(weak))
        while true {
            // Another thread was first: an instance has only one handle at a time.
            if ObjectTable.retain(known) {
                _ = ObjectTable.release(object)
                return known
            }
            if iv_cas_u64(iv_pool_weak_object(weak), &known, object) { return object }
        }
    }

    /// The instance, with a reference of its type's own; nil when it has ended.
    func instance(of weak: RawWeak, as type: ObjectType) throws(Failure) -> UnsafeMutableRawPointer? {
        let own = self.type(of: weak)
        guard own === type else { throw Failure(.type, "the object is a '\(own.name)', not a '\(type.name)'") }
        return type.description.loadWeak(weak.pointee.weak)
    }

    private func load(_ weak: RawWeak) -> UnsafeMutableRawPointer? {
        if let instance = type(of: weak).description.loadWeak(weak.pointee.weak) { return instance }
        iv_store_u64(iv_pool_weak_ended(weak), 1)
        return nil
    }

    private func type(of weak: RawWeak) -> ObjectType {
        Unmanaged<ObjectType>.fromOpaque(weak.pointee.type).takeUnretainedValue()
    }
}
