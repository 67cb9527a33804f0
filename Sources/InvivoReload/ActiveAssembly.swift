internal import InvivoBase
internal import InvivoGraph

/// An assembly as it is active, or is to be: under its own name, or mounted under a prefix.
struct ActiveAssembly: Sendable {
    let name: String
    var description: AssemblyDescription
    let remaps: [AssemblyRemap]
    /// The assemblies to which references lead, by their prefixes.
    var bound: NameTable<String> = [:]
    /// The ids of its keys that were replaced or removed alone since its activation. The description has no effect on
    /// them until the assembly is activated with other content, or removed and activated again.
    var alone: Set<UInt32> = []

    /// The ids of its definitions, also of those that were replaced or removed since.
    var members: [UInt32] = []
    /// The numbers in the order of declaration that its definitions have, with room for others between and after them.
    var numbers: Range<UInt64> = 0..<0

    func isSame(as other: ActiveAssembly) -> Bool {
        remaps.elementsEqual(other.remaps) { $0.from.isSameName(as: $1.from) && $0.to.isSameName(as: $1.to) }
            && description.isSame(as: other.description)
    }

    /// Its definitions under the keys that they have here. `used` receives the remaps that something follows.
    func expanded(_ intern: (String) throws(Failure) -> UInt32, used: inout NameSet) throws(Failure) -> [Definition] {
        guard !name.isSameName(as: description.name) || !remaps.isEmpty || !bound.isEmpty else {
            return description.definitions.map { $0.of(assembly: name) }
        }
        var found: [Definition] = []
        for definition in description.definitions {
            let key = try self.key(definition)
            let id = key == definition.key ? definition.id : try intern(key)
            found.append(definition.renamed(id: id, key: key, assembly: name) { rename($0, &used) })
        }
        return found
    }

    /// A key of the description, here.
    private func key(_ definition: Definition) throws(Failure) -> String {
        guard !name.isSameName(as: description.name) else { return definition.key }
        guard let inside = inside(definition.key) else {
            throw Failure(
                .argument,
                "the assembly '\(description.name)' cannot be mounted: the key '\(definition.key)' is not under its name",
                path: name, at: definition.location)
        }
        return inside
    }

    /// A key under the assembly's own name, under the one it has here.
    private func inside(_ key: String) -> String? {
        key.rest(after: description.name + ".").map { "\(name).\($0)" }
    }

    /// The key to which a reference leads.
    private func rename(_ key: String, _ used: inout NameSet) -> String {
        if description.defines(key) { return inside(key) ?? key }
        let fitting = remaps.filter { key.isSameName(as: $0.from) || key.rest(after: $0.from + ".") != nil }
        if let best = fitting.max(by: { $0.from.utf8.count < $1.from.utf8.count }) {
            used.insert(best.from)
            return best.to + (key.rest(after: best.from) ?? "")
        }
        for (prefix, assembly) in bound {
            if let rest = key.rest(after: prefix + ".") { return "\(assembly).\(rest)" }
        }
        return key
    }

    /// The keys outside of the assembly that its description refers to.
    var outerReferences: [String] {
        let all = description.definitions.flatMap(\.names)
        return Set(all.filter { !description.defines($0) }).sorted()
    }
}
