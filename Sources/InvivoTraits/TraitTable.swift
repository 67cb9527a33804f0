internal import HashTreeCollections
public import InvivoBase
public import InvivoGraph
public import InvivoSpec

/// The trait types of the host in one generation, by name. A value: a copy shares what does not change.
public struct TraitTypes: Sendable {
    private var types: TreeDictionary<Name, TraitType> = [:]

    public init() {}

    public var isEmpty: Bool { types.isEmpty }
    public var names: [String] { types.keys.map(\.text) }
    public subscript(name: String) -> TraitType? { types[Name(name)] }

    public mutating func insert(_ type: TraitType) { types[Name(type.name)] = type }
    public mutating func remove(_ name: String) { types[Name(name)] = nil }
}

/// One trait of a list without Inherit and When.
public struct FlatTrait: Sendable {
    public let spec: TraitSpec
    /// Whether its conditions hold. The others are checked only.
    public let isActive: Bool

    public init(_ spec: TraitSpec, isActive: Bool) {
        self.spec = spec
        self.isActive = isActive
    }
}

/// Translates traits to layers and applications of code.
public struct TraitTable {
    /// Runs the check of a trait type, and its declaration of layers, for the fields of a trait.
    public typealias Declare = (TraitType, [Value], TraitSpec) throws(Failure) -> [LayerDeclaration]

    /// The traits that stand for lists of traits: the flattener expands them before this table sees them.
    public static let inherit = "Inherit"
    public static let when = "When"
    private static let builtIn = BuiltInTrait.allCases.map(\.rawValue) + [inherit, when]

    /// How problems in the traits of a key are reported.
    public struct Notes {
        /// A warning about a trait.
        let warn: (String, Location) -> Void
        /// Returns whether a trait of an unknown type is left out.
        let leavesOut: (TraitSpec) -> Bool
        /// Returns whether a trait with an error is skipped.
        let skips: (TraitSpec, Failure) -> Bool

        public init(
            warn: @escaping (String, Location) -> Void, leavesOut: @escaping (TraitSpec) -> Bool = { _ in false },
            skips: @escaping (TraitSpec, Failure) -> Bool = { _, _ in false }
        ) {
            (self.warn, self.leavesOut, self.skips) = (warn, leavesOut, skips)
        }
    }

    private let types: TraitTypes
    private let declare: Declare

    public init(_ types: TraitTypes, declare: @escaping Declare) {
        self.types = types
        self.declare = declare
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
            do throws(Failure) { return try TargetLayers(type: type, stack.flatMap(\.items)) } catch {
                // Each turn removes a trait.
                guard let wrong = stack.firstIndex(where: { $0.items.contains { $0.isLayer(at: error.location) } }),
                    notes.skips(stack[wrong].spec, error.under(key))
                else { throw error.under(key) }
                stack.remove(at: wrong)
            }
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
        try trait.requireTarget(type, spec)
        let values = try trait.values(spec)
        let declared = try declare(trait, values, spec)
        guard !trait.runsCode else {
            return [.code(CodeApplication(trait, values, spec))]
        }
        var failures: [Failure] = []
        var items: [StackItem] = []
        // Any part of a layer may come from a parameter.
        let origin = trait.origin(of: spec)
        let location = spec.trackedLocation.marked(isSecret: origin?.isSecret == true)
        for layer in declared {
            do throws(Failure) {
                let property = try type.tunableProperty(layer.property).property
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
        let nearest = suggestion(for: spec.type, among: known)
        var failure = Failure(
            .spec,
            "unknown trait \(quoted(spec.type))"
                + (nearest.isEmpty ? "; the traits are: \(known.listed())" : nearest),
            path: spec.path, at: spec.typeLocation)
        // A name that is similar to a built-in trait is a mistake, and no type that is added later.
        failure.finding = nearestName(to: spec.type, among: Self.builtIn) == nil ? .unknownTrait : .misspelledTrait
        return failure
    }

    /// Checks the traits for a key whose target is not there yet, as far as that does not depend on a target.
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

extension StackItem {
    fileprivate func isLayer(at location: Location) -> Bool {
        if case .layer(let layer) = self { layer.location.location == location } else { false }
    }
}
