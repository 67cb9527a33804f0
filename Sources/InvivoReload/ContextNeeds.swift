internal import InvivoBase
internal import InvivoGraph

/// The values of contexts that a shared object, or an object that is created for it alone, receives: contexts in which it lives must have
/// them.
struct ContextNeeds {
    private let holder: Recipe
    /// From the holder to the object that receives the values, without the holder.
    private let way: [Recipe]
    private let registrations: any Registrations

    init(of holder: Recipe, through way: [Recipe], _ registrations: any Registrations) {
        (self.holder, self.way, self.registrations) = (holder, way, registrations)
    }

    /// One failure for each value that is out of reach.
    var failures: [Failure] {
        var found: [Failure] = []
        (way.last ?? holder).forEachSource { source in
            source.forEach { part in
                guard case .context(let value, let otherwise) = part,
                    let failure = failure(of: value, hasDefault: otherwise != nil)
                else { return }
                found.append(failure)
            }
        }
        return found
    }

    private func failure(of value: Recipe.ContextValue, hasDefault: Bool) -> Failure? {
        guard holder.scope == .context else {
            return fail(
                .captive,
                "it lives in no context: inject a provider of an object of a context that receives the value, or declare the scope 'context'",
                value)
        }
        // An object without a kind lives in any context.
        guard let kind = holder.definition.body.scopeName else { return nil }
        if let named = value.kind, registrations.isKind(named, inside: kind) {
            return fail(
                .captive,
                "contexts of the kind '\(named)' are inside of those of the kind '\(kind)', in which the object lives: name "
                    + "'\(kind)' or an outer kind", value)
        }
        let wanted = value.kind ?? kind
        guard !hasDefault, !registrations.provides(value.key, in: wanted) else { return nil }
        return fail(
            .notFound,
            "neither the kind '\(wanted)' nor an outer one provides it: declare it for one of them, or give a default",
            value)
    }

    private func fail(_ code: Status, _ message: String, _ value: Recipe.ContextValue) -> Failure {
        let path = way.isEmpty ? "" : " (\(([holder] + way).map(\.key).path()))"
        let kind = value.kind.map { " of the kind '\($0)'" } ?? ""
        return Failure(
            code,
            "'\(holder.key)' (\(holder.definition.scopeName)) receives the value '\(value.key)' of a context\(kind)\(path), and \(message)",
            path: holder.key, at: holder.definition.location)
    }
}
