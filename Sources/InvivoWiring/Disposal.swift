internal import CInvivo
internal import CPlatform
internal import Glibc
internal import InvivoBase
internal import InvivoContexts
internal import InvivoGraph
internal import InvivoObjects

/// The disposal of objects: they are stopped and freed, with the objects that only they held.
public enum Disposal {
    /// After a deferred close: the object keeps its type alive.
    public static func keepType(of object: UInt64) {
        guard ObjectTable.retain(object), let record = ObjectTable.record(object) else { return }
        ObjectExtra.of(record).keptType = ObjectType.of(record)
        _ = ObjectTable.release(object)
    }

    /// Called once when an object has lost its last claim: disposes of it, in its domain. Under a monitor it is
    /// postponed.
    static func dispose(_ record: Record) {
        // In a forked child nothing of the parent's ends: no callback runs, and its memory is left alone.
        guard iv_forks() == 0 || ObjectType.of(record).container.home.isHere else { return }
        let thread = iv_thread()!
        guard thread.pointee.locks == 0 else {
            let type = ObjectType.of(record)
            return thread.afterUnlocking { withExtendedLifetime(type) { dispose(record) } }
        }
        // Objects that were created later are already queued, and end first.
        guard isQuick(record, thread), thread.pointee.ending.first == nil else { return disposeSlowly(record) }
        end(record, thread)
        if iv_record_holding(record) != 0 { return endInBlock(record, thread) }
        let slot = record.pointee.slot
        Glibc.free(record)
        ObjectTable.close(slot)
    }

    /// Most objects: nothing but memory and one function, and this thread may call it.
    @inline(__always)
    private static func isQuick(_ record: Record, _ thread: ThreadState) -> Bool {
        let type = record.pointee.type.unsafelyUnwrapped
        let holding = iv_record_holding(record)
        return iv_load_pointer(iv_record_extra(record)) == nil && type.pointee.has_stop == 0
            && (holding == 0 || holding & 1 != 0)
            && (record.pointee.thread == 0 || record.pointee.thread == thread.pointee.id
                || record.pointee.thread != type.pointee.thread)
    }

    @inline(__always)
    private static func end(_ record: Record, _ thread: ThreadState) {
        let type = record.pointee.type.unsafelyUnwrapped
        guard let end = type.pointee.end, let instance = record.pointee.instance else { return }
        let formerEngine = thread.pointee.engine
        let formerBuild = thread.build
        let isOwn = formerEngine == type.pointee.container
        guard isOwn || formerBuild.isNone else {
            return thread.inside(.none, engine: type.pointee.container) { end(instance, type.pointee.user_data) }
        }
        // Its resolves form an object graph of their own, as in `apart`.
        thread.build = isOwn ? formerBuild.detached : .none
        thread.pointee.engine = type.pointee.container
        end(instance, type.pointee.user_data)
        thread.pointee.engine = formerEngine
        thread.build = formerBuild
    }

    /// Notes the end of objects of a block. The last one frees its memory.
    @inline(__always)
    static func endOfBlock(_ block: UnsafeMutablePointer<iv_block>, _ gone: UInt64) {
        if iv_sub_u64(iv_block_live(block), gone) == gone { Glibc.free(block) }
    }

    /// Releases the objects that the initializer received, after the end of their user, the last first.
    private static func releaseEdges(_ record: Record) {
        guard let edges = iv_record_edges(record, record.pointee.type.pointee.size) else { return }
        for index in (0..<Int(iv_record_edge_count(record))).reversed() {
            if let last = ObjectTable.giveBack(edges[index]) { dispose(last) }
        }
    }

    /// Releases all injected values, the last first: those of steps, then those of the initializer, then earlier ones.
    private static func releaseValues(of extra: ObjectExtra, _ record: Record) {
        while var leases = extra.injectedProperties.popLast().map(leases) { letGo(of: &leases) }
        if iv_record_edge_count(record) != 0 { releaseEdges(record) }
        while var leases = extra.injected.popLast().map(leases) { letGo(of: &leases) }
    }

    /// The objects in a value, in its order. They keep these when the value is gone.
    private static func leases(of value: Value) -> [ObjectLease] {
        var found: [ObjectLease] = []
        value.forEachLease { found.append($0) }
        return found
    }

    private static func letGo(of leases: inout [ObjectLease]) {
        while leases.popLast() != nil {}
    }

