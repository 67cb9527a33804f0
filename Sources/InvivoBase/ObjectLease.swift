/// One lease on an object, released with the last reference to it.
public final class ObjectLease: Sendable {
    /// The object's handle.
    public let bits: UInt64

    /// Takes over a lease that the caller has.
    public init(owning bits: UInt64) { self.bits = bits }

    /// Takes a lease of its own.
    public static func retaining(_ bits: UInt64) throws(Failure) -> ObjectLease {
        guard ObjectTable.retain(bits) else {
            if ObjectTable.isExhausted(bits) { throw .exhausted() }
            throw Failure(.handle, "the object handle \(bits) is stale, foreign or of another kind")
        }
        return ObjectLease(owning: bits)
    }

    deinit { _ = ObjectTable.release(bits) }
}
