extension ObjectLease {
    /// The type of the object behind a handle; set once by the wiring room before the first object is made.
    nonisolated(unsafe) public static var typeOf: @Sendable (UInt64) -> TypeDescription? = { _ in nil }

    /// The type of the object, where it is known.
    public var type: TypeDescription? { Self.typeOf(bits) }

    /// A lease for somebody who keeps the bare handle (C, in an owned value). False for a bad handle.
    static func addLease(_ bits: UInt64) -> Bool { ObjectTable.retain(bits) }
    /// Gives such a lease back.
    static func takeLease(_ bits: UInt64) { _ = ObjectTable.release(bits) }
}
