public import InvivoBase
public import InvivoSpec

/// A layer as a trait declares it: an operation on the value below it.
public struct DeclaredLayer: Sendable {
    public enum Operation: Sendable {
        /// Sets the value, or the given fields of a nested struct.
        case set
        case scale
        case offset
    }

    /// Index among the type's properties.
    public let property: Int
    public let operation: Operation
    /// The value to set, or the number; of a nested struct, a map of the affected fields.
    public let amount: Value
    public let location: TraitLocation
    /// The transition to the value; nil if it shows at once. Only of `set`.
    public let ramp: Ramp?

    public init(
        property: Int, _ operation: Operation, _ amount: Value, at location: TraitLocation = TraitLocation(),
        over ramp: Ramp? = nil
    ) {
        self.property = property
        self.operation = operation
        self.amount = amount
        self.location = location
        self.ramp = ramp
    }

    /// Returns this layer over the one below it. A relative layer over a transition is a transition, and so is one that sets some
    /// fields of a struct that moves.
    func over(_ below: Layer?, _ property: Property) throws(Failure) -> Layer {
        let isWhole = operation == .set && !property.isNested
        let ramp = ramp ?? (isWhole ? nil : below?.ramp)
        let isBelowRelative = below?.isRelative == true
        if operation == .set, !isBelowRelative || !property.isNested {
            let value = below.flatMap { isBelowRelative ? nil : amount.completed(from: $0.value) } ?? amount
            return layer(value, ramp)
        }
        var steps = isBelowRelative ? below?.steps?.steps ?? [] : []
        if let below, !isBelowRelative {
            steps.append(DeclaredLayer(property: below.property, .set, below.value, at: below.location))
        }
        steps.append(self)
        let whole = LayerSteps(steps)
        if let known = try whole.value(over: nil, property) { return layer(known, ramp) }
        guard ramp == nil else {
            throw Failure(
                .type,
                "'\(property.name)' is a struct with a field that moves, and one that depends on the value below: use Ramp for "
                    + "all of them, or for none", path: property.name, at: location.location)
        }
        return Layer(property: self.property, value: .null, location: location, steps: whole)
    }

    private func layer(_ value: Value, _ ramp: Ramp?) -> Layer {
        let steps = ramp.map { ramp in
            LayerSteps([DeclaredLayer(property: property, .set, value, at: location)], over: ramp)
        }
        return Layer(property: property, value: value, location: location, steps: steps)
    }
}
