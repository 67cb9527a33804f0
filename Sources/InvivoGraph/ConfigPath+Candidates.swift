public import InvivoConfig

extension Definition {
    /// The full paths at which a pattern looks for its entries; none for another definition.
    public var patternPaths: [String] { body.each.map { ConfigPath.candidates($0, for: self) } ?? [] }
}

extension ConfigPath {
    /// The full paths at which a definition looks for a path, in this order: its own scopes from the innermost to the
    /// outermost, the scopes of its assembly, the global one.
    public static func candidates(_ path: String, for definition: Definition) -> [String] {
        if path.hasPrefix("/") { return [whole(path)] }
        var found: [String] = []
        for key in [definition.key] + (definition.body.origin.map { [$0] } ?? []) {
            var scope = key[...]
            while let dot = scope.lastIndex(of: ".") {
                scope = scope[..<dot]
                let candidate = "\(scope).\(path)"
                if !found.contains(candidate) { found.append(candidate) }
            }
        }
        // A key of no assembly looks from the top.
        if found.isEmpty { found.append(path) }
        return found + ["global.\(path)"]
    }
}
