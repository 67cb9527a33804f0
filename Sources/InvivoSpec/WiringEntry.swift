public import InvivoBase

/// An entry under `wiring:`: the decision of a document about the definition of a key.
///
///     wiring:
///       audio.backend: { alias: audio.jack }
///       synth.wave: { choose: saw }
///       web.session: { scope: singleton }
public struct WiringEntry: Sendable {
    public enum Decision: Sendable {
        /// The key is another name of the definition with the key of this node.
        case alias(SpecNode)
        /// A choice selects the option that this value matches.
        case choose(SpecNode)
        /// The definition has this scope.
        case scope(ManifestScope)
        /// The definition has the scope in this node: that of a kind of contexts, or one of the host.
        case namedScope(SpecNode)
        /// The decisions of lower documents do not apply.
        case described
    }

    public let key: String
    public let decision: Decision
    public let location: Location
    /// Its key path in the document.
    public let path: String

    private static let form = ["alias", "choose", "scope"]

    /// Reads the entries under `wiring:`. Only their form is checked.
    static func entries(of root: SpecNode, _ checker: inout DocumentChecker) -> [WiringEntry] {
        guard let node = root["wiring"] else { return [] }
        let path = SpecPath().key("wiring")
        let hint = "write {} if no definition is changed"
        let entries = checker.map(node, "of keys and their wiring", path: path, hint: hint)
        return (entries ?? []).compactMap { entry in
            guard checker.checkName(entry, "a key", path: path) else { return nil }
            return self.entry(entry, path: path.key(entry.key), &checker)
        }
    }

    private static func entry(
        _ entry: SpecEntry, path: SpecPath, _ checker: inout DocumentChecker
    ) -> WiringEntry? {
        func decided(_ decision: Decision, at location: Location) -> WiringEntry {
            WiringEntry(key: entry.key, decision: decision, location: location, path: path.text)
        }
        guard !entry.value.isNull else { return decided(.described, at: entry.value.location) }
        guard let map = checker.map(entry.value, "with 'alias', 'choose' or 'scope'", path: path) else { return nil }
        guard map.allSatisfy({ form.contains($0.key) }) else {
            checker.refuseUnknownKeys(map, known: form, path: path)
            return nil
        }
        guard map.count == 1, let given = map.first else {
            let found = map.isEmpty ? "nothing" : map.map { quotedName($0.key) }.joined(separator: " and ")
            checker.fail(
                "expected one of \(form.map { "'\($0)'" }.choices()), found \(found)", path: path,
                at: entry.value.location)
            return nil
        }
        let (value, valuePath) = (given.value, path.key(given.key))
        switch given.key {
        case "alias":
            guard checker.text(value, "the key of another definition", path: valuePath) != nil else { return nil }
            return decided(.alias(value), at: value.location)
        case "choose":
            guard !value.isMap, value.items == nil else {
                checker.expected(
                    "the value of an option: a string, a number, a boolean or null", value, path: valuePath)
                return nil
            }
            return decided(.choose(value), at: value.location)
        default:
            switch checker.scope(value, path: valuePath) {
            case .standard(let scope)?: return decided(.scope(scope), at: value.location)
            case .context?, .host?: return decided(.namedScope(value), at: value.location)
            case nil: return nil
            }
        }
    }
}
