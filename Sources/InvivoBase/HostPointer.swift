/// A pointer of the host, for example the user data of its functions. The runtime passes it back and never follows it.
///
/// Unchecked: the host states for each function on which threads it runs, and answers for the memory behind the
/// pointer.
@frozen
public struct HostPointer: @unchecked Sendable {
    public let raw: UnsafeMutableRawPointer?

    @inlinable
    public init(_ raw: UnsafeMutableRawPointer?) { self.raw = raw }
}
