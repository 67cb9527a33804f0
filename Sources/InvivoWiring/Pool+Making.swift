public import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase
internal import InvivoObjects

/// What those wait for who ask for an entry that is being made. Guarded by the container's monitor.
final class Ticket: @unchecked Sendable {
    /// For messages.
    let name: String
    /// The chain of who makes it, once that has one: as long as it has none it waits for nobody.
    var chain: Build?
    var isDone = false
    /// Of a making that failed; nil also when it gave way to another one.
    var failure: Failure?

    init(name: String) { self.name = name }
}

extension Pool {
    /// The living object of a key, or a new one; one lease is the caller's. Nil when there is none and nothing makes one.
    public func get(_ value: UnsafePointer<invivo_value>, _ given: Maker?) throws(Failure) -> UInt64? {
        try PoolKey.with(value, seed: raw.pointee.seed) { (key) throws(Failure) in
            if let object = try self.peek(key) { return object }
            guard let maker = given ?? self.maker else { return nil }
            let build = try self.container.beginBuild()
            defer { Readers.endBuild(build) }
            return try self.make(key, value, maker)
        }
    }

    func make(_ key: PoolKey, _ value: UnsafePointer<invivo_value>, _ maker: Maker) throws(Failure) -> UInt64 {
        let outcome = withUnsafeTemporaryAllocation(of: iv_pool_making.self, capacity: 1) { memory in
            Result { () throws(Failure) -> UInt64 in
                let making = memory.baseAddress.unsafelyUnwrapped
                making.initialize(to: iv_pool_making())
                while true {
                    switch try claim(key, for: making) {
                    case .found(let object): return object
                    case .claimed: return try make(key, value, maker, making)
                    case .made(let seen): try awaitMaking(key, seen, value)
                    case .again: continue
                    }
                }
            }
        }
        return try outcome.get()
    }

    private enum Claim {
        case found(UInt64)
        case claimed
        /// Somebody else makes it: what the entry holds.
        case made(UInt64)
        case again
    }

    /// Finds a living object, or enters that `making` makes it.
    private func claim(_ key: PoolKey, for making: UnsafeMutablePointer<iv_pool_making>) throws(Failure) -> Claim {
        let shard = shard(key.shard)
        iv_pool_lock(shard)
        // Mostly there is a place, with nobody or with an object that has ended.
        guard let table = iv_pool_table_of(shard), let slot = PoolTable.find(table, key) ?? PoolTable.room(table, key),
            PoolTable.isObject(slot.pointee.value) || slot.pointee.value == 0
        else {
            iv_pool_unlock(shard)
            return try claimOtherwise(key, for: making)
        }
        let value = slot.pointee.value
        if value != 0 {
            if ObjectTable.retain(value) {
                iv_pool_unlock(shard)
                return .found(value)
            }
            uncount(key)
        }
        iv_store_u64(iv_pool_slot_value(slot), 0xe << 60 | UInt64(UInt(bitPattern: making)))
        iv_pool_unlock(shard)
        return .claimed
    }

    /// With the shard's lock: what ended in this place was counted, and is none of those that are over any more.
    @inline(__always)
    private func uncount(_ key: PoolKey) {
        if Int64(bitPattern: iv_load_u64(iv_pool_ended(raw, key.shard))) > 0 {
            _ = iv_sub_u64(iv_pool_ended(raw, key.shard), 1)
        }
    }

