public import InvivoBase
public import InvivoGraph
public import InvivoSpec

/// Translates traits to layers and applications of code.
public struct TraitTable {
    /// Runs the check of a trait type, and its declaration of layers, for the fields of a trait.
    public typealias Declare = (TraitType, [Value], TraitSpec) throws(Failure) -> [LayerDeclaration]

    /// Lets the host check values of layers. Throws all errors at once.
    public typealias Verify = ([LayerCheck]) throws(Failure) -> Void

    private static let builtIn = BuiltInTrait.allCases.map(\.rawValue) + [TraitSpec.inherit, TraitSpec.when]

    /// How problems in the traits of a key are reported.
    public struct Notes {
        /// A warning about a trait.
        let warn: (String, Location) -> Void
        /// Returns whether a trait of an unknown type is left out.
        let leavesOut: (TraitSpec) -> Bool
        /// Returns whether a trait with an error is skipped.
        let skips: (TraitSpec, Failure) -> Bool
        /// Throws if the values of the layers are not possible for the target.
        let check: (TargetLayers) throws(Failure) -> Void

        public init(
            warn: @escaping (String, Location) -> Void, leavesOut: @escaping (TraitSpec) -> Bool = { _ in false },
            skips: @escaping (TraitSpec, Failure) -> Bool = { _, _ in false },
            check: @escaping (TargetLayers) throws(Failure) -> Void = { _ in }
        ) {
            (self.warn, self.leavesOut, self.skips, self.check) = (warn, leavesOut, skips, check)
        }
    }

    private let types: TraitTypes
    private let declare: Declare
    private let verify: Verify

    public init(_ types: TraitTypes, declare: @escaping Declare, verify: @escaping Verify = { _ in }) {
        self.types = types
        self.declare = declare
        self.verify = verify
    }

    public static func isBuiltIn(_ name: String) -> Bool { builtIn.contains { $0.isSameName(as: name) } }

    /// Returns the layers of one key: every trait of every document, in order. All errors at once.
    public func layers(
        for key: String, type: ObjectType, _ traits: [FlatTrait], _ notes: Notes
    ) throws(Failure) -> TargetLayers {
        var stack: [(spec: TraitSpec, items: [StackItem])] = []
        var failures: [Failure] = []
        for trait in traits {
            do throws(Failure) {
                let found = try items(trait.spec, type, notes)
                if trait.isActive { stack.append((trait.spec, found)) }
            } catch {
                guard error.code != .timeout, error.code != .closed else { throw error }
                if !error.all.allSatisfy({ notes.skips(trait.spec, $0) }) { failures.append(error) }
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        while true {
            var failure: Failure
            do throws(Failure) {
                let layers = try TargetLayers(type: type, stack.flatMap(\.items))
                try notes.check(layers)
                let unverified = layers.unverified(for: key)
                if unverified.isEmpty { return layers }
                do throws(Failure) {
                    try verify(unverified)
                    return layers
                } catch { failure = error }
            } catch {
                // The path of a trait as a whole is that in its document.
                let isOfTrait = stack.contains { $0.spec.path == error.path }
                failure = isOfTrait ? error : error.under(key)
            }
            guard failure.code != .timeout, failure.code != .closed else { throw failure }
            // Each iteration removes a trait.
            guard let wrong = stack.firstIndex(where: { $0.items.contains { $0.isLayer(at: failure.location) } }),
                notes.skips(stack[wrong].spec, failure)
            else { throw failure }
            stack.remove(at: wrong)
        }
    }

    private func items(_ spec: TraitSpec, _ type: ObjectType, _ notes: Notes) throws(Failure) -> [StackItem] {
        if let trait = BuiltInTrait(rawValue: spec.type) {
            return try trait.layers(spec, for: type, warn: notes.warn).map { .layer($0) }
        }
        guard let trait = types[spec.type] else {
            guard !notes.leavesOut(spec) else { return [] }
            throw unknown(spec)
        }
        try trait.targets.require(type.description, for: trait.name, spec)
        let values = try trait.values(spec)
        let declared = try declare(trait, values, spec)
        guard !trait.runsCode else {
            return [.code(CodeApplication(trait, values, spec))]
        }
        var failures: [Failure] = []
        var items: [StackItem] = []
        // A parameter may be a part of each layer.
        let origin = trait.origin(of: spec)
        let location = spec.trackedLocation.marked(isSecret: origin?.isSecret == true)
        for layer in declared {
            do throws(Failure) {
                let property = try type.description.tunableProperty(layer.property).property
                let amount = try property.checkAmount(layer.operation, layer.amount)
                items.append(
                    .layer(
                        DeclaredLayer(
                            property: type.description.index(of: property), layer.operation, amount, at: location)))
            } catch {
                failures += error.all.map { failure in
                    var located = failure
                    let subject = "the trait '\(trait.name)' declares a layer that is not possible"
                    located.message = "\(subject)\(origin?.hidden ?? ": \(failure.message)")"
                    located.path = spec.path
                    located.location = spec.typeLocation
                    return located
                }
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return items
    }

    private func unknown(_ spec: TraitSpec) -> Failure {
        let known = types.names.sorted() + Self.builtIn.sorted()
        let nearest = suggestion(nearestKey(to: spec.type, among: known))
        var failure = Failure(
            .spec,
            "unknown trait \(quotedName(spec.type))"
                + (nearest.isEmpty ? "; the traits are: \(known.listed())" : nearest),
            path: spec.path, at: spec.typeLocation)
        // A name that resembles a known trait is an error, not a type that is added later.
        let isMisspelled =
            nearestName(to: spec.type, among: Self.builtIn) != nil
            || misspelledName(of: spec.type, among: types.names) != nil
            || types.names.contains { $0.hasSuffix(".\(spec.type)") }
        failure.finding = isMisspelled ? .misspelledTrait : .unknownTrait
        return failure
    }

    /// Checks the traits of a key without a target, as far as this does not depend on a target.
    public func checkNames(_ traits: [FlatTrait], _ notes: Notes) throws(Failure) {
        var failures: [Failure] = []
        for spec in traits.map(\.spec) {
            do throws(Failure) {
                if let type = types[spec.type] {
                    _ = try type.values(spec)
                } else if let trait = BuiltInTrait(rawValue: spec.type) {
                    try trait.checkForm(spec)
                } else if !notes.leavesOut(spec) {
                    throw unknown(spec)
                }
            } catch {
                if !error.all.allSatisfy({ notes.skips(spec, $0) }) { failures.append(error) }
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
    }
}
