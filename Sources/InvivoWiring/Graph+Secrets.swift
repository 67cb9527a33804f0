internal import InvivoBase
internal import InvivoConfig
public import InvivoGraph

/// Secrets of the configuration that definitions receive.
extension Graph {
    /// Whether one of the paths with these ids is secret, or has a secret part.
    func hasSecret(_ ids: [UInt32], _ names: KeyNames) -> Bool {
        !secrets.isEmpty && ids.contains { id in names.configPath(id).map(secrets.touches) ?? false }
    }

    /// Whether the definition of a key injects a secret of the configuration into a property.
    public func injectsSecret(into property: String, of id: UInt32, _ names: KeyNames) -> Bool {
        guard !secrets.isEmpty, let recipe = recipe(id), let type = recipe.type else { return false }
        return recipe.steps.contains { step in
            guard case .property(let index, let source) = step else { return false }
            return type.description.properties[index].name.isSameName(as: property) && hasSecret(source, names)
        }
    }

    private func hasSecret(_ source: Recipe.Source, _ names: KeyNames) -> Bool {
        if case .config(let ids, _) = source { return hasSecret(ids, names) }
        return source.parts.contains { hasSecret($0, names) }
    }
}

extension ConfigNode {
    /// The texts by which messages could show the value.
    var texts: [String] { (anyVariables?.text.map { [$0] } ?? []) + value.texts }
}
