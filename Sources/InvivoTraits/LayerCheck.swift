public import InvivoBase

/// The check of the value of one layer by the function of its property (`invivo_property.verify`).
public struct LayerCheck: Sendable {
    public let property: Property
    let layer: Layer
    let key: String

    public var value: Value { layer.value }

    public var subject: String { "the verify function of '\(property.name)'" }

    /// Returns a failure of the library with the path of the property and the source location of the layer.
    public func located(_ failure: Failure) -> Failure { PropertyChange.placed(failure, property, key, layer.location) }

    /// Returns a refusal by the function. Its message is replaced if it could show a hidden value.
    public func refusal(_ failure: Failure) -> Failure {
        located(origin?.masking(failure, expected: "a value that \(subject) accepts") ?? failure)
    }

    /// Where a hidden value comes from; nil for others.
    public var origin: VariableText? { property.origin(layer.location.variables) }
}
