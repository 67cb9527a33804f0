internal import InvivoBase

/// Checks a tree against the form of a kind of document, and collects all errors.
///
/// Each step returns nil after it has noted a failure, so that the check continues with the rest of the document.
struct DocumentChecker {
    private(set) var failures = FailureList()
    /// The configuration paths that conditions of traits read.
    var conditions: [String] = []

    mutating func fail(_ message: @autoclosure () -> String, path: SpecPath, at location: Location) {
        failures.append(Failure(.spec, message(), path: path.text, at: location))
    }

    /// `hint` is for a missing value, which a half-written or commented-out line leaves.
    mutating func map(_ node: SpecNode, _ what: String, path: SpecPath, hint: String = "") -> [SpecEntry]? {
        if let entries = node.entries { return entries }
        expected("a map \(what)", node, path: path, hint: hint)
        return nil
    }

    mutating func list(_ node: SpecNode, _ what: String, path: SpecPath, hint: String = "") -> [SpecNode]? {
        if let items = node.items { return items }
        expected("a list \(what)", node, path: path, hint: hint)
        return nil
    }

    /// A text that is not empty.
    mutating func text(_ node: SpecNode, _ what: String, path: SpecPath) -> String? {
        if let text = node.text, !text.isEmpty { return text }
        expected(what, node, path: path)
        return nil
    }

    /// `hint` is for a missing value, and `advice` for any other one.
    mutating func expected(
        _ what: String, _ node: SpecNode, path: SpecPath, hint: String = "", advice: String = ""
    ) {
        let note = node.isNull && !hint.isEmpty ? "; \(hint)" : advice
        fail("expected \(what), found \(node.described)\(note)", path: path, at: node.location)
    }

    /// Notes each key that is not among the known ones, with the nearest of them.
    mutating func refuseUnknownKeys(_ entries: [SpecEntry], known: [String], path: SpecPath) {
        for entry in entries where !known.contains(entry.key) {
            fail(Self.unknownKey(entry.key, known), path: path, at: entry.keyLocation)
        }
    }

    private static func unknownKey(_ key: String, _ known: [String]) -> String {
        let near = suggestion(for: key, among: known)
        return "unknown key \(quotedName(key))"
            + (near.isEmpty ? "; expected \(known.map { "'\($0)'" }.choices())" : near)
    }

    /// Notes a name that is empty. True if it is good.
    mutating func checkName(_ entry: SpecEntry, _ what: String, path: SpecPath) -> Bool {
        if !entry.key.isEmpty { return true }
        fail("\(what) is empty", path: path, at: entry.keyLocation)
        return false
    }
}

extension [SpecEntry] {
    subscript(key: String) -> SpecNode? { first { $0.key.isSameName(as: key) }?.value }
}
