public import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase

/// A weak pool: finds what is alive by a key and keeps nothing alive.
///
/// Reading takes no lock: a reader says in its slot (`pooling`) since when it reads, and what is taken away is freed when nobody
/// reads since before. Writers of one shard exclude each other for the time of a few loads and stores, or of a new table. No
/// host code runs under that lock.
public final class Pool: @unchecked Sendable {
    public typealias Make =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, UnsafeMutablePointer<invivo_object>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status

    /// How what is missing comes about.
    public struct Maker: @unchecked Sendable {
        let function: Make
        let userData: UnsafeMutableRawPointer?
        public init(_ function: Make, _ userData: UnsafeMutableRawPointer?) {
            self.function = function
            self.userData = userData
        }
    }

    public let container: Container
    /// For messages; never empty.
    public let name: String
    /// What other languages find it by.
    public let isNamed: Bool
    let maker: Maker?
    /// Set once, before anybody else has the pool.
    var destroy: (() -> Void)?
    let raw: UnsafeMutablePointer<iv_pool>
    /// Its place in the container's list; set once, before anybody else has the pool.
    var index = 0
    /// Taken away and perhaps still read; see Pool+Retire.
    let retired = Retired()

    /// When this throws, `destroy` is not called.
    init(_ container: Container, name: String?, maker: Maker?, destroy: (() -> Void)?) throws(Failure) {
        self.container = container
        self.name = name ?? "pool"
        isNamed = name != nil
        self.maker = maker
        self.destroy = destroy
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_pool())
        var shards: UnsafeMutableRawPointer?
        let bytes = MemoryLayout<iv_pool_shard>.stride * Int(IV_POOL_SHARDS)
        guard posix_memalign(&shards, 64, bytes) == 0, let shards else {
            raw.deallocate()
            throw Failure(.memory, "no memory for a pool")
        }
        memset(shards, 0, bytes)
        raw.pointee.shards = shards.assumingMemoryBound(to: iv_pool_shard.self)
        for index in 0..<UInt64(IV_POOL_SHARDS) { iv_pool_shard_begin(shard(index)) }
        // Whoever chooses the keys must not know where they go.
        var generator = SystemRandomNumberGenerator()
        raw.pointee.seed = generator.next()
        raw.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Nobody reads or makes: the container, and each call, hold it.
    deinit {
        for index in 0..<UInt64(IV_POOL_SHARDS) {
            if let table = iv_pool_table_of(shard(index)) {
                PoolTable.forEach(table) { slot in
                    if let weak = PoolTable.weak(slot.pointee.value) { drop(weak) }
                }
                free(table)
            }
            iv_pool_shard_end(shard(index))
        }
        retired.freeAll()
        Glibc.free(raw.pointee.shards)
        raw.deallocate()
        if let destroy { ending(destroy) }
    }

    func shard(_ index: UInt64) -> PoolShard { raw.pointee.shards + Int(truncatingIfNeeded: index) }

    private func free(_ table: PoolTable.Table) {
        var text = table.pointee.texts
        while let gone = text {
            text = gone.pointee.next
            Glibc.free(gone)
        }
        Glibc.free(table)
    }

    // MARK: reading

    /// What looking a key up without a lock finds.
    enum Found {
        case object(UInt64)
        /// Its weak reference, which the caller holds.
        case weak(PoolWeak)
        case nothing
        /// The key is not simple, the handle is bad, or the runtime is closed.
        case unclear
    }

    /// Enters a reading section. Paired with `leave`.
    @inline(__always)
    static func enter(_ bits: UInt64) -> (raw: UnsafeMutablePointer<iv_pool>, reader: Reader, core: Core)? {
        let upper = bits >> 32
        guard upper >> 28 == 15, let core = iv_core_at(UInt32(truncatingIfNeeded: upper >> 16) & 0xfff),
            !Readers.isParents(core), let reader = Readers.enter(core, tag: upper & 0xfff_ffff)
        else { return nil }
        iv_store_u64(iv_reader_pooling(reader), iv_load_u64(iv_core_pool_epoch(core)) &+ 1)
        iv_compiler_barrier()
        guard let list = iv_core_pools(core), bits & 0xffff_ffff < list.pointee.count,
            let raw = iv_pool_at(list, UInt32(truncatingIfNeeded: bits))
        else {
            leave(reader)
            return nil
        }
        return (raw, reader, core)
    }

    @inline(__always)
    static func leave(_ reader: Reader) {
        iv_store_u64(iv_reader_pooling(reader), 0)
        Readers.leave(reader)
    }

    /// In a reading section. Without `holdsWeak` an entry whose instance must be asked for is unclear.
    @inline(__always)
    static func read(_ raw: UnsafeMutablePointer<iv_pool>, _ key: PoolKey, holdsWeak: Bool) -> Found {
        guard let table = iv_pool_table_of(raw.pointee.shards + Int(truncatingIfNeeded: key.shard)),
            let slot = PoolTable.find(table, key)
        else { return .nothing }
        let value = iv_load_u64(iv_pool_slot_value(slot))
        if PoolTable.isObject(value) { return ObjectTable.retain(value) ? .object(value) : .nothing }
        return readWeak(value, holdsWeak)
    }

    @inline(never)
    private static func readWeak(_ value: UInt64, _ holdsWeak: Bool) -> Found {
        guard let weak = PoolTable.weak(value) else { return .nothing }
        let known = iv_load_u64(iv_pool_weak_object(weak))
        if ObjectTable.retain(known) { return .object(known) }
        guard holdsWeak else { return .unclear }
        return hold(weak) ? .weak(weak) : .nothing
    }

    /// The pool of a handle.
    public static func find(_ bits: UInt64) throws(Failure) -> Pool {
        guard let (raw, reader, _) = enter(bits) else {
            guard bits >> 60 == 15 else { throw .badHandle(bits, .pool) }
            _ = try Container.find(HandleKind.runtime.rawValue << 60 | bits & 0x0fff_ffff_0000_0000, .runtime)
            throw Failure(.handle, "the pool is closed")
        }
        defer { leave(reader) }
        guard let owner = raw.pointee.owner else { throw Failure(.handle, "the pool is closed") }
        return Unmanaged<Pool>.fromOpaque(owner).takeUnretainedValue()
    }

    /// The living object of a key with one lease; nil when there is none.
    public func peek(_ value: UnsafePointer<invivo_value>) throws(Failure) -> UInt64? {
        try PoolKey.with(value, seed: raw.pointee.seed) { (key) throws(Failure) in try self.peek(key) }
    }

    func peek(_ key: PoolKey) throws(Failure) -> UInt64? {
        switch try read(key) {
        case .object(let object): return object
        case .weak(let weak):
            defer { drop(weak) }
            return try revive(weak)
        case .nothing, .unclear: return nil
        }
    }

    /// In a section of its own. The caller holds the pool; the runtime may be closed.
    func read(_ key: PoolKey) throws(Failure) -> Found {
        guard !Readers.isParents(container.core), let reader = Readers.enter(container.core, tag: container.tag) else {
            _ = try Container.find(container.handle, .runtime)
            throw Failure(.closed, "the runtime is closed")
        }
        iv_store_u64(iv_reader_pooling(reader), iv_load_u64(iv_core_pool_epoch(container.core)) &+ 1)
        iv_compiler_barrier()
        defer { Self.leave(reader) }
        return Self.read(raw, key, holdsWeak: true)
    }
}
