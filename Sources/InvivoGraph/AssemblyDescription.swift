public import InvivoBase

/// A named set of definitions as described. Immutable; independent of its activation.
public final class AssemblyDescription: Sendable {
    /// Another assembly to which references of this one lead.
    public struct Collaborator: Equatable, Sendable {
        /// The first part of references to a member of the collaborator.
        public let prefix: String
        /// The required assembly, by its own name or that of a supertype.
        public let wanted: String
        /// The one to activate when there is no other.
        public let table: String?
        public let isOptional: Bool

        public init(prefix: String, wanted: String, table: String?, isOptional: Bool) {
            self.prefix = prefix
            self.wanted = wanted
            self.table = table
            self.isOptional = isOptional
        }
    }

    public let name: String
    /// With whole keys, as they are when it is active under its own name; in declared order.
    public let definitions: DefinitionList
    public let collaborators: [Collaborator]
    /// The names of this assembly's kinds: its own, those of its base assemblies, and interfaces.
    public let kinds: [String]
    public let location: Location
    /// The configuration paths that are secret while it is active.
    public let secrets: [String]
    private let keys: KeyNames
    /// The ids of the keys, sorted.
    private let members: [UInt32]

    /// `keys` has the keys of the definitions. Must not be called with its lock held.
    public init(
        name: String, definitions: [Definition], collaborators: [Collaborator], kinds: [String], location: Location,
        secrets: [String] = [], keys: KeyNames
    ) {
        self.name = name
        self.definitions = DefinitionList(definitions)
        self.collaborators = collaborators
        self.kinds = kinds
        self.location = location
        self.secrets = secrets
        self.keys = keys
        members = definitions.map(\.id).sorted()
    }

    /// Whether one of its definitions has the key.
    public func defines(_ key: String) -> Bool {
        guard let id = keys.id(of: key) else { return false }
        let position = members.partitioningIndex { $0 >= id }
        return position < members.count && members[position] == id
    }

    /// Whether both are equal; source locations are ignored.
    public func isSame(as other: AssemblyDescription) -> Bool {
        self === other
            || name.isSameName(as: other.name) && kinds == other.kinds && collaborators == other.collaborators
                && secrets == other.secrets
                && definitions.elementsEqual(other.definitions) { $0.isSame(as: $1) }
    }

    /// Joins two equal descriptions: their common data ends with the last of them.
    public func join(_ other: AssemblyDescription) {
        guard self !== other else { return }
        for (own, kept) in zip(definitions, other.definitions) { own.join(kept) }
    }

    /// This description, extended by a table of the same name.
    public func extended(by more: AssemblyDescription) -> AssemblyDescription {
        let former = NameTable(definitions.map { ($0.key, $0) })
        var added: [Definition] = []
        for definition in more.definitions {
            if let known = former[definition.key], known.isSame(as: definition) {
                definition.join(known)
            } else {
                added.append(definition)
            }
        }
        return AssemblyDescription(
            name: name, definitions: definitions + added,
            collaborators: collaborators + more.collaborators.filter { !collaborators.contains($0) },
            kinds: kinds + more.kinds.filter { !kinds.contains(where: $0.isSameName(as:)) }, location: location,
            secrets: secrets + more.secrets.filter { !secrets.contains($0) }, keys: keys)
    }

    public func isKind(of name: String) -> Bool { kinds.contains(where: name.isSameName(as:)) }

    /// The error for two definitions of one key; it names both source locations.
    public static func twice(_ key: String, _ one: Definition, _ other: Definition) -> Failure {
        func shown(_ definition: Definition) -> String {
            let at = definition.location.text
            guard let assembly = definition.body.assembly else { return at.isEmpty ? "an unknown source location" : at }
            return at.isEmpty ? "the assembly '\(assembly)'" : "\(at) (assembly '\(assembly)')"
        }
        return Failure(
            .exists,
            "the key is defined twice, at \(shown(one)) and at \(shown(other)); give one of the two another name",
            path: key, at: other.location)
    }
}

extension Location {
    /// "file:line:column", as far as it is known.
    public var text: String {
        guard !file.isEmpty else { return "" }
        return line == 0 ? file : column == 0 ? "\(file):\(line)" : "\(file):\(line):\(column)"
    }
}
