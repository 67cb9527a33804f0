public import CInvivo
public import InvivoBase
public import InvivoGraph
internal import InvivoWiring

/// Reads an assembly from its C table, with the tables of its collaborators, which may be cyclic.
public struct AssemblyReader {
    public struct Result {
        public let name: String
        /// Nil where only the name was given.
        public let first: AssemblyDescription?
        /// The assembly and all collaborators that have a table.
        public let all: [AssemblyDescription]
        public let extends: Bool
        /// The definitions that were read and may have user data, which the runtime owns.
        public var definitions: [Definition] { all.flatMap(\.definitions.unpacked) }

        /// Leaves all user data with the host, because the call that received the assembly fails.
        public func disown() {
            for each in definitions { each.disown() }
        }
    }

    private let registry: any DefinitionRegistry
    private var pending: [UnsafePointer<invivo_assembly>] = []
    private var seen: Set<UnsafePointer<invivo_assembly>> = []
    private var descriptions: [AssemblyDescription] = []

    private init(_ registry: any DefinitionRegistry) { self.registry = registry }

    /// Checks the name or prefix of an assembly.
    public static func check(name: String, _ what: String) throws(Failure) {
        guard !name.hasPrefix("."), !name.hasSuffix("."), !name.isEmpty else {
            throw Failure(.argument, "\(what) '\(name)' begins or ends with a dot, or is empty", path: name)
        }
    }

    /// Reads an assembly. When it throws, the host keeps all user data.
    public static func read(
        _ pointer: UnsafePointer<invivo_assembly>?, in registry: any DefinitionRegistry
    ) throws(Failure) -> Result {
        guard let pointer else { throw Failure(.argument, "assembly is NULL") }
        let given = try Self.given(pointer)
        let name = try Self.name(pointer)
        if given.flags & UInt32(INVIVO_ASSEMBLY_DESCRIBED) != 0 {
            return Result(name: name, first: nil, all: [], extends: false)
        }
        var reader = AssemblyReader(registry)
        reader.pending = [pointer]
        reader.seen = [pointer]
        do throws(Failure) {
            while let next = reader.pending.popLast() { reader.descriptions.append(try reader.description(next)) }
        } catch {
            for each in reader.descriptions.flatMap(\.definitions.unpacked) { each.disown() }
            throw error
        }
        return Result(
            name: name, first: reader.descriptions.first, all: reader.descriptions,
            extends: given.flags & UInt32(INVIVO_ASSEMBLY_EXTENDS) != 0)
    }

    private static func given(_ pointer: UnsafePointer<invivo_assembly>) throws(Failure) -> invivo_assembly {
        let least = MemoryLayout<invivo_assembly>.offset(of: \.collaborators) ?? 8
        let given = try versioned(pointer, "assembly", least: least, as: invivo_assembly.self)
        try requireKnown(
            given.flags, INVIVO_ASSEMBLY_DESCRIBED | INVIVO_ASSEMBLY_EXTENDS, "assembly.flags", "INVIVO_ASSEMBLY_...")
        try requireCount(given.definitions, given.definition_count, "assembly.definitions")
        _ = try entries(
            given.definitions, given.definition_count, "assembly.definitions", nil, longest: 16_777_215)
        _ = try entries(given.collaborators, given.collaborator_count, "assembly.collaborators", nil)
        _ = try entries(given.supertypes, given.supertype_count, "assembly.supertypes", nil)
        return given
    }

    /// An assembly and its bases, the most derived first.
    private static func line(_ pointer: UnsafePointer<invivo_assembly>) throws(Failure) -> [invivo_assembly] {
        var found: [invivo_assembly] = []
        var next: UnsafePointer<invivo_assembly>? = pointer
        while let one = next {
            guard found.count < 64 else { throw Failure(.cycle, "the bases of an assembly form a cycle") }
            found.append(try given(one))
            next = found[found.count - 1].base
        }
        return found
    }