    @inline(never)
    private func claimOtherwise(_ key: PoolKey, for making: UnsafeMutablePointer<iv_pool_making>) throws(Failure)
        -> Claim
    {
        var owed: [PoolWeak] = []
        let slot = try locked(key, &owed)
        defer { for weak in owed { drop(weak) } }
        let value = slot.pointee.value
        if PoolTable.isObject(value), ObjectTable.retain(value) {
            unlock(key)
            return .found(value)
        }
        if PoolTable.making(value) != nil {
            unlock(key)
            return .made(value)
        }
        if let weak = PoolTable.weak(value) {
            if iv_load_u64(iv_pool_weak_ended(weak)) == 0, Self.hold(weak) {
                unlock(key)
                defer { drop(weak) }
                return try revive(weak).map { .found($0) } ?? .again
            }
            owed.append(weak)
        }
        if PoolTable.isObject(value) { uncount(key) }
        store(slot, key, 0xe << 60 | UInt64(UInt(bitPattern: making)))
        unlock(key)
        return .claimed
    }

    /// Waits for what was seen being made.
    func awaitMaking(_ key: PoolKey, _ seen: UInt64, _ value: UnsafePointer<invivo_value>) throws(Failure) {
        let name = "\(name)[\((try? Value(borrowing: value.pointee))?.description ?? "?")]"
        if let ticket = ticket(key, seen, name) { try wait(for: ticket) }
    }

    /// The ticket of an entry that was seen being made; nil when it is not any more.
    private func ticket(_ key: PoolKey, _ seen: UInt64, _ name: String) -> Ticket? {
        container.monitor.locked {
            iv_pool_lock(shard(key.shard))
            defer { iv_pool_unlock(shard(key.shard)) }
            // The maker takes the entry out under this lock before its struct ends.
            guard let table = iv_pool_table_of(shard(key.shard)), let slot = PoolTable.find(table, key),
                slot.pointee.value == seen, let making = PoolTable.making(seen)
            else { return nil }
            if let known = making.pointee.ticket { return Unmanaged<Ticket>.fromOpaque(known).takeUnretainedValue() }
            let ticket = Ticket(name: name)
            ticket.chain = making.pointee.chain.map { Unmanaged<Build>.fromOpaque($0).takeUnretainedValue() }
            making.pointee.ticket = Unmanaged.passRetained(ticket).toOpaque()
            return ticket
        }
    }

    /// Waits until it is made or has failed, serving the calling thread's domain meanwhile.
    private func wait(for ticket: Ticket) throws(Failure) {
        let chain = container.chainForWaiting().root
        let thread = currentThread().identity
        let standing = Standing(chain)
        var wait = LongWait()
        defer { wait.end(container.domains) }
        container.monitor.lock()
        while !ticket.isDone {
            // What starts an object that the maker made waits for the maker.
            let isOwn = ticket.chain.map { chain.isInside($0.root) } ?? false
            let circle = ticket.chain.flatMap {
                container.waits.cycle(from: $0.root, to: chain, on: thread, ticket.name)
            }
            var way = isOwn ? [ticket.name] : circle?.path
            if way == nil {
                way = WaitsAcross.begin(standing, for: ticket, ticket.name, of: ticket.chain?.root)
            }
            if let way {
                container.monitor.unlock()
                let path = (chain.frames.map(\.recipe.key) + way).joined(separator: " -> ")
                throw Failure(.cycle, "the wiring goes round in a circle: \(path)", path: ticket.name)
            }
            chain.waitingOn = .ticket(ticket)
            container.waits.begin(chain, thread)
            wait.once(container.domains, for: ticket.name, of: ticket.chain?.root)
            container.waits.end(chain, thread)
            WaitsAcross.end(standing, for: ticket)
            chain.waitingOn = nil
        }
        let failure = ticket.failure
        container.monitor.unlock()
        if let failure { throw failure }
    }

