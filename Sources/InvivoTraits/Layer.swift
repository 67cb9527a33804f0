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

/// A layer as a trait declares it: an operation on the value below it.
public struct DeclaredLayer: Sendable {
    public enum Operation: UInt32, Sendable {
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

/// The operations of the layers of one property whose value depends on the base value, or which moves. Immutable.
public final class LayerSteps: Sendable {
    let steps: [DeclaredLayer]
    /// The transition to the value.
    let ramp: Ramp?
    /// For a nested struct, a map of the affected fields.
    private let affected: Value

    init(_ steps: [DeclaredLayer], over ramp: Ramp? = nil) {
        self.steps = steps
        self.ramp = ramp
        affected = steps.dropFirst().reduce(steps.first?.amount ?? .null) { $1.amount.completed(from: $0) }
    }

    func isSame(as other: LayerSteps) -> Bool {
        steps.count == other.steps.count && hasSameRamp(as: other)
            && zip(steps, other.steps).allSatisfy { $0.operation == $1.operation && $0.amount.isSame(as: $1.amount) }
    }

    private func hasSameRamp(as other: LayerSteps) -> Bool {
        guard let ramp, let otherRamp = other.ramp else { return ramp == nil && other.ramp == nil }
        return ramp.isSame(as: otherRamp)
    }

    /// Returns the checked value over a base value: of a nested struct, the affected fields. Nil if it depends on a base value that is
    /// not known. A failure has the location of the step at fault.
    func value(over base: Value?, _ property: Property) throws(Failure) -> Value? {
        var value = base
        for step in steps {
            do throws(Failure) {
                guard let next = try Self.applied(step, step.amount, over: value, property) else { return nil }
                value = next
            } catch { throw located(error, step.location.location, property) }
        }
        guard let value else { return nil }
        do throws(Failure) { return try property.check(value.picked(like: affected)) } catch {
            throw located(error, steps.last?.location.location ?? Location(), property)
        }
    }

    /// A failure at the location of a step. The value of each step is a part of the result, so its message shows none if one of them must
    /// not be shown.
    private func located(_ failure: Failure, _ location: Location, _ property: Property) -> Failure {
        let origins = steps.compactMap { property.origin($0.location.variables) }
        let origin = origins.first(where: \.isSecret) ?? origins.first
        var located = origin?.masking(failure, expected: property.kind.withArticle) ?? failure
        if located.location.line == 0 { located.location = location }
        return located
    }

    private static func applied(
        _ step: DeclaredLayer, _ amount: Value, over below: Value?, _ property: Property
    ) throws(Failure) -> Value? {
        if property.isNested, case .map(let amounts) = amount {
            var fields: [(name: String, value: Value)] = []
            if case .map(let known)? = below { fields = known }
            for (name, amount) in amounts {
                guard let field = property.fields.property(named: name) else { continue }
                let index = fields.firstIndex { $0.name.isSameName(as: name) }
                do throws(Failure) {
                    guard
                        let value = try applied(step, amount, over: index.map { fields[$0].value }, field)
                    else { return nil }
                    if let index { fields[index].value = value } else { fields.append((name, value)) }
                } catch { throw error.under(property.name) }
            }
            return .map(fields)
        }
        if step.operation == .set { return amount }
        guard let below else { return nil }
        guard below.kind.isNumber else {
            let verb = step.operation == .scale ? "scaled" : "offset"
            throw Failure(.type, "\(below.withKind) cannot be \(verb): expected a number", path: property.name)
        }
        let kind = property.kind == .any ? below.kind : property.kind
        do throws(Failure) {
            return try step.operation == .scale ? below.scaled(by: amount, kind) : below.offset(by: amount, kind)
        } catch {
            var failure = error
            failure.path = property.name
            throw failure
        }
    }
}

extension Value {
    /// The number times a factor, in a kind. Integers are rounded to the nearest, half away from zero.
    func scaled(by factor: Value, _ kind: ValueKind) throws(Failure) -> Value {
        try Self.number((wideNumber ?? .nan) * (factor.wideNumber ?? .nan), kind)
    }

    /// The number plus an amount, in a kind. The sum of integers is exact.
    func offset(by amount: Value, _ kind: ValueKind) throws(Failure) -> Value {
        if let own = signedInteger, let whole = amount.wholeNumber {
            let (sum, overflows) = own.addingReportingOverflow(whole)
            if !overflows { return try Value.int64(sum).converted(to: kind) }
        }
        if let own = unsignedInteger, let whole = amount.wholeNumber {
            let (sum, overflows) =
                whole < 0
                ? own.subtractingReportingOverflow(whole.magnitude) : own.addingReportingOverflow(whole.magnitude)
            if !overflows { return try Value.uint64(sum).converted(to: kind) }
        }
        return try Self.number((wideNumber ?? .nan) + (amount.wideNumber ?? .nan), kind)
    }

    private static func number(_ number: Double, _ kind: ValueKind) throws(Failure) -> Value {
        try Value.double(kind.isInteger ? number.rounded(.toNearestOrAwayFromZero) : number).converted(to: kind)
    }

    /// The number as a double, which may be rounded; nil for another value.
    private var wideNumber: Double? {
        switch self {
        case .double(let number): number
        case .float(let number): Double(number)
        default: signedInteger.map(Double.init) ?? unsignedInteger.map(Double.init)
        }
    }

    /// The number as an integer, if it is one.
    private var wholeNumber: Int64? {
        switch self {
        case .double(let number): Int64(exactly: number)
        case .float(let number): Int64(exactly: number)
        default: signedInteger
        }
    }
}
