public import InvivoBase
public import InvivoGraph

extension Container {
    /// The definition in force for a key, in the generation that the calling thread sees.
    public func facts(_ id: UInt32) throws(Failure) -> KeyFacts {
        let graph = visibleGraph
        guard let recipe = graph.recipe(id) else {
            try requireActive(id)
            throw Failure(.notFound, "no definition has the key '\(keyName(id))'", path: keyName(id))
        }
        return KeyFacts(recipe, graph)
    }
}
