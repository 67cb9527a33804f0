internal import InvivoBase
internal import InvivoSpec

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

    /// Adds the location of a step to a failure. The value of each step is a part of the result. So the message shows no value if one of
    /// them is secret.
    private func located(_ failure: Failure, _ location: Location, _ property: Property) -> Failure {
        let origins = steps.compactMap { property.origin($0.location.variables) }
        let origin = origins.first(where: \.isSecret) ?? origins.first
        var located = origin?.masking(failure, expected: property.wanted) ?? failure
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
        guard step.operation != .set else { return amount }
        guard let below else { return nil }
        guard below.kind.isNumber else {
            let verb = step.operation == .scale ? "scaled" : "offset"
            throw Failure(.type, "\(below.withKind) cannot be \(verb): expected a number", path: property.name)
        }
        let kind = property.kind == .any ? below.kind : property.kind
        do throws(Failure) {
            switch step.operation {
            case .set: return amount
            case .scale: return try below.scaled(by: amount, kind)
            case .offset: return try below.offset(by: amount, kind)
            }
        } catch {
            var failure = error
            failure.path = property.name
            throw failure
        }
    }
}