    /// The name of the assembly, or that of its nearest base.
    private static func name(_ pointer: UnsafePointer<invivo_assembly>) throws(Failure) -> String {
        for given in try line(pointer) where given.name != nil {
            let name = try text(given.name, "assembly.name")
            try check(name: name, "the name")
            return name
        }
        throw Failure(.argument, "assembly.name is NULL")
    }

    private mutating func description(_ pointer: UnsafePointer<invivo_assembly>) throws(Failure) -> AssemblyDescription
    {
        let name = try Self.name(pointer)
        let line = try Self.line(pointer)
        var names: [String] = []
        var kinds: [String] = [name]
        var collaborators: [AssemblyDescription.Collaborator] = []
        var secrets: [String] = []
        for (depth, given) in line.enumerated() {
            let own = try optionalText(given.name, "assembly.name")
            if let own { names.append(own) }
            if depth > 0, let own, !kinds.contains(own) { kinds.append(own) }
            for index in 0..<Int(given.supertype_count) {
                let kind = try text(given.supertypes[index], "supertypes[\(index)]")
                if !kinds.contains(kind) { kinds.append(kind) }
            }
            for path in try secretPaths(given.secrets, given.secret_count, "assembly.secrets")
            where !secrets.contains(path) {
                secrets.append(path)
            }
            for index in 0..<Int(given.collaborator_count) {
                let each = try collaborator(given.collaborators[index], index, name)
                if !collaborators.contains(where: { $0.prefix.isSameName(as: each.prefix) }) {
                    collaborators.append(each)
                }
            }
        }
        let location = Location(
            file: try optionalText(line[0].file, "assembly.file") ?? "", line: line[0].line, column: line[0].column)
        // Last: nothing throws after the definitions have been taken over.
        let definitions = try definitions(line, name, names)
        return AssemblyDescription(
            name: name, definitions: definitions, collaborators: collaborators, kinds: kinds, location: location,
            secrets: secrets, keys: registry.names)
    }

    private mutating func collaborator(_ given: invivo_collaborator, _ index: Int, _ name: String) throws(Failure)
        -> AssemblyDescription.Collaborator
    {
        guard given.flags & ~UInt32(INVIVO_COLLABORATOR_OPTIONAL) == 0 else {
            throw Failure(.argument, "collaborators[\(index)].flags contains unknown ones", path: name)
        }
        let prefix = try text(given.prefix, "collaborators[\(index)].prefix")
        try Self.check(name: prefix, "the prefix")
        var table: String?
        if let pointer = given.table {
            table = try Self.name(pointer)
            if seen.insert(pointer).inserted { pending.append(pointer) }
        }
        return AssemblyDescription.Collaborator(
            prefix: prefix,
            wanted: try optionalText(given.assembly, "collaborators[\(index)].assembly") ?? table ?? prefix,
            table: table, isOptional: given.flags & UInt32(INVIVO_COLLABORATOR_OPTIONAL) != 0)
    }

    // MARK: definitions

    /// The definitions of an assembly and its bases, in the order of the bases; the most derived of each key.
    private func definitions(_ line: [invivo_assembly], _ name: String, _ names: [String]) throws(Failure)
        -> [Definition]
    {
        var members = Members(registry.names)
        var every: [Definition] = []
        do throws(Failure) {
            for given in line.reversed() {
                let own = try table(given, name, names)
                every += own
                try members.add(own)
            }
        } catch {
            for definition in every { definition.disown() }
            throw error
        }
        // A reference without a dot means a member, if there is one of that name. An extension does not see all members.
        let extends = line[0].flags & UInt32(INVIVO_ASSEMBLY_EXTENDS) != 0
        return members.definitions.map { definition in
            definition.renamed(id: definition.id, key: definition.key, assembly: name) { reference in
                let whole = Self.whole(reference, name, names)
                return extends || Self.isWhole(reference) || members.contains(whole) ? whole : reference
            }
        }
    }

