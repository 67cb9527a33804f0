public import InvivoBase

/// The definition in force for a key in one generation.
public struct KeyFacts {
    /// The type of its objects, or one of their supertypes; nil for a choice that declares none.
    public let type: ObjectType?
    public let scope: Scope
    /// The name of a host scope.
    public let scopeName: String?
    /// "initializer", "factory", "method", "constant", "choice", "block", "abstract" or "dormant".
    public let making: String
    public let location: Location
    public let parameters: [Signature.Parameter]
    /// The types of the objects that receive the runtime arguments; nil where something else may receive them.
    public let receivers: [ObjectType]?

    public init(_ recipe: Recipe, _ graph: Graph) {
        var receivers = ArgumentReceivers(graph)
        receivers.add(recipe)
        var (last, seen) = (recipe, Set<UInt32>())
        while case .alias(let id) = last.maker, seen.insert(id).inserted, let next = graph.recipe(id) { last = next }
        type = last.type
        making = last.maker.name
        scope = last.scope
        scopeName = last.definition.body.scopeName
        location = recipe.definition.location
        // An alias without declared parameters gives its own arguments first, then passes on those that it receives.
        var (declaring, given) = (recipe, 0)
        seen = []
        while declaring.definition.body.parameters == nil, case .alias(let id) = declaring.maker,
            seen.insert(id).inserted, let next = graph.recipe(id)
        {
            given += declaring.slots.count
            declaring = next
        }
        parameters = Array((declaring.definition.body.parameters?.parameters ?? []).dropFirst(given))
        self.receivers = receivers.areKnown ? receivers.types : nil
    }
}

/// Finds the objects that receive the runtime arguments of a definition, through references that pass them on.
private struct ArgumentReceivers {
    private let graph: Graph
    private var seen: Set<UInt32> = []
    private(set) var types: [ObjectType] = []
    private(set) var areKnown = true

    init(_ graph: Graph) { self.graph = graph }

    mutating func add(_ recipe: Recipe) {
        guard seen.insert(recipe.id).inserted else { return }
        if recipe.definition.body.choice != nil { areKnown = false }
        switch recipe.maker {
        case .alias(let id):
            let passes = recipe.definition.body.parameters == nil || recipe.slots.contains { visit($0.source) }
            if passes { add(id) }
        case .choice: areKnown = false
        case .method(let source, _):
            if visit(source) || recipe.slots.contains(where: { visit($0.source) }) { areKnown = false }
        default:
            for slot in recipe.slots where visit(slot.source) { add(recipe.type) }
        }
        for step in recipe.steps + recipe.before + recipe.after + recipe.afterAll {
            for source in step.sources where visit(source) { add(recipe.type) }
        }
    }

    private mutating func add(_ id: UInt32?) {
        guard let id, let recipe = graph.recipe(id) else { return areKnown = false }
        add(recipe)
    }

    private mutating func add(_ type: ObjectType?) {
        guard let type else { return areKnown = false }
        if !types.contains(where: { $0 === type }) { types.append(type) }
    }

    /// Returns whether the value of a source is or contains a runtime argument. Follows the arguments of references.
    private mutating func visit(_ source: Recipe.Source) -> Bool {
        let passes = visit(source.parts)
        switch source {
        case .argument, .arguments: return true
        case .path:
            if passes { areKnown = false }
            return false
        default: break
        }
        switch source.references {
        case .objects(let ids):
            if passes { add(ids.first) }
            return false
        case .deferred(let id):
            if passes { add(id) }
            return false
        case .paths, .none: return passes
        }
    }

    private mutating func visit(_ sources: [Recipe.Source]) -> Bool {
        var found = false
        for each in sources where visit(each) { found = true }
        return found
    }
}

extension Recipe.Maker {
    fileprivate var name: String {
        switch self {
        case .initializer: "initializer"
        case .factory: "factory"
        case .method: "method"
        case .constant: "constant"
        case .choice: "choice"
        case .block: "block"
        case .abstract: "abstract"
        case .dormant, .alias: "dormant"
        }
    }
}
