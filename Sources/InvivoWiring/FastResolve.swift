public import CInvivo
public import CPlatform
internal import Glibc
public import InvivoBase
public import InvivoGraph

/// Resolves without a build: built shared objects, plain prototypes, and graphs of build plans. Uses no lock and no
/// reference count of Swift. All other resolves use a `Build`.
public enum FastResolve {
    /// The failure of a fast path: a status, the error that host code returned, and the key.
    public struct Failed {
        public var status: Int32 = 0
        public var error: UnsafeMutableRawPointer?
        public var key: UInt64 = 0
        public init() {}

        /// A build is tried instead.
        mutating func discard() {
            ErrorBox.release(error.map { OpaquePointer($0) })
            self = Failed()
        }
    }

    /// In a view: the built shared object of a cell that the thread may have, otherwise 0.
    @inlinable @inline(__always)
    static func object(of cell: UnsafeMutablePointer<iv_cell>, on thread: @autoclosure () -> UInt64) -> UInt64 {
        let word = iv_load_u64(iv_cell_object(cell))
        guard !iv_word_is_plain(word) else { return word }
        guard let confined = iv_word_confined_cell(word, cell) else { return 0 }
        let allowed = iv_load_u64(iv_confined_thread(confined))
        return allowed == 0 || allowed == thread() ? iv_word_object(word) : 0
    }

    /// The entry of a key in a view.
    @inlinable @inline(__always)
    static func entry(_ graph: UnsafePointer<iv_graph>, _ id: UInt32) -> UnsafeMutablePointer<invivo_entry>? {
        guard id < graph.pointee.count, let chunk = graph.pointee.chunks[Int(id >> UInt32(INVIVO_CHUNK_SHIFT))] else {
            return nil
        }
        return chunk.assumingMemoryBound(to: invivo_entry.self) + Int(id & UInt32(INVIVO_CHUNK_MASK))
    }

    /// A built shared object with one lease for the caller, on a thread that has read this runtime last and builds
    /// nothing. 0 if another path must be used. If a cell that creates objects is returned with it, the view stays open
    /// for `make`.
    @inlinable @inline(__always)
    public static func leaseShared(_ runtime: UInt64, _ key: UInt64) -> (
        object: UInt64, cell: UnsafeMutablePointer<iv_making_cell>?
    ) {
        let handle = HandleBits(key)
        let thread = iv_thread()!
        guard handle.kind == HandleBits.keyKind, runtime == handle.runtime, let core = handle.core,
            thread.pointee.core == core,
            let reader = thread.pointee.reader, reader.pointee.depth == 0, thread.build.isNone
        else { return (0, nil) }
        iv_store_u64(iv_reader_epoch(reader), iv_load_u64(iv_core_epoch(core)))
        iv_compiler_barrier()
        var bits: UInt64 = 0
        if iv_load_u64(iv_core_tag(core)) == handle.tag, let graph = iv_reader_begin(reader),
            let entry = entry(graph.assumingMemoryBound(to: iv_graph.self), UInt32(truncatingIfNeeded: key)),
            let shown = iv_load_pointer(Chunk.shown(entry))
        {
            let cell = shown.assumingMemoryBound(to: iv_cell.self)
            bits = object(of: cell, on: thread.pointee.id)
            if bits == 0, let making = iv_word_making_cell(iv_load_u64(iv_cell_object(cell)), cell),
                entry.pointee.layers == nil
            {
                iv_reader_set_graph(reader, graph)
                reader.pointee.depth = 1
                return (0, making)
            }
            if bits != 0, !ObjectTable.leaseKnownAlive(bits) { bits = 0 }
        }
        iv_store_u64(iv_reader_epoch(reader), 0)
        return (bits, nil)
    }

    /// In a view of the calling thread, which ends here: a plain prototype or the graph of a build plan. 0 if it must be built;
    /// `failed` has a status other than 0 if an initializer failed.
    public static func make(
        _ making: UnsafeMutablePointer<iv_making_cell>, _ runtime: UInt64, _ key: UInt64, failed: inout Failed
    ) -> UInt64 {
        let thread = iv_thread()!
        guard let reader = thread.pointee.reader, let core = thread.pointee.core else { return 0 }
        // An object in a context has notes about it, which only a build makes.
        guard reader.pointee.building < 32, reader.pointee.entered_count == 0, let graph = reader.pointee.graph else {
            Readers.leave(reader)
            return 0
        }
        guard let type = making.pointee.prototype else {
            guard let program = iv_making_program(making), Readers.beginBuild(reader, core) else {
                Readers.leave(reader)
                return 0
            }
            return ProgramRun.run(
                program, graph.assumingMemoryBound(to: iv_graph.self), reader, owner: HandleBits(key).tag,
                failed: &failed)
        }
        let own = HandleBits(
            kind: HandleBits.keyKind, tag: HandleBits(key).tag, index: UInt32(truncatingIfNeeded: making.pointee.id)
        ).bits
        let begun = Readers.beginBuild(reader, core)
        Readers.leave(reader)
        guard begun else { return 0 }
        return makePlain(type, reader, runtime: runtime, key: own, failed: &failed)
    }

