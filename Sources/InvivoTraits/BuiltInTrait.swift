internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

/// A built-in trait that declares layers.
///
/// A trait only determines the values. One mechanism applies and reverts them (`Tuning` for objects,
/// `TargetLayers.block` for blocks), so that layers may be removed in any order.
public enum BuiltInTrait: String, CaseIterable {
    case set = "Set"
    case scale = "Scale"
    case offset = "Offset"
    /// Sets values, to which the properties move.
    case ramp = "Ramp"

    private var operation: DeclaredLayer.Operation {
        switch self {
        case .set, .ramp: .set
        case .scale: .scale
        case .offset: .offset
        }
    }

    /// Returns the layers that the trait declares for objects of `type`. Throws all errors at once.
    func layers(
        _ spec: TraitSpec, for type: ObjectType, warn: (String, Location) -> Void
    ) throws(Failure) -> [DeclaredLayer] {
        guard self == .ramp else { return try layers(Values(spec), for: type, warn) }
        return try layers(Values(ramp: spec), for: type, warn)
    }

    /// Checks the form of the parameters, which does not depend on a target. Throws all errors at once.
    func checkForm(_ spec: TraitSpec) throws(Failure) { if self == .ramp { _ = try Values(ramp: spec) } }

    /// The values of the properties, as a trait gives them.
    private struct Values {
        let spec: TraitSpec
        let properties: [SpecEntry]
        /// The path from the parameters to the map of the properties.
        var path: [String] = []
        /// Of Ramp: the duration in nanoseconds, and the start values.
        var duration: UInt64?
        var starts: SpecNode?

        init(_ spec: TraitSpec) {
            self.spec = spec
            properties = spec.parameters
        }

        /// `Ramp: { to: { gain: 0.5 }, over: 2 s, from: { gain: 0 } }`
        init(ramp spec: TraitSpec) throws(Failure) {
            self.spec = spec
            let parameters = try spec.parameters(known: ["to", "over", "from"])
            var failures: [Failure] = []
            func map(_ name: String) -> SpecNode? {
                guard let entry = parameters[name] else { return nil }
                if entry.value.entries == nil {
                    failures.append(
                        spec.failure(
                            "expected a map of properties and values, found \(entry.value.described)", at: entry, name))
                }
                return entry.value
            }
            let to = map("to")
            starts = map("from")
            if let over = parameters["over"] {
                duration = over.value.duration
                if duration == nil {
                    failures.append(
                        spec.failure(
                            "expected a time of at most one day, such as 2.5, '2.5 s' or '300 ms', found "
                                + over.value.described, at: over, "over"))
                }
            }
            for name in ["to", "over"] where parameters[name] == nil {
                failures.append(
                    spec.failure("'\(name)' is missing; expected as in 'Ramp: { to: { gain: 0.5 }, over: 2 s }'"))
            }
            properties = to?.entries ?? []
            path = ["to"]
            for start in starts?.entries ?? [] where !properties.contains(where: { $0.key == start.key }) {
                failures.append(
                    Failure(
                        .spec, "'\(start.key)' has a start value and no end value: give it in 'to', too",
                        path: spec.path(of: ["from", start.key]), at: start.keyLocation))
            }
            if let failure = Failure.gathered(failures) { throw failure }
        }

        /// Adds the whole key path and the source location to a failure about a property.
        func located(_ failure: Failure, _ entry: SpecEntry, below path: [String]? = nil) -> Failure {
            spec.located(failure, entry, below: path ?? self.path)
        }
    }

    private func layers(
        _ values: Values, for type: ObjectType, _ warn: (String, Location) -> Void
    ) throws(Failure) -> [DeclaredLayer] {
        var found: [DeclaredLayer] = []
        var given: [Int: String] = [:]
        var failures: [Failure] = []
        var omitted = 0
        var entries = values.properties[...]
        while let parameter = entries.popFirst() {
            if let split = splitPoint(parameter, entries.first, type) {
                failures.append(values.located(split, parameter))
                entries.removeFirst()
                continue
            }
            do throws(Failure) {
                let layer = try layer(parameter, values, type, warn)
                if let other = given.updateValue(parameter.key, forKey: layer.property) {
                    throw Failure(
                        .argument,
                        "'\(other)' and '\(parameter.key)' are the same property of \(type.name): give one of them",
                        at: parameter.keyLocation)
                }
                found.append(layer)
            } catch {
                let all = failures.count < Failure.most ? error.all : []
                failures += all.map { values.located($0, parameter) }
                if all.isEmpty { omitted += 1 }
            }
        }
        if let failure = Failure.gathered(failures, omitted: omitted) { throw failure }
        return found
    }

    /// The error of a point without quotes in flow form: `at: 10, 20` is `at: 10` and the key 20.
    private func splitPoint(_ parameter: SpecEntry, _ next: SpecEntry?, _ type: ObjectType) -> Failure? {
        guard operation == .set, parameter.value.content.isNumber, let next, next.value.isNull,
            !next.value.hasVariables,
            TextReader.plain(next.key)?.isNumber == true,
            let property = try? type.description.tunableProperty(parameter.key).property,
            property.codec == .point
        else { return nil }
        return Failure(
            .type,
            "expected a point such as '10, 20', found \(parameter.value.described) and the key \(quotedName(next.key)); "
                + "in a list or map in flow form, put the point in quotes", path: property.name,
            at: parameter.value.location)
    }

    private func layer(
        _ parameter: SpecEntry, _ values: Values, _ type: ObjectType, _ warn: (String, Location) -> Void
    ) throws(Failure) -> DeclaredLayer {
        let found = try type.description.tunableProperty(parameter.key)
        var ramp: Ramp?
        if found.formerName {
            warn("'\(parameter.key)' is now called '\(found.property.name)'", parameter.keyLocation)
        }
        var failures: [Failure] = []
        var amount = Value.null
        if let duration = values.duration {
            try found.property.requireMoving()
            ramp = Ramp(duration: duration, from: try start(parameter, values, found.property))
        }
        if operation == .set {
            if let wanted = Value.validParts(of: parameter.value, for: found.property, &failures) {
                do throws(Failure) { amount = try found.property.check(wanted) } catch { failures += error.all }
            }
            if ramp != nil, failures.isEmpty { try found.property.requireMoving(to: amount) }
        } else {
            try found.property.requireNumbers(rawValue)
            amount = Value.amount(parameter.value, for: found.property, isFactor: self == .scale, &failures) ?? .null
        }
        failures = failures.map { parameter.value.masked($0, for: found.property) }
        if let failure = Failure.gathered(failures) { throw failure }
        return DeclaredLayer(
            property: type.description.index(of: found.property), operation, amount,
            at: values.spec.location(of: parameter.value), over: ramp)
    }

    /// The start value of a property that moves, if the trait gives one.
    private func start(_ parameter: SpecEntry, _ values: Values, _ property: Property) throws(Failure) -> Value? {
        guard let entry = values.starts?.entries?.first(where: { $0.key == parameter.key }) else { return nil }
        var failures: [Failure] = []
        if let wanted = Value.validParts(of: entry.value, for: property, &failures), failures.isEmpty {
            do throws(Failure) { return try property.check(wanted) } catch { failures += error.all }
        }
        let located = failures.map { values.located(entry.value.masked($0, for: property), entry, below: ["from"]) }
        if let failure = Failure.gathered(located) { throw failure }
        return nil
    }
}
