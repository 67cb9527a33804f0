internal import InvivoBase

/// The new target of an outer reference of a mounted assembly.
public struct AssemblyRemap: Equatable, Sendable {
    public let from: String
    public let to: String

    public init(from: String, to: String) {
        self.from = from
        self.to = to
    }
}
