internal import InvivoBase
public import InvivoSpec

/// The application of a trait that runs code, with its parameters. Immutable.
public final class CodeApplication: Sendable {
    public let type: TraitType
    let values: [Value]
    /// The key path of the trait in its document.
    let path: String
    public let location: TraitLocation
    /// Whether a parameter is secret.
    let isSecret: Bool

    init(_ type: TraitType, _ values: [Value], _ spec: TraitSpec) {
        self.type = type
        self.values = values
        path = spec.path
        location = spec.trackedLocation
        isSecret = type.hasSecret(spec)
    }

    public func isSame(as other: CodeApplication) -> Bool {
        type === other.type && zip(values, other.values).allSatisfy { $0.isSame(as: $1) }
    }
}

/// An application of code, and the layers that lie above it, below the next one.
public struct CodeSegment: Sendable {
    public let application: CodeApplication
    /// In the order in which they are set.
    let live: [Layer]
}