    /// Runs the maker, without locks, and enters what it answers.
    private func make(
        _ key: PoolKey, _ value: UnsafePointer<invivo_value>, _ maker: Maker,
        _ making: UnsafeMutablePointer<iv_pool_making>
    ) throws(Failure) -> UInt64 {
        let thread = iv_thread()!
        making.pointee.container = Unmanaged.passUnretained(container).toOpaque()
        making.pointee.outer = thread.pointee.making
        // What it resolves are graphs of their own. A chain for them is made when one is needed, but inside of one at once.
        if !thread.build.isNone {
            container.giveChain(making, parent: container.currentChain)
            making.pointee.chain.map { Unmanaged<Build>.fromOpaque($0).takeUnretainedValue().pool = name }
        }
        thread.pointee.making = making
        var made = invivo_object()
        var error: OpaquePointer?
        let status = thread.inside(ThreadBuild(object: making.pointee.chain), engine: making.pointee.container) {
            maker.function(maker.userData, value, &made, &error)
        }
        thread.pointee.making = making.pointee.outer

        do throws(Failure) {
            if status != 0 {
                if made.bits != 0 { _ = ObjectTable.release(made.bits) }
                throw Failure(status: status, takingOver: error, from: "what makes an entry of the pool '\(name)'")
            }
            ErrorBox.release(error)
            let entry = try checked(made.bits)
            watch(entry, key)
            let former = enter(entry, key, making)
            end(making, nil)
            if let former { drop(former) }
            return made.bits
        } catch {
            _ = enter(0, key, making)
            end(making, error)
            throw error
        }
    }

    /// What the entry of an object that a maker answered holds.
    private func checked(_ object: UInt64) throws(Failure) -> UInt64 {
        guard object != 0 else {
            throw Failure(.null, "what makes an entry of the pool '\(name)' answered success without an object")
        }
        guard let record = ObjectTable.record(object) else {
            throw Failure(.handle, "what makes an entry of the pool '\(name)' answered a stale object")
        }
        guard record.pointee.type.pointee.container == Unmanaged.passUnretained(container).toOpaque() else {
            _ = ObjectTable.release(object)
            throw Failure(.handle, "what makes an entry of the pool '\(name)' answered an object of another runtime")
        }
        if record.pointee.type.pointee.has_weak == 0 { return object }
        do throws(Failure) { return try self.value(for: object) } catch {
            _ = ObjectTable.release(object)
            throw error
        }
    }

    /// Puts what was made in its entry, unless that was forgotten meanwhile; answers what is not needed then.
    private func enter(_ entry: UInt64, _ key: PoolKey, _ making: UnsafeMutablePointer<iv_pool_making>) -> PoolWeak? {
        iv_pool_lock(shard(key.shard))
        defer { iv_pool_unlock(shard(key.shard)) }
        guard let table = iv_pool_table_of(shard(key.shard)), let slot = PoolTable.find(table, key),
            PoolTable.making(slot.pointee.value) == making
        else { return PoolTable.weak(entry) }
        store(slot, key, entry)
        return nil
    }

    /// Nobody new finds the making any more: those who wait hear of its end.
    private func end(_ making: UnsafeMutablePointer<iv_pool_making>, _ failure: Failure?) {
        if let known = making.pointee.ticket {
            let ticket = Unmanaged<Ticket>.fromOpaque(known).takeRetainedValue()
            container.monitor.locked {
                ticket.isDone = true
                WaitsAcross.over(ticket)
                // Who waited for a making that gave way makes it himself.
                ticket.failure = failure?.code == .cycle ? nil : failure
                ticket.chain = nil
                container.monitor.broadcast()
            }
            making.pointee.ticket = nil
        }
        if let chain = making.pointee.chain {
            Unmanaged<Build>.fromOpaque(chain).release()
            making.pointee.chain = nil
        }
    }

    // MARK: entries, by who holds the shard's lock

