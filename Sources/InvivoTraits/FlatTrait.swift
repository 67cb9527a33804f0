public import InvivoSpec

/// One trait of a list without Inherit and When.
public struct FlatTrait: Sendable {
    public let spec: TraitSpec
    /// Whether its conditions hold. The others are checked only.
    public let isActive: Bool

    public init(_ spec: TraitSpec, isActive: Bool) {
        self.spec = spec
        self.isActive = isActive
    }
}
