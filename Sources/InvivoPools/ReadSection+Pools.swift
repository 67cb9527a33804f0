internal import CPlatform
internal import InvivoBase

typealias RawPool = UnsafeMutablePointer<iv_pool>

extension ReadSection {
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
}
