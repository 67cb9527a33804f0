internal import CPlatform
internal import Glibc
public import InvivoBase
public import InvivoWiring

/// The open pools of one runtime, which it holds until they are closed. Any thread.
public final class Pools: Sendable {
    private struct State {
        /// The pools by the index in their handles; nil for closed ones.
        var pools: [Pool?] = []
        var isClosed = false

        func index(of name: String) -> Int? {
            pools.firstIndex { $0?.isNamed == true && $0?.name.isSameName(as: name) == true }
        }
    }
    private let container: Container
    private let state = Guarded(State(), by: Monitor())

    public init(_ container: Container) {
        self.container = container
        iv_core_set_object_ended(container.core) { Pool.objectEnded($0) }
    }

    // MARK: one pool

    /// Opens a pool, and returns its handle. `destroy` is called when the pool has ended, and not when opening it fails.
    public func open(name: String?, factory: Pool.Factory?, destroy: (() -> Void)?) throws(Failure) -> UInt64 {
        if name?.isEmpty == true { throw Failure(.argument, "a pool's name is empty; NULL is for none") }
        let pool = try Pool(container, name: name, factory: factory)
        guard !isClosing else { throw Failure(.closed, "the runtime is closing") }
        return handle(
            try state.locked { state throws(Failure) -> Int in
                guard !state.isClosed else { throw Failure(.closed, "the runtime is closed") }
                if let name, state.index(of: name) != nil {
                    throw Failure(.exists, "a pool '\(name)' is open already")
                }
                let index = state.pools.count
                let list = try listWithRoom(for: index)
                state.pools.append(pool)
                iv_pool_put(list, UInt32(index), pool.begin(at: UInt32(index), destroy: destroy))
                return index
            })
    }

    /// The handle of a named pool.
    public func find(_ name: String) throws(Failure) -> UInt64 {
        if let found = state.locked({ $0.index(of: name) }) { return handle(found) }
        if isClosing { throw Failure(.closed, "the runtime is closed") }
        let known = state.locked { $0.pools.compactMap { $0?.isNamed == true ? $0?.name : nil } }
        throw Failure(.notFound, "no pool '\(name)' is open\(suggestion(for: name, among: known))")
    }

    /// Makes a pool's handle stale, and waits for the lookups that may still see the pool: they run no host code.
    public func close(_ pool: Pool) {
        let isOpen = state.locked { state -> Bool in
            guard let index = state.pools.firstIndex(where: { $0 === pool }) else { return false }
            state.pools[index] = nil
            if let list = iv_core_pools(container.core) { iv_pool_put(list, UInt32(index), nil) }
            return true
        }
        guard isOpen else { return }
        let epochs = ReadEpochs(container.core)
        let epoch = epochs.advance()
        epochs.barrier()
        while epochs.oldestOpen() <= epoch &+ 1 { sched_yield() }
    }

    /// Ends all pools. No reader is left in the runtime.
    public func closeAll() {
        let former = state.locked { state -> [Pool?] in
            state.isClosed = true
            var list = iv_core_pools(container.core)
            iv_core_set_pools(container.core, nil)
            while let next = list {
                list = next.pointee.former
                free(next)
            }
            defer { state.pools = [] }
            return state.pools
        }
        withExtendedLifetime(former) {}
    }

    private var isClosing: Bool { container.monitor.locked { container.isClosing } }

    private func handle(_ index: Int) -> UInt64 {
        HandleBits(kind: HandleBits.poolKind, tag: container.tag, index: UInt32(index)).bits
    }

    /// The list that readers see, or a larger copy of it. Called with the monitor.
    private func listWithRoom(for index: Int) throws(Failure) -> UnsafeMutablePointer<iv_pool_list> {
        let list = iv_core_pools(container.core)
        if let list, list.pointee.count > index { return list }
        let count = max(8, index * 2)
        guard
            let memory = calloc(1, MemoryLayout<iv_pool_list>.size + count * MemoryLayout<UnsafeRawPointer>.stride)
        else { throw Failure(.memory, "no memory for a pool") }
        let larger = memory.assumingMemoryBound(to: iv_pool_list.self)
        larger.pointee.count = UInt64(count)
        if let list {
            for entry in 0..<UInt32(index) { iv_pool_put(larger, entry, iv_pool_at(list, entry)) }
            larger.pointee.former = list
        }
        iv_core_set_pools(container.core, larger)
        return larger
    }
}
