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

    /// The traits that other modules resolve before: they stand for lists of traits.
    public static let inherit = "Inherit"
    public static let when = "When"
    private static let builtIn = BuiltInTrait.allCases.map(\.rawValue) + [inherit, when]

    private let types: TraitTypes
    private let declare: Declare

    public init(_ types: TraitTypes, declare: @escaping Declare) {
        self.types = types
        self.declare = declare
    }

    public static func isBuiltIn(_ name: String) -> Bool { builtIn.contains { $0.isSameName(as: name) } }

    /// Returns the layers of one key: every trait of every document, in order. All errors at once. `skip` is asked for each trait of an
    /// unknown type, and returns whether it is left out.
    public func layers(
        for key: String, type: ObjectType, _ traits: [FlatTrait], warn: (String, Location) -> Void,
        skip: (TraitSpec) -> Bool = { _ in false }
    ) throws(Failure) -> TargetLayers {
        var items: [StackItem] = []
        var failures: [Failure] = []
        for trait in traits {
            do throws(Failure) {
                let found = try self.items(trait.spec, type, warn, skip)
                if trait.isActive { items += found }
            } catch { failures.append(error) }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        do throws(Failure) { return try TargetLayers(type: type, items) } catch { throw error.under(key) }
    }

    private func items(
        _ spec: TraitSpec, _ type: ObjectType, _ warn: (String, Location) -> Void, _ skip: (TraitSpec) -> Bool
    ) throws(Failure) -> [StackItem] {
        if let trait = BuiltInTrait(rawValue: spec.type) {
            return try trait.layers(spec, for: type, warn: warn).map { .layer($0) }
        }
        guard let trait = types[spec.type] else {
            guard !skip(spec) else { return [] }
            throw unknown(spec)
        }
        try trait.requireTarget(type, spec)
        let values = try trait.values(spec)
        let declared = try declare(trait, values, spec)
        guard !trait.runsCode else {
            return [.code(CodeApplication(trait, values, path: spec.path, at: spec.trackedLocation))]
        }
        var failures: [Failure] = []
        var items: [StackItem] = []
        for layer in declared {
            do throws(Failure) {
                let property = try type.tunableProperty(layer.property).property
                let amount = try property.checkAmount(layer.operation, layer.amount)
                items.append(
                    .layer(
                        DeclaredLayer(
                            property: type.description.index(of: property), layer.operation, amount,
                            at: spec.trackedLocation)))
            } catch {
                failures += error.all.map { failure in
                    var located = failure
                    located.message =
                        "the trait '\(trait.name)' declares a layer that is not possible: \(failure.message)"
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
                + (nearest.isEmpty ? "; the traits are: \(known.joined(separator: ", "))" : nearest),
            path: spec.path, at: spec.typeLocation)
        failure.finding = .unknownTrait
        return failure
    }

    /// Checks the names of traits for a key whose target is not there yet.
    public func checkNames(_ traits: [FlatTrait], skip: (TraitSpec) -> Bool) throws(Failure) {
        let failures = traits.map(\.spec).filter {
            types[$0.type] == nil && BuiltInTrait(rawValue: $0.type) == nil && !skip($0)
        }.map(unknown)
        if let failure = Failure.gathered(failures) { throw failure }
    }
}
