internal import CPlatform

/// A reading section of the calling thread. Memory that is removed from a pool or a context while it is open is not freed before it
/// ends (RetiredMemory).
public enum ReadSection {
    /// In `pooling` of a reader: the section ends with the view of the thread.
    private static let isOfView: UInt64 = 1 << 63

    /// Begins a section in a runtime; nil when `tag` no longer names an open one, or in a forked child. Paired with `end`.
    @inline(__always)
    public static func begin(_ core: Core, tag: UInt64) -> Reader? {
        guard !Readers.isParents(core), let reader = Readers.enter(core, tag: tag) else { return nil }
        open(reader, core)
        return reader
    }

    @inline(__always)
    public static func end(_ reader: Reader) {
        if iv_load_u64(iv_reader_pooling(reader)) & isOfView == 0 { iv_store_u64(iv_reader_pooling(reader), 0) }
        Readers.leave(reader)
    }

    /// Begins a section that ends with the outermost view of the thread, which is open.
    public static func beginForView(_ reader: Reader, _ core: Core) {
        open(reader, core)
        iv_store_u64(iv_reader_pooling(reader), iv_load_u64(iv_reader_pooling(reader)) | isOfView)
    }

    @inline(__always)
    private static func open(_ reader: Reader, _ core: Core) {
        guard iv_load_u64(iv_reader_pooling(reader)) == 0 else { return }
        iv_store_u64(iv_reader_pooling(reader), iv_load_u64(iv_core_pool_epoch(core)) &+ 1)
        iv_compiler_barrier()
    }

    /// The epoch of the oldest open section, plus 1; `.max` without one. Covers only memory that was removed before the last `barrier`.
    public static func oldest(_ core: Core) -> UInt64 {
        var oldest = UInt64.max
        var slot = iv_readers(core)
        while let reader = slot {
            let since = iv_load_u64(iv_reader_pooling(reader)) & ~isOfView
            if since != 0 { oldest = min(oldest, since) }
            slot = reader.pointee.next
        }
        return oldest
    }
}
