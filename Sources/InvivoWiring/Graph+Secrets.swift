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

    /// An error of host code of an object, without the secrets of the configuration that the definition of its key receives.
    func withoutSecrets(_ failure: Failure, of id: UInt32, _ names: KeyNames) -> Failure {
        guard !secrets.isEmpty, let recipe = recipe(id) else { return failure }
        let steps = recipe.before + recipe.steps + recipe.after + recipe.afterAll
        let sources = recipe.slots.map(\.source) + steps.flatMap(\.sources)
        return failure.without(secrets: secretTexts(in: sources, names))
    }

    /// The texts of the secrets of the configuration among the sources of values.
    func secretTexts(in sources: [Recipe.Source], _ names: KeyNames) -> [String] {
        guard !secrets.isEmpty else { return [] }
        var found: [String] = []
        func look(_ source: Recipe.Source) {
            switch source {
            case .config(let ids, let value):
                guard hasSecret(ids, names) else { return }
                for id in ids { found += setting(id)?.node.texts ?? [] }
                value.forEach { part in if case .value(let value) = part { found += value.texts } }
            case .setting(let setting):
                guard hasSecret(setting.ids, names) else { return }
                for id in setting.ids { found += self.setting(id)?.node.texts ?? [] }
                found += setting.otherwise?.texts ?? []
            case .list, .set, .map, .context: source.parts.forEach(look)
            case .value, .object, .all, .argument, .arguments, .path, .deferred, .resolver, .asker: break
            }
        }
        sources.forEach(look)
        return found
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
