internal import CPlatform
internal import Glibc
public import InvivoBase

/// The contexts that a thread has entered. They are not held: a handle denotes no other context after the end.
extension Contexts {
    /// Makes a context the current one of the calling thread.
    public static func enter(_ handle: ContextHandle) throws(Failure) {
        let core = try use(handle) { (contexts, _, _) throws(Failure) in CoreReference(core: contexts.rawCore, tag: 0) }
        guard let reader = Readers.own(core.core) else { throw noMemory() }
        if reader.pointee.entered_count == reader.pointee.entered_capacity {
            let capacity = max(8, reader.pointee.entered_capacity * 2)
            guard let grown = realloc(reader.pointee.entered, Int(capacity) * MemoryLayout<UInt64>.stride) else {
                throw noMemory()
            }
            reader.pointee.entered = grown.assumingMemoryBound(to: UInt64.self)
            reader.pointee.entered_capacity = capacity
        }
        reader.pointee.entered[Int(reader.pointee.entered_count)] = handle.bits
        reader.pointee.entered_count += 1
    }

    private static func noMemory() -> Failure { Failure(.memory, "no memory to enter a context") }

    /// Ends the innermost `enter` of a context on the calling thread. The context may have ended.
    public static func leave(_ handle: ContextHandle) throws(Failure) {
        for core in Readers.cores() {
            guard let reader = Readers.own(core), let entered = reader.pointee.entered else { continue }
            let count = Int(reader.pointee.entered_count)
            guard let index = (0..<count).last(where: { entered[$0] == handle.bits }) else { continue }
            guard !Readers.isParents(core) else { throw .forked() }
            for later in index + 1..<max(count, index + 1) { entered[later - 1] = entered[later] }
            reader.pointee.entered_count -= 1
            return
        }
        guard handle.core != nil || handle.hasBeenOpen else { throw ended(handle) }
        throw Failure(
            .domain,
            "the calling thread has not entered the context: each thread leaves the contexts that it has entered")
    }

    /// The context that the calling thread entered last and that is open.
    public static func current(_ core: Core) -> ContextHandle? {
        guard !Readers.isParents(core), let reader = Readers.own(core), let entered = reader.pointee.entered else {
            return nil
        }
        for index in (0..<Int(reader.pointee.entered_count)).reversed() {
            let handle = ContextHandle(bits: entered[index])
            if handle.core == core { return handle }
        }
        return nil
    }
}
