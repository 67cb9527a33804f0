internal import CPlatform
public import InvivoBase

/// Work in a context, such as a build: the end of the context waits for it. Ended by the code that began it.
public struct ContextStay {
    public let context: ContextHandle
    private let raw: RawContext

    /// Begins work in a context. Nil if the context is ending, unless `isPart`: of work that goes on.
    public static func begin(in handle: ContextHandle, isPart: Bool = false) throws(Failure) -> ContextStay? {
        try Contexts.use(handle) { (_, context, _) throws(Failure) in
            var work = iv_load_u64(iv_context_work(context))
            repeat {
                if work & UInt64(IV_CONTEXT_ENDING) != 0, !isPart { return nil }
            } while !iv_cas_u64(iv_context_work(context), &work, work &+ UInt64(IV_CONTEXT_STAY))
            _ = iv_add_u64(iv_context_references(context), 1)
            return ContextStay(context: handle, raw: context)
        }
    }

    /// Objects live in the context from now on.
    public func noteObjects() { _ = iv_or_u64(iv_context_work(raw), UInt64(IV_CONTEXT_HAS_OBJECTS)) }

    /// Ends the work. Returns whether the context is ending, and may wait for that.
    public func end() -> Bool {
        let former = iv_sub_u64(iv_context_work(raw), UInt64(IV_CONTEXT_STAY))
        ContextGarbage.releaseMemory(raw)
        return former & UInt64(IV_CONTEXT_ENDING) != 0
    }

    /// The builds in a context, and how many times other threads have entered it.
    public static func count(in handle: ContextHandle) -> (builds: UInt64, inside: UInt64) {
        let found = try? Contexts.use(handle) { (contexts, context, _) throws(Failure) in
            let work = iv_load_u64(iv_context_work(context))
            let inside = work / IV_CONTEXT_INSIDE
            let own = Contexts.entries(of: handle, contexts.rawCore)
            return (work % IV_CONTEXT_INSIDE / UInt64(IV_CONTEXT_STAY), inside > own ? inside - own : 0)
        }
        return found ?? (0, 0)
    }
}