    /// The slot of a key, with its shard locked; the key is entered when it is new. `owed` gets weak references that the caller
    /// drops when it has unlocked.
    func locked(_ key: PoolKey, _ owed: inout [PoolWeak]) throws(Failure) -> PoolSlot {
        let shard = shard(key.shard)
        var isSwept = false
        iv_pool_lock(shard)
        while true {
            if let table = iv_pool_table_of(shard) {
                if let slot = PoolTable.find(table, key) { return slot }
                if table.pointee.used < table.pointee.limit {
                    guard let slot = PoolTable.append(table, key) else { break }
                    return slot
                }
                // Whether weak references still lead somewhere is asked without the lock.
                if table.pointee.weak > 0 && !isSwept {
                    isSwept = true
                    iv_pool_unlock(shard)
                    sweepWeak(key.shard)
                    iv_pool_lock(shard)
                    continue
                }
                guard rebuild(key.shard, table, &owed) else { break }
            } else {
                guard let table = PoolTable.make(for: 2) else { break }
                iv_pool_publish(shard, table)
            }
        }
        iv_pool_unlock(shard)
        throw Failure(.memory, "no memory for an entry of the pool '\(name)'")
    }

    func unlock(_ key: PoolKey) { iv_pool_unlock(shard(key.shard)) }

    func store(_ slot: PoolSlot, _ key: PoolKey, _ value: UInt64) {
        let former = slot.pointee.value
        if former != 0, let table = iv_pool_table_of(shard(key.shard)) {
            if PoolTable.weak(former) != nil { table.pointee.weak -= 1 }
        }
        if PoolTable.weak(value) != nil { iv_pool_table_of(shard(key.shard))?.pointee.weak += 1 }
        iv_store_u64(iv_pool_slot_value(slot), value)
    }

    /// Has an object's end counted where its entry is. Without the lock; the caller has a lease.
    func watch(_ entry: UInt64, _ key: PoolKey) {
        if PoolTable.isObject(entry) { ObjectTable.tellEnd(of: entry, to: UInt64(index) << 6 | key.shard) }
    }

    /// An object that an entry led to has ended: `owner` is where it was. When half of a shard may be over it is looked through.
    static func ended(_ owner: UInt64) {
        let place = owner >> 28 & 0x7_ffff_ffff
        let shard = place & 63
        guard let (raw, reader, _) = enter(15 << 60 | (owner & 0xfff_ffff) << 32 | place >> 6) else { return }
        let count = iv_add_u64(iv_pool_ended(raw, shard), 1)
        var pool: Pool?
        if count & 63 == 63, let table = iv_pool_table_of(raw.pointee.shards + Int(shard)),
            count > UInt64(table.pointee.limit) / 2
        {
            pool = raw.pointee.owner.map { Unmanaged<Pool>.fromOpaque($0).takeUnretainedValue() }
        }
        leave(reader)
        pool?.sweep(shard)
    }

    /// Lets go of what is over in a shard, unless somebody works on it: then it is looked through another time.
    private func sweep(_ index: UInt64) {
        guard iv_pool_try_lock(shard(index)) else { return }
        var owed: [PoolWeak] = []
        if let table = iv_pool_table_of(shard(index)) { _ = rebuild(index, table, &owed) }
        iv_pool_unlock(shard(index))
        for weak in owed { drop(weak) }
    }

    /// A table without what is over, and with room. False without memory.
    func rebuild(_ index: UInt64, _ table: PoolTable.Table, _ owed: inout [PoolWeak]) -> Bool {
        guard let fresh = PoolTable.rebuilt(table, dropped: &owed) else { return false }
        iv_pool_publish(shard(index), fresh)
        iv_store_u64(iv_pool_ended(raw, index), 0)
        retire(table)
        return true
    }

    /// Finds out which weak references lead nowhere. Runs host code: the caller has no lock.
    func sweepWeak(_ shardIndex: UInt64) {
        var asked: [PoolWeak] = []
        iv_pool_lock(shard(shardIndex))
        if let table = iv_pool_table_of(shard(shardIndex)) {
            PoolTable.forEach(table) { slot in
                if let weak = PoolTable.weak(slot.pointee.value), Self.hold(weak) { asked.append(weak) }
            }
        }
        iv_pool_unlock(shard(shardIndex))
        for weak in asked {
            _ = isAlive(weak)
            drop(weak)
        }
    }
}
