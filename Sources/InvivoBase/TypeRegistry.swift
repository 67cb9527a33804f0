public import CInvivo

/// The types of one runtime, by name.
public protocol TypeRegistry: AnyObject {
    /// Enters a type; a taken name is an `exists` failure.
    func register(_ type: TypeDescription) throws(Failure)
    /// Finds a type by name. The failure for an unknown name (`notFound`) suggests the nearest one.
    func find(_ name: String) throws(Failure) -> TypeDescription
    /// Whether there is a type of this name. The nearest name is not searched for.
    func has(_ name: String) -> Bool
}

/// Finds the registry of a runtime handle for the ABI; set once by the module that owns runtimes.
public enum RuntimeLookup {
    public typealias Lookup = @Sendable (UInt64) throws(Failure) -> any TypeRegistry

    public static var lookup: Lookup {
        get {
            guard let function = found.function else { return refuse }
            return function
        }
        set { found.set(newValue) }
    }
    @Sendable private static func refuse(_ bits: UInt64) throws(Failure) -> any TypeRegistry {
        throw Failure.badHandle(bits, .runtime)
    }
    private static let found = SetOnce<Lookup>()

    public static func registry(for runtime: invivo_runtime) throws(Failure) -> any TypeRegistry {
        try lookup(runtime.bits)
    }
}