    /// Ends an object of a block: releases its injected objects and its slot. Then ends each of these objects whose last claim
    /// this was. At any time one of them is dying or still claimed, so that waiting for disposals includes all of them. If a
    /// whole graph ends, one atomic operation on its outermost object stands for all.
    private static func endInBlock(_ first: Record, _ thread: ThreadState) {
        let block = iv_record_block(first).unsafelyUnwrapped
        let former = (thread.pointee.block, thread.pointee.block_gone)
        if former.0 != block {
            thread.pointee.block = block
            thread.pointee.block_gone = 0
        }
        var record = first
        while true {
            var next: Record?
            let count = Int(iv_record_edge_count(record))
            if count > 0, let edges = iv_record_edges(record, record.pointee.type.pointee.size) {
                for index in (0..<count).reversed() {
                    guard let last = ObjectTable.giveBack(edges[index]) else { continue }
                    if let next { dispose(next) }
                    next = last
                }
            }
            thread.pointee.block_gone &+= 1
            ObjectTable.close(record.pointee.slot)
            guard let next else { break }
            guard isQuick(next, thread), iv_record_in_block(next) != 0, iv_record_block(next) == block else {
                dispose(next)
                break
            }
            end(next, thread)
            record = next
        }
        guard former.0 != block else { return }
        let gone = thread.pointee.block_gone
        thread.pointee.block = former.0
        thread.pointee.block_gone = former.1
        endOfBlock(block, gone)
    }

    @inline(never)
    private static func disposeSlowly(_ record: Record) {
        let type = ObjectType.of(record)
        let container = type.container
        // An object to which its language still refers is not stopped yet.
        if container.retiredObjects.linger(record) { return }
        let object = ObjectTable.handle(record)
        // A prototype that changed hands is disposed of by the thread that releases it last.
        if let domain = type.domain, record.pointee.thread == type.raw.pointee.thread, !domain.isCurrent,
            container.pendingDisposals.add(object)
        {
            container.domains.post(to: domain) {
                // Unless close, which waits for it only so long, was first.
                if container.pendingDisposals.take(object) { finish(record) }
            }
            return
        }
        let thread = currentThread()
        guard thread.pointee.ending.is_open == 0 else {
            record.pointee.thread = 0
            if let last = thread.pointee.ending.last {
                last.pointee.thread = UInt64(UInt(bitPattern: record))
            } else {
                thread.pointee.ending.first = record
            }
            thread.pointee.ending.last = record
            return
        }
        finish(record)
    }

    /// Releases the objects that an ended object held, and its memory. Objects without another claim are disposed of here, one
    /// after the other, in reverse order of creation: the objects that an object held before those that were created before it.
    private static func letGo(of extra: Unmanaged<ObjectExtra>?, _ record: Record) {
        let thread = currentThread()
        func letGo() {
            if let extra {
                releaseValues(of: extra.takeUnretainedValue(), record)
            } else if iv_record_edge_count(record) != 0 {
                releaseEdges(record)
            }
            freeMemory(of: record)
            extra?.release()
        }
        guard thread.pointee.ending.is_open == 0 else {
            let (first, last) = (thread.pointee.ending.first, thread.pointee.ending.last)
            thread.pointee.ending.first = nil
            thread.pointee.ending.last = nil
            letGo()
            guard let first else { return }
            if let end = thread.pointee.ending.last {
                end.pointee.thread = UInt64(UInt(bitPattern: first))
            } else {
                thread.pointee.ending.first = first
            }
            thread.pointee.ending.last = last
            return
        }
        thread.pointee.ending.is_open = 1
        letGo()
        while let record = thread.pointee.ending.first {
            thread.pointee.ending.first = Record(bitPattern: UInt(record.pointee.thread))
            if thread.pointee.ending.first == nil { thread.pointee.ending.last = nil }
            finish(record)
        }
        thread.pointee.ending.is_open = 0
    }

    static func finish(_ record: Record) {
        let slot = record.pointee.slot
        destroy(record)
        ObjectTable.close(slot)
    }

    /// Stops and frees an instance and its record. Its slot, if it has one, is the caller's.
    static func destroy(_ record: Record) {
        let type = ObjectType.of(record)
        let extra = iv_load_pointer(iv_record_extra(record)).map { Unmanaged<ObjectExtra>.fromOpaque($0) }
        iv_store_pointer(iv_record_extra(record), nil)
        let thread = currentThread()
        // Objects that host code releases end before its call returns.
        let outer = thread.pointee.ending
        thread.pointee.ending = iv_ending()
        type.container.detached {
            Contexts.workingAlways(in: extra?.takeUnretainedValue().contexts.home, type.container.core) {
                end(record, extra, type)
            }
        }
        thread.pointee.ending = outer
        type.container.endReleasedContexts()
        // Injected objects are released last: their user has ended.
        if let extra { type.container.deferred.end(extra.takeUnretainedValue()) }
        letGo(of: extra, record)
    }

    private static func end(_ record: Record, _ extra: Unmanaged<ObjectExtra>?, _ type: ObjectType) {
        if let extra = extra?.takeUnretainedValue() {
            for action in extra.beforeDisposal { action() }
            type.container.lifecycle.stopBeforeDisposal(record, extra)
        }
        guard let instance = record.pointee.instance else { return }
        type.description.dispose(instance)
    }

    static func freeMemory(of record: Record) {
        if iv_record_in_block(record) != 0 { return endOfBlock(iv_record_block(record), 1) }
        Glibc.free(record)
    }
}
