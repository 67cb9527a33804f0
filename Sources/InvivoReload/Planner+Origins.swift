internal import InvivoBase
internal import InvivoGraph

extension Planner {
    /// Returns the origin of the definition of a key after the plan; none if it is removed.
    func origin(of definition: Definition?, _ definitions: DefinitionPlan, _ origins: Origins) -> Report.Origin {
        guard let definition else { return .none }
        return origins.definition(definition, covers(definition.id, definitions))
    }
}
