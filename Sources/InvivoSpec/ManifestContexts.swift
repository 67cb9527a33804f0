public import InvivoBase

/// A kind of contexts that a manifest declares: `{ request: follows, provides: [user], live: [locale] }`.
public struct ManifestContextKind: Sendable {
    /// A value that each context of the kind has from its opening on.
    public struct Provided: Sendable {
        public let key: String
        /// Whether it may change while the context is open.
        public let isLive: Bool
    }

    public let name: String
    public let provides: [Provided]
    public let location: Location
    /// Its key path in the manifest: "contexts[0]".
    public let path: String
}

extension ManifestChecker {
    /// The kinds of contexts, from the outermost to the innermost.
    mutating func contexts(of root: SpecNode) -> [ManifestContextKind] {
        guard let node = root["contexts"] else { return [] }
        let path = SpecPath().key("contexts")
        let what =
            "of kinds of contexts, from the outermost to the innermost, such as [{ session: follows }, { request: follows }]"
        let items = checker.list(node, what, path: path) ?? []
        var names: NameSet = []
        return items.enumerated().compactMap { index, item in
            guard let kind = contextKind(item, path: path.item(index)) else { return nil }
            guard names.insert(kind.name).inserted else {
                checker.fail(
                    "the kind \(quoted(kind.name)) is declared twice", path: path.item(index), at: kind.location)
                return nil
            }
            return kind
        }
    }

    private mutating func contextKind(_ item: SpecNode, path: SpecPath) -> ManifestContextKind? {
        let what = "with the name of a kind and its policy, such as '{ request: follows, provides: [user] }'"
        guard let map = checker.map(item, what, path: path) else { return nil }
        let options = ["provides", "live"]
        // A kind may have the name of an option: the first key is the kind.
        guard let head = map.first(where: { !options.contains($0.key) }) ?? map.first else {
            checker.fail("expected a map \(what)", path: path, at: item.location)
            return nil
        }
        guard checker.checkName(head, "the name of a kind of contexts", path: path) else { return nil }
        for entry in map where entry.key != head.key && !options.contains(entry.key) {
            let near = suggestion(for: entry.key, among: options)
            checker.fail(
                "unknown key \(quotedName(entry.key)) beside the kind \(quotedName(head.key))"
                    + (near.isEmpty ? "; each kind is an item of the list" : near), path: path, at: entry.keyLocation)
        }
        switch checker.text(head.value, "'follows'", path: path.key(head.key)) {
        case "follows"?, nil: break
        case "pinned"?:
            checker.fail(
                "the policy 'pinned' is not supported yet; expected 'follows'", path: path.key(head.key),
                at: head.value.location)
        case let policy?:
            let near = suggestion(for: policy, among: ["follows"])
            checker.fail(
                "unknown policy \(quoted(policy))\(near.isEmpty ? "; expected 'follows'" : near)",
                path: path.key(head.key),
                at: head.value.location)
        }
        var provides: [ManifestContextKind.Provided] = []
        var keys: NameSet = []
        for name in options where name != head.key {
            guard let node = map[name] else { continue }
            let path = path.key(name)
            for (index, item) in (checker.list(node, "of keys of contexts", path: path) ?? []).enumerated() {
                guard let key = checker.text(item, "a key of contexts", path: path.item(index)) else { continue }
                guard keys.insert(key).inserted else {
                    checker.fail("the key \(quoted(key)) is listed twice", path: path.item(index), at: item.location)
                    continue
                }
                provides.append(ManifestContextKind.Provided(key: key, isLive: name == "live"))
            }
        }
        return ManifestContextKind(name: head.key, provides: provides, location: head.keyLocation, path: path.text)
    }

    /// `$context.user` or `$context(session).user`.
    mutating func contextValue(_ text: String, path: SpecPath, at location: Location) -> ManifestForm {
        var form = ManifestForm(kind: .context)
        var rest = text.dropFirst("$context".utf8.count)
        if rest.hasPrefix("(") {
            let kind = rest.dropFirst().prefix { $0 != ")" }
            rest = rest.dropFirst(kind.count + 2)
            form.contextKind = String(kind)
        }
        form.name = String(rest.dropFirst())
        if !rest.hasPrefix(".") || form.name.isEmpty || form.contextKind?.isEmpty == true {
            checker.fail(
                "\(quoted(text)) is no value of a context; expected $context.KEY or $context(KIND).KEY", path: path,
                at: location)
            form.name = "?"
        }
        return form
    }
}
