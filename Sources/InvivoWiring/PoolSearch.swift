public import CInvivo
internal import CPlatform
public import InvivoBase

/// The fast ways of C to an entry, for texts and numbers as keys. No class, so that a call needs no metatype.
public enum PoolSearch {
    /// The object of a key with one lease for the caller, or 0. Where nothing is there (`isMissing`) the reading section stays
    /// open, for `make` or `leave` at once; all else goes the general way.
    public static func find(_ bits: UInt64, _ value: UnsafePointer<invivo_value>) -> (object: UInt64, isMissing: Bool) {
        guard let (raw, reader, _) = Pool.enter(bits) else { return (0, false) }
        guard let key = PoolKey(simple: value, seed: raw.pointee.seed) else {
            Pool.leave(reader)
            return (0, false)
        }
        switch Pool.read(raw, key, holdsWeak: false) {
        case .object(let object):
            Pool.leave(reader)
            return (object, false)
        case .nothing: return (0, true)
        case .weak, .unclear:
            Pool.leave(reader)
            return (0, false)
        }
    }

    /// Ends the section that `find` has left open.
    public static func leave() {
        if let reader = iv_thread()!.pointee.reader { Pool.leave(reader) }
    }

    /// Makes what `find` has not found, in the section that is open, which it ends. 0 when it must go the general way.
    public static func make(_ bits: UInt64, _ value: UnsafePointer<invivo_value>, _ given: Pool.Maker?) throws(Failure)
        -> UInt64
    {
        let thread = iv_thread()!
        guard let reader = thread.pointee.reader, let core = thread.pointee.core else { return 0 }
        do throws(Failure) { try Failure.refuseWhileAsking() } catch {
            Pool.leave(reader)
            throw error
        }
        // The pool is in the list, or it was closed meanwhile; the section keeps it.
        guard let list = iv_core_pools(core), let raw = iv_pool_at(list, UInt32(truncatingIfNeeded: bits)),
            let key = PoolKey(simple: value, seed: raw.pointee.seed), let owner = raw.pointee.owner
        else {
            Pool.leave(reader)
            return 0
        }
        // Retained before the section ends: it may be closed while the maker runs.
        let pool = Unmanaged<Pool>.fromOpaque(owner).takeUnretainedValue()
        guard let maker = given ?? pool.maker, Readers.beginBuild(reader, core) else {
            Pool.leave(reader)
            return 0
        }
        Pool.leave(reader)
        defer { Readers.endBuild(reader) }
        return try pool.make(key, value, maker)
    }
}
