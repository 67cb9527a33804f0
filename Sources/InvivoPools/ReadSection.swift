internal import CPlatform
internal import InvivoBase

typealias RawPool = UnsafeMutablePointer<iv_pool>

/// A reading section of the calling thread. Memory that is removed from a pool while it is open is not freed before it ends.
enum ReadSection {
    /// Begins a section in a runtime; nil when `tag` no longer names an open one, or in a forked child. Paired with `end`.
    @inline(__always)
    static func begin(_ core: Core, tag: UInt64) -> Reader? {
        guard !Readers.isParents(core), let reader = Readers.enter(core, tag: tag) else { return nil }
        iv_store_u64(iv_reader_pooling(reader), iv_load_u64(iv_core_pool_epoch(core)) &+ 1)
        iv_compiler_barrier()
        return reader
    }

    /// Begins a section in the runtime of a pool's handle; nil when the pool or the runtime is closed.
    @inline(__always)
    static func begin(pool bits: UInt64) -> (raw: RawPool, reader: Reader)? {
        let handle = HandleBits(bits)
        guard handle.kind == HandleBits.poolKind, let core = handle.core, let reader = begin(core, tag: handle.tag)
        else { return nil }
        guard let raw = pool(at: handle.index, of: core) else {
            end(reader)
            return nil
        }
        return (raw, reader)
    }

    /// The open pool with an index in its runtime. In a section.
    @inline(__always)
    static func pool(at index: UInt32, of core: Core) -> RawPool? {
        guard let list = iv_core_pools(core), UInt64(index) < list.pointee.count else { return nil }
        return iv_pool_at(list, index)
    }

    @inline(__always)
    static func end(_ reader: Reader) {
        iv_store_u64(iv_reader_pooling(reader), 0)
        Readers.leave(reader)
    }
}
