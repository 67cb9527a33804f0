internal import InvivoBase
internal import InvivoContexts
internal import InvivoGraph

/// Values of contexts that are injected.
extension Build {
    /// The value that a lookup finds from the context in which the object is created; nil if there is none, or if it is hidden. An error
    /// if it is needed then.
    func contextValue(_ wanted: Recipe.ContextValue, _ recipe: Recipe, isNeeded: Bool) throws(Failure) -> Value? {
        guard let start = startingContext else {
            throw Failure(
                .notReady,
                "'\(recipe.key)' receives the value '\(wanted.key)' of a context, and is created in no context: resolve it in one, or enter one",
                path: recipe.key, at: recipe.definition.location)
        }
        let scopes = container.registry.scopes
        note(ScopeInstance(scope: scopes.contexts, instance: start.bits))
        do throws(Failure) {
            guard let from = try home(wanted.kind, from: start, isNeeded: isNeeded) else { return nil }
            var key = wanted.id
            if key == nil { key = try container.intern(wanted.key) }
            if let key, let found = try Contexts.value(of: container.keyHandle(key), in: from) { return found }
            guard isNeeded else { return nil }
            throw Failure(
                .notFound,
                "'\(recipe.key)' receives the value '\(wanted.key)' of a context, and \(Contexts.chain(of: from)) has none",
                path: recipe.key, at: recipe.definition.location)
        } catch { throw error.named(recipe.key, recipe.definition.location) }
    }

    /// The nearest context of a kind. Nil if there is none and none is needed.
    private func home(_ kind: String?, from start: ContextHandle, isNeeded: Bool) throws(Failure) -> ContextHandle? {
        guard let kind else { return start }
        let index = try container.registry.contexts.kinds.index(named: kind)
        do throws(Failure) { return try Contexts.home(from: start, kind: index) } catch {
            guard isNeeded || error.code != .notReady else { return nil }
            throw error
        }
    }
}