    private static func isWhole(_ key: String) -> Bool { key.contains(byte: UInt8(ascii: ".")) }

    private static func whole(_ key: String, _ name: String, _ names: [String]) -> String {
        guard isWhole(key) else { return name + "." + key }
        // The name of a base is replaced by the name of the derived assembly.
        for other in names where !other.isSameName(as: name) {
            if let rest = key.rest(after: other + ".") { return "\(name).\(rest)" }
        }
        return key
    }

    /// Reads one table of definitions and completes their keys.
    private func table(_ given: invivo_assembly, _ name: String, _ names: [String]) throws(Failure) -> [Definition] {
        guard given.definition_count > 0, let table = UnsafeRawPointer(given.definitions) else { return [] }
        let inlines = InlineDefinitions()
        let reader = DefinitionReader(registry, inlines)
        var found: [Definition] = []
        // The size of the first entry is also the stride of the table, which may be that of another version.
        let stride = table.loadUnaligned(as: Int.self)
        do throws(Failure) {
            for index in 0..<Int(given.definition_count) {
                let entry = (table + index * stride).assumingMemoryBound(to: invivo_definition.self)
                guard entry.pointee.struct_size == stride else {
                    throw Failure(
                        .argument, "definitions[\(index)].struct_size is not that of the table's first entry",
                        path: name)
                }
                found.append(try reader.definition(entry) { Self.whole($0, name, names) })
            }
        } catch {
            for each in found { each.disown() }
            inlines.disown()
            throw error
        }
        return found + inlines.definitions
    }
}

/// The definitions of an assembly and its bases: the most derived one of each key, in the order in which the keys were first defined.
private struct Members {
    private struct Member {
        /// Nil: removed with the definition in which it was an inline one.
        var definition: Definition?
        /// The number of the table that it is from. The table of the last base has number 1.
        var table: Int
    }

    private let names: KeyNames
    private var members: [Member] = []
    /// The index of each key's member.
    private var indices: IDTable<Int> = [:]
    private var tables = 0

    init(_ names: KeyNames) { self.names = names }

    var definitions: [Definition] { members.compactMap(\.definition) }

    func contains(_ key: String) -> Bool { names.id(of: key).map { member($0) != nil } ?? false }

    private func member(_ id: UInt32) -> Definition? { indices[id].flatMap { members[$0].definition } }

    /// Adds a table, whose definitions override those of its bases.
    mutating func add(_ own: [Definition]) throws(Failure) {
        tables += 1
        if tables > 1 { removeInlines(overriddenBy: own) }
        indices.reserveCapacity(indices.count + own.count)
        for definition in own {
            guard let index = indices[definition.id] else {
                indices[definition.id] = members.count
                members.append(Member(definition: definition, table: tables))
                continue
            }
            if let other = members[index].definition {
                guard members[index].table < tables else {
                    throw AssemblyDescription.twice(definition.key, other, definition)
                }
                other.disown()
            }
            members[index] = Member(definition: definition, table: tables)
        }
    }

    /// The inline definitions of an overridden definition are removed with it.
    private mutating func removeInlines(overriddenBy own: [Definition]) {
        let overriding = Set(own.map(\.id))
        let removed = members.indices.filter { index in
            guard let definition = members[index].definition, !overriding.contains(definition.id) else { return false }
            return isInline(definition, in: overriding)
        }
        for index in removed {
            members[index].definition?.disown()
            members[index].definition = nil
        }
    }

    /// Whether it is an inline definition of one of these keys, directly or within another one.
    private func isInline(_ definition: Definition, in keys: Set<UInt32>) -> Bool {
        var next = definition.body.owner
        while let owner = next.flatMap(names.id(of:)) {
            if keys.contains(owner) { return true }
            next = member(owner)?.body.owner
        }
        return false
    }
}
