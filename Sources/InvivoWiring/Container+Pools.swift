internal import CPlatform
internal import Glibc
public import InvivoBase

extension Container {
    /// Opens a pool; the container holds it until it is closed.
    public func openPool(name: String?, maker: Pool.Maker?, destroy: (() -> Void)?) throws(Failure) -> UInt64 {
        if name?.isEmpty == true { throw Failure(.argument, "a pool's name is empty; NULL is for none") }
        let pool = try Pool(self, name: name, maker: maker, destroy: nil)
        let index = try monitor.locked { () throws(Failure) -> UInt64 in
            guard !isClosing else { throw Failure(.closed, "the runtime is closing") }
            if let name, pools.contains(where: { $0?.isNamed == true && $0?.name.isSameName(as: name) == true }) {
                throw Failure(.exists, "a pool '\(name)' is open already")
            }
            return try enter(pool)
        }
        pool.destroy = destroy
        return (HandleKind.pool.rawValue << 28 | tag) << 32 | index
    }

    /// Under the monitor: a place in the list that readers see.
    private func enter(_ pool: Pool) throws(Failure) -> UInt64 {
        let index = pools.count
        let list = iv_core_pools(core)
        if list == nil || Int(list?.pointee.count ?? 0) == index {
            let count = max(8, index * 2)
            guard
                let memory = calloc(
                    1, MemoryLayout<iv_pool_list>.size + count * MemoryLayout<UnsafeRawPointer>.stride)
            else { throw Failure(.memory, "no memory for a pool") }
            let larger = memory.assumingMemoryBound(to: iv_pool_list.self)
            larger.pointee.count = UInt64(count)
            for place in 0..<index {
                iv_pool_put(larger, UInt32(place), list.flatMap { iv_pool_at($0, UInt32(place)) })
            }
            iv_core_set_pools(core, larger)
            if let list { outgrownPools.append(UnsafeMutableRawPointer(list)) }
        }
        pool.index = index
        pools.append(pool)
        if let list = iv_core_pools(core) { iv_pool_put(list, UInt32(index), pool.raw) }
        return UInt64(index)
    }

    /// The handle of a named pool.
    public func pool(named name: String) throws(Failure) -> UInt64 {
        try monitor.locked { () throws(Failure) -> UInt64 in
            if let index = pools.firstIndex(where: { $0?.isNamed == true && $0?.name.isSameName(as: name) == true }) {
                return (HandleKind.pool.rawValue << 28 | tag) << 32 | UInt64(index)
            }
            if isClosing { throw Failure(.closed, "the runtime is closed") }
            let known = pools.compactMap { $0?.isNamed == true ? $0?.name : nil }
            throw Failure(.notFound, "no pool '\(name)' is open\(suggestion(for: name, among: known))")
        }
    }

    /// Makes a pool's handle stale and waits for the few reads that still see it: they run no host code.
    public func close(_ pool: Pool) {
        let isOpen = monitor.locked { () -> Bool in
            guard let index = pools.firstIndex(where: { $0 === pool }) else { return false }
            pools[index] = nil
            if let list = iv_core_pools(core) { iv_pool_put(list, UInt32(index), nil) }
            return true
        }
        guard isOpen else { return }
        let epoch = iv_add_u64(iv_core_pool_epoch(core), 1)
        Readers.barrier()
        while Readers.oldestPooling(core) <= epoch &+ 1 { sched_yield() }
    }

    /// After close, with no reader left: pools go before the types of what is in them.
    func forgetPools() {
        let former = monitor.locked { () -> ([Pool?], [UnsafeMutableRawPointer]) in
            defer {
                pools = []
                outgrownPools = []
            }
            if let list = iv_core_pools(core) { outgrownPools.append(UnsafeMutableRawPointer(list)) }
            iv_core_set_pools(core, nil)
            return (pools, outgrownPools)
        }
        for list in former.1 { free(list) }
    }

    // MARK: chains

    /// The chain of the calling thread; where it has none, one for an outermost build, of what makes an entry of a pool if that
    /// is what is being done.
    func chainForWaiting() -> Build {
        if let chain = currentChain { return chain }
        let thread = currentThread()
        let isNested = thread.pointee.around != nil || thread.pointee.making != nil
        let beneath = chainBeneath ?? (isNested ? chainAround : nil)
        if isNested { giveChains(thread) }
        return Build(
            self, graph: currentGraph(), parent: beneath == nil ? makingChain() : nil, outer: beneath,
            isApart: beneath != nil,
            beneath: thread.pointee.engine == Unmanaged.passUnretained(self).toOpaque()
                ? nil : Build.at(thread.build))
    }

    /// Entries of other runtimes that this thread makes get chains, so that others see what they wait for.
    private func giveChains(_ thread: ThreadState) {
        var next = thread.pointee.making
        while let making = next {
            next = making.pointee.outer
            guard making.pointee.chain == nil, let owner = making.pointee.container,
                owner != Unmanaged.passUnretained(self).toOpaque()
            else { continue }
            Unmanaged<Container>.fromOpaque(owner).takeUnretainedValue().giveChain(making, parent: nil)
        }
    }

    /// The chain of the entry that this thread makes, if it makes one.
    func makingChain() -> Build? {
        var innermost = iv_thread()!.pointee.making
        while let making = innermost, making.pointee.container != Unmanaged.passUnretained(self).toOpaque() {
            innermost = making.pointee.outer
        }
        guard let making = innermost else { return nil }
        if making.pointee.chain == nil { giveChain(making, parent: outerChain(making)) }
        return making.pointee.chain.map { Unmanaged<Build>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The chain of the entry in whose making this one is made.
    private func outerChain(_ making: UnsafeMutablePointer<iv_pool_making>) -> Build? {
        guard let outer = making.pointee.outer, outer.pointee.container == making.pointee.container else { return nil }
        if outer.pointee.chain == nil { giveChain(outer, parent: outerChain(outer)) }
        return outer.pointee.chain.map { Unmanaged<Build>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Gives what makes an entry a chain, for what it resolves and waits for.
    func giveChain(_ making: UnsafeMutablePointer<iv_pool_making>, parent: Build?) {
        let around = parent == nil ? chainAround : nil
        let chain = Build(
            self, graph: parent?.graph ?? currentGraph(), parent: parent, outer: around, isApart: around != nil,
            beneath: around == nil ? nil : Build.at(currentThread().build))
        monitor.locked {
            making.pointee.chain = Unmanaged.passRetained(chain).toOpaque()
            if let ticket = making.pointee.ticket.map({ Unmanaged<Ticket>.fromOpaque($0).takeUnretainedValue() }) {
                ticket.chain = chain
                WaitsAcross.known(chain.root, for: ticket)
            }
        }
    }
}
