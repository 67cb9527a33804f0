internal import CPlatform
internal import Glibc
public import InvivoBase
public import InvivoWiring

/// The open pools of one runtime, which it holds until they are closed. Any thread.
///
/// Unchecked: the monitor guards all variables.
public final class Pools: @unchecked Sendable {
    private let container: Container
    private let monitor = Monitor()
    /// The pools by the index in their handles; nil for closed ones.
    private var pools: [Pool?] = []
    /// Former lists that readers may have seen.
    private var outgrown: [UnsafeMutablePointer<iv_pool_list>] = []
    private var isClosed = false

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
            try monitor.locked { () throws(Failure) -> Int in
                guard !isClosed else { throw Failure(.closed, "the runtime is closed") }
                if let name, index(of: name) != nil { throw Failure(.exists, "a pool '\(name)' is open already") }
                return try add(pool, destroy)
            })
    }

    /// The handle of a named pool.
    public func find(_ name: String) throws(Failure) -> UInt64 {
        if let found = monitor.locked({ index(of: name) }) { return handle(found) }
        if isClosing { throw Failure(.closed, "the runtime is closed") }
        let known = monitor.locked { pools.compactMap { $0?.isNamed == true ? $0?.name : nil } }
        throw Failure(.notFound, "no pool '\(name)' is open\(suggestion(for: name, among: known))")
    }

    /// Makes a pool's handle stale, and waits for the lookups that may still see the pool: they run no host code.
    public func close(_ pool: Pool) {
        let isOpen = monitor.locked { () -> Bool in
            guard let index = pools.firstIndex(where: { $0 === pool }) else { return false }
            pools[index] = nil
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
        let former = monitor.locked { () -> [Pool?] in
            isClosed = true
            if let list = iv_core_pools(container.core) { outgrown.append(list) }
            iv_core_set_pools(container.core, nil)
            for list in outgrown { free(list) }
            outgrown = []
            defer { pools = [] }
            return pools
        }
        withExtendedLifetime(former) {}
    }

    private var isClosing: Bool { container.monitor.locked { container.isClosing } }

    private func handle(_ index: Int) -> UInt64 {
        (HandleKind.pool.rawValue << 28 | container.tag) << 32 | UInt64(index)
    }

    // MARK: with the monitor

    private func index(of name: String) -> Int? {
        pools.firstIndex { $0?.isNamed == true && $0?.name.isSameName(as: name) == true }
    }

    /// Adds a pool to the list that readers see.
    private func add(_ pool: Pool, _ destroy: (() -> Void)?) throws(Failure) -> Int {
        let index = pools.count
        let list = try listWithRoom(for: index)
        pools.append(pool)
        iv_pool_put(list, UInt32(index), pool.begin(at: UInt32(index), destroy: destroy))
        return index
    }

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
            for place in 0..<UInt32(index) { iv_pool_put(larger, place, iv_pool_at(list, place)) }
            outgrown.append(list)
        }
        iv_core_set_pools(container.core, larger)
        return larger
    }
}
