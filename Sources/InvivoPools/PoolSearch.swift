public import CInvivo
internal import CPlatform
public import InvivoBase

/// The fast paths of C to an entry, for strings and integers as keys. No class, so that a call needs no metatype.
public enum PoolSearch {
    /// The object of a key with a lease for the caller, or 0. When the key has no entry (`isMissing`), the reading section stays
    /// open, and the caller calls `create` or `leave` at once. All other cases are left to `Pool`.
    public static func find(_ bits: UInt64, _ value: UnsafePointer<invivo_value>) -> (object: UInt64, isMissing: Bool) {
        guard let (raw, reader) = ReadSection.begin(pool: bits) else { return (0, false) }
        guard let key = PoolKey(simple: value, seed: raw.pointee.seed) else {
            ReadSection.end(reader)
            return (0, false)
        }
        switch EntryStore.find(raw, key).lease() {
        case .object(let object):
            ReadSection.end(reader)
            return (object, false)
        case .nothing: return (0, true)
        case .weak:
            ReadSection.end(reader)
            return (0, false)
        }
    }

    /// Ends the section that `find` has left open.
    public static func leave() {
        if let reader = iv_thread()!.pointee.reader { ReadSection.end(reader) }
    }

    /// Creates the object that `find` has not found, and ends the section. 0 when this is left to `Pool`.
    public static func create(_ bits: UInt64, _ value: UnsafePointer<invivo_value>, _ given: Pool.Factory?)
        throws(Failure)
        -> UInt64
    {
        let thread = iv_thread()!
        guard let reader = thread.pointee.reader, let core = thread.pointee.core else { return 0 }
        do throws(Failure) { try Failure.refuseWhileAsking() } catch {
            ReadSection.end(reader)
            throw error
        }
        // The pool may have been closed meanwhile. The section keeps its memory.
        guard let raw = ReadSection.pool(at: UInt32(truncatingIfNeeded: bits), of: core),
            let key = PoolKey(simple: value, seed: raw.pointee.seed), let pool = Pool.at(raw),
            // Retained before the section ends: the pool may be closed while the factory runs.
            let factory = given ?? pool.factory, Readers.beginBuild(reader, core)
        else {
            ReadSection.end(reader)
            return 0
        }
        ReadSection.end(reader)
        defer { Readers.endBuild(reader) }
        return try pool.create(key, value, factory)
    }
}
