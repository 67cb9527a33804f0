internal import InvivoBase

/// One part of the traits of a key: a layer, or the application of a trait that runs code.
public enum StackItem: Sendable {
    case layer(DeclaredLayer)
    case code(CodeApplication)

    /// Whether it is a layer whose trait has this source location.
    func isLayer(at location: Location) -> Bool {
        if case .layer(let layer) = self { layer.location.location == location } else { false }
    }
}
