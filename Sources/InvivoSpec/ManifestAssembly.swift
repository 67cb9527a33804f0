public import InvivoBase

/// An assembly that a manifest activates, one that a module has described: under its own name, or mounted.
///
///     assemblies:
///       - camelot
///       - { mount: voice, as: left, remap: { clock.main: camelot.clock } }
public struct ManifestAssembly: Sendable {
    public let name: String
    /// The prefix under which it is mounted.
    public let prefix: String?
    /// The keys that replace its outer references.
    public let remaps: [(from: String, to: String)]
    public let location: Location
    /// Its key path in the manifest, "assemblies[0]", for errors found later.
    public let path: String
}

extension ManifestChecker {
    mutating func assemblies(of root: SpecNode) -> [ManifestAssembly] {
        guard let node = root.entries?["assemblies"] else { return [] }
        let path = SpecPath().key("assemblies")
        let items = checker.list(node, "of assemblies", path: path, hint: "write [] if there are none") ?? []
        return items.enumerated().compactMap { assembly($1, path: path.item($0)) }
    }

    private mutating func assembly(_ node: SpecNode, path: SpecPath) -> ManifestAssembly? {
        let what = "the name of an assembly, or a mount such as '{ mount: voice, as: left }'"
        guard case .map = node.content else {
            return checker.text(node, what, path: path).map {
                ManifestAssembly(name: $0, prefix: nil, remaps: [], location: node.location, path: path.text)
            }
        }
        guard let map = checker.map(node, what, path: path) else { return nil }
        checker.refuseUnknownKeys(map, known: ["mount", "as", "remap"], path: path)
        let remaps = map["remap"].map { self.remaps($0, path: path.key("remap")) } ?? []
        guard let mounted = map["mount"], let prefix = map["as"] else {
            checker.fail("a mount needs 'mount', an assembly, and 'as', a prefix", path: path, at: node.location)
            return nil
        }
        guard let name = checker.text(mounted, "the name of an assembly", path: path.key("mount")),
            let prefix = checker.text(prefix, "a prefix", path: path.key("as"))
        else { return nil }
        guard !prefix.hasPrefix("."), !prefix.hasSuffix(".") else {
            checker.fail(
                "the prefix \(quoted(prefix)) begins or ends with a dot", path: path.key("as"), at: node.location)
            return nil
        }
        return ManifestAssembly(name: name, prefix: prefix, remaps: remaps, location: node.location, path: path.text)
    }

    private mutating func remaps(_ node: SpecNode, path: SpecPath) -> [(from: String, to: String)] {
        let entries = checker.map(node, "of keys and keys", path: path, hint: "leave it out if there are none") ?? []
        return entries.compactMap { entry in
            guard checker.checkName(entry, "a key", path: path),
                let to = checker.text(entry.value, "a key", path: path.key(entry.key))
            else { return nil }
            return (entry.key, to)
        }
    }
}
