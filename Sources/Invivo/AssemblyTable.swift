internal import CInvivo

/// An assembly as a table of the C ABI, for one call.
struct AssemblyTable {
    private let core: Core
    private let assembly: Assembly
    private let definitions: [(name: String, definition: AnyDefinition)]
    private let wanted: ActiveAssembly
    private let home: Resolver.Home
    /// The remaps that a collaborator has followed already.
    private let met: Set<String>
    private(set) var problems: [InvivoError] = []

    init(
        _ core: Core, _ assembly: Assembly, _ definitions: [(name: String, definition: AnyDefinition)],
        _ wanted: ActiveAssembly, _ home: Resolver.Home, met: Set<String>
    ) {
        self.core = core
        self.assembly = assembly
        self.definitions = definitions
        self.wanted = wanted
        self.home = home
        self.met = met
    }

    mutating func activate(_ changes: ChangeSet) throws(InvivoError) -> ActiveAssembly {
        try written { core, raw, _ throws(InvivoError) in
            try core.call { $0.pointee.changes_activate(changes.handle, &raw, nil, $1) }
        }
    }

    mutating func describe() throws(InvivoError) -> ActiveAssembly {
        try written { core, raw, _ throws(InvivoError) in
            try core.call { $0.pointee.assembly_describe(core.handle, &raw, $1) }
        }
    }

    mutating func mount(_ changes: ChangeSet, _ prefix: String) throws(InvivoError) -> ActiveAssembly {
        // References in a closure are known only when it runs. Without such closures, every reference must be used.
        let isLate = definitions.contains { $0.definition.draft.resolves }
        let (all, met) = (home.remaps.pairs, met)
        return try written { core, raw, written throws(InvivoError) in
            let pairs = all.filter { pair in
                written.references.contains { Remaps.fits(pair.from, $0) } || (!isLate && !met.contains(pair.from))
            }
            var remaps: [invivo_remap] = []
            for pair in pairs {
                remaps.append(
                    invivo_remap(from: try written.arena.name(pair.from), to: try written.arena.name(pair.to)))
            }
            let table = UnsafePointer(written.arena.table(remaps))
            try core.call(naming: prefix) {
                $0.pointee.changes_mount(changes.handle, &raw, $1, table, remaps.count, $2)
            }
        }
    }

    /// The definitions of a table that is being written.
    final class Written {
        let arena: Arena
        var definitions: [invivo_definition] = []
        /// Owned by the C side once the call has succeeded.
        var factories: [Unmanaged<Factory>] = []
        /// The keys that are named in it.
        var references: Set<String> = []
        /// For a mount: the table contains the assembly's own name instead of the prefix.
        private let mount: (prefix: String, name: String)?

        init(_ arena: Arena, _ assembly: Assembly) {
            self.arena = arena
            mount = assembly.mounted.map { (prefix: $0 + ".", name: assembly.ownName + ".") }
        }

        /// A key as the table has it.
        func written(_ key: String) -> String {
            guard let mount, key.hasPrefix(mount.prefix) else { return key }
            return mount.name + key.dropFirst(mount.prefix.count)
        }

        /// The key in the runtime of a key of the table.
        func there(_ key: String) -> String {
            guard let mount, key.hasPrefix(mount.name) else { return key }
            return mount.prefix + key.dropFirst(mount.name.count)
        }
    }

    private mutating func written(
        _ give: (Core, inout invivo_assembly, Written) throws(InvivoError) -> Void
    ) throws(InvivoError) -> ActiveAssembly {
        var next = wanted
        var found: [InvivoError] = []
        try withArena { arena throws(InvivoError) in
            let written = Written(arena, assembly)
            do throws(InvivoError) {
                for (member, definition) in definitions {
                    var describer = Describer(core, .table(written), home)
                    describer.define("\(assembly.ownName).\(member)", definition.draft)
                    next.members[member]?.inner = describer.inner.map(written.there)
                    for var problem in describer.problems {
                        problem.path = written.there(problem.path)
                        found.append(problem)
                    }
                }
                if let error = InvivoError(all: found) { throw error }
                var raw = try described(written)
                try give(core, &raw, written)
            } catch {
                for factory in written.factories { factory.release() }
                throw error
            }
        }
        return next
    }

    private func described(_ written: Written) throws(InvivoError) -> invivo_assembly {
        let arena = written.arena
        var raw = invivo_assembly()
        raw.struct_size = MemoryLayout<invivo_assembly>.size
        raw.name = try arena.name(assembly.ownName)
        raw.definitions = UnsafePointer(arena.table(written.definitions))
        raw.definition_count = UInt64(written.definitions.count)
        var collaborators: [invivo_collaborator] = []
        let references = Set(wanted.bound.values).filter {
            $0.prefix != assembly.name && $0.prefix != assembly.ownName
        }
        for reference in references.sorted(by: { $0.prefix < $1.prefix }) {
            var entry = invivo_collaborator()
            entry.prefix = try arena.name(reference.prefix)
            entry.assembly = try arena.name(reference.kind)
            if reference.isOptional { entry.flags = UInt32(INVIVO_COLLABORATOR_OPTIONAL) }
            collaborators.append(entry)
        }
        raw.collaborators = UnsafePointer(arena.table(collaborators))
        raw.collaborator_count = UInt64(collaborators.count)
        let kinds = assembly.allKinds
        raw.supertypes = try arena.names(kinds)
        raw.supertype_count = UInt64(kinds.count)
        let secrets = assembly.secretPaths
        raw.secrets = try arena.names(secrets)
        raw.secret_count = UInt64(secrets.count)
        if let first = definitions.first?.definition.draft {
            raw.file = try arena.name("\(first.file)")
            raw.line = UInt32(clamping: first.line)
        }
        return raw
    }
}
