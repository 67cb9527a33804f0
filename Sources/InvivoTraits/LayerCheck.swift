public import InvivoBase

/// The check of the value of one layer by the function of its property (`invivo_property.verify`).
public struct LayerCheck: Sendable {
    public let property: Property
    let layer: Layer
    let key: String

    public var value: Value { layer.value }

    /// Returns a failure with the path of the property and the source location of the layer.
    public func located(_ failure: Failure) -> Failure {
        PropertyChange.located(failure, property, key, layer.location)
    }
}
