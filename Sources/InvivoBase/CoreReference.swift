internal import CPlatform

/// The core of a runtime with its tag, for code of other threads. Cores are never freed, and their words are atomic.
public struct CoreReference: Sendable {
    private let address: UInt
    public let tag: UInt64

    public init(_ core: Core, tag: UInt64) { (address, self.tag) = (UInt(bitPattern: core), tag) }

    public var core: Core { Core(bitPattern: address).unsafelyUnwrapped }
}
