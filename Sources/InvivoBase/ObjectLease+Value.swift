extension ObjectLease {
    /// Returns the type of the object behind a handle; set once by InvivoWiring before the first object is created.
    public static var typeOf: @Sendable (UInt64) -> TypeDescription? {
        get { typeLookup.function ?? { _ in nil } }
        set { typeLookup.set(newValue) }
    }
    private static let typeLookup = SetOnce<@Sendable (UInt64) -> TypeDescription?>()

    /// The type of the object, where it is known.
    public var type: TypeDescription? { Self.typeLookup.function?(bits) }

    /// Adds a lease for a holder of the bare handle (C, in an owned value). Returns false for an invalid handle.
    static func addLease(_ bits: UInt64) -> Bool { ObjectTable.retain(bits) }
    /// Releases such a lease.
    static func takeLease(_ bits: UInt64) { _ = ObjectTable.release(bits) }
}
