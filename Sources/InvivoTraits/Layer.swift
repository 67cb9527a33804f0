public import InvivoBase
public import InvivoSpec

/// One layer of a property of an object: its value over everything below it, with its source location.
public struct Layer: Sendable {
    /// Index among the type's properties.
    public let property: Int
    /// Checked and converted; null if it depends on the base value.
    public let value: Value
    public let location: TraitLocation
    /// The steps from the base value to the layer's, if it depends on the base value, or moves to its value.
    public let steps: LayerSteps?

    /// The transition to its value; nil if it shows its value at once.
    public var ramp: Ramp? { steps?.ramp }

    /// Whether its value is known only over a base value.
    public var isRelative: Bool { steps != nil && ramp == nil }

    public init(
        property: Int, value: Value, location: TraitLocation = TraitLocation(), steps: LayerSteps? = nil
    ) {
        self.property = property
        self.value = value
        self.location = location
        self.steps = steps
    }

    /// Whether the other layer shows the same value over each base.
    public func shows(sameAs other: Layer) -> Bool {
        switch (steps, other.steps) {
        case (nil, nil): value.isSame(as: other.value)
        case (let one?, let two?): one.isSame(as: two)
        default: false
        }
    }
}