    /// All fast paths, for a thread in any state. `failed` as for `make`.
    public static func resolve(_ runtime: UInt64, _ key: UInt64, makes: Bool, failed: inout Failed) -> UInt64 {
        let handle = HandleBits(key)
        guard handle.kind == HandleBits.keyKind, runtime == handle.runtime, let core = handle.core else { return 0 }
        let thread = iv_thread()!
        guard thread.build.isNone, let reader = Readers.enter(core, tag: handle.tag) else { return 0 }
        var bits: UInt64 = 0
        if let graph = reader.pointee.graph,
            let entry = entry(graph.assumingMemoryBound(to: iv_graph.self), UInt32(truncatingIfNeeded: key)),
            let shown = iv_load_pointer(Chunk.shown(entry))
        {
            let cell = shown.assumingMemoryBound(to: iv_cell.self)
            if makes, let making = cell.making, entry.pointee.layers == nil {
                return make(making, runtime, key, failed: &failed)
            }
            bits = object(of: cell, on: thread.pointee.id)
            if bits != 0, !ObjectTable.leaseKnownAlive(bits) { bits = 0 }
        }
        Readers.leave(reader)
        return bits
    }

    /// A prototype that needs nothing but its type, in a build that ends here. 0 if it must be built; a failing init fills
    /// `failed` instead.
    @inline(__always)
    private static func makePlain(
        _ type: UnsafeMutablePointer<iv_type>, _ reader: Reader, runtime: UInt64, key: UInt64, failed: inout Failed
    ) -> UInt64 {
        defer { Readers.endBuild(reader) }
        let size = Int(type.pointee.size)
        let offset = Int(type.pointee.offset)
        guard let slot = ObjectTable.takeSlot() else { return 0 }
        guard let memory = malloc(offset &+ size) else {
            ObjectTable.close(slot)
            return 0
        }
        let record = memory.assumingMemoryBound(to: iv_record.self)
        let instance = memory + offset
        record.initialize(
            to: iv_record(
                type: type, instance: instance, extra: nil, sequence: 0,
                thread: type.pointee.thread == 0 ? 0 : iv_thread()!.identity, slot: slot,
                key: UInt32(truncatingIfNeeded: key) &+ 1))
        if let image = type.pointee.image { memcpy(instance, image, size) } else { memset(instance, 0, size) }
        if let initialize = type.pointee.`init` {
            var build = invivo_build(
                struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: runtime),
                key: invivo_key(bits: key),
                type: invivo_type(bits: type.pointee.handle), asker: invivo_key(), given: 0, flags: 0, reserved: 0,
                former: invivo_object(), former_instance: nil)
            failed.status = initialize(instance, &build, nil, 0, type.pointee.user_data, &failed.error)
            if failed.status != 0 {
                Glibc.free(memory)
                ObjectTable.close(slot)
                return 0
            }
        }
        return ObjectTable.open(slot, record, owner: HandleBits(key).tag, leases: 1, hold: false)
    }

    /// The confined instance of a key for a view on the calling thread, or nil.
    @inlinable
    public static func confinedInstance(_ entry: UnsafePointer<invivo_entry>) -> UnsafeMutableRawPointer? {
        guard let shown = iv_load_pointer(Chunk.shown(UnsafeMutablePointer(mutating: entry))) else { return nil }
        let cell = shown.assumingMemoryBound(to: iv_cell.self)
        let word = iv_load_u64(iv_cell_object(cell))
        guard let confined = iv_word_confined_cell(word, cell) else { return iv_load_pointer(iv_cell_shared(cell)) }
        let allowed = iv_load_u64(iv_confined_thread(confined))
        guard allowed == 0 || allowed == iv_thread()!.pointee.id || isInDomain(iv_word_object(word), allowed) else {
            return nil
        }
        return iv_load_pointer(iv_confined_instance(confined))
    }

    /// Whether the calling code is in the object's domain, for domains that are not one thread.
    @usableFromInline
    static func isInDomain(_ object: UInt64, _ allowed: UInt64) -> Bool {
        guard allowed == .max, let record = ObjectTable.record(object) else { return false }
        let type = ObjectType.of(record)
        // A forked child calls no callback of its parent's.
        return type.container.home.isHere && type.domain?.isCurrent == true
    }
}
