extension ObjectLease {
    /// Returns the type of the object behind a handle; set once by InvivoWiring before the first object is created.
    nonisolated(unsafe) public static var typeOf: @Sendable (UInt64) -> TypeDescription? = { _ in nil }

    /// The type of the object, where it is known.
    public var type: TypeDescription? { Self.typeOf(bits) }

    /// Adds a lease for a holder of the bare handle (C, in an owned value). Returns false for an invalid handle.
    static func addLease(_ bits: UInt64) -> Bool { ObjectTable.retain(bits) }
    /// Gives such a lease back.
    static func takeLease(_ bits: UInt64) { _ = ObjectTable.release(bits) }
}
