public import InvivoBase

/// The value of a binding of settings in a generation: a struct, or a value of the host. Immutable. It ends with the last generation
/// that has it.
public final class SettingsValue: Sendable {
    private let address: HostPointer
    /// The struct that `address` points to; nil for a value of the host.
    private let block: Block?
    private let release: (@Sendable (HostPointer) -> Void)?

    public init(_ block: Block) {
        self.block = block
        address = HostPointer(block.bytes)
        release = nil
    }

    /// `release` ends the value.
    public init(_ address: HostPointer, release: (@Sendable (HostPointer) -> Void)?) {
        block = nil
        self.address = address
        self.release = release
    }

    deinit { if let release { ending { [address] in release(address) } } }

    /// The block of the entry in the graph. Nil is a value of the host like any other.
    public var shown: UnsafeRawPointer? { address.raw.map { UnsafeRawPointer($0) } }
}

extension KeyTable {
    /// The ids of bindings lie beside those of configuration paths, under paths that no value has.
    public static func path(ofSettings name: String) -> String { "." + name }
}
