internal import CInvivo

/// Translates a draft to the C ABI: one definition, and its inline definitions.
struct Describer {
    let core: Core
    let target: Target
    /// The assembly that contains the definition; nil for a definition outside of assemblies.
    let home: Resolver.Home?
    /// The keys of its inline definitions.
    private(set) var inner: [String] = []
    /// The keys of the definitions being described, from the outermost on; each contains the next one.
    private var outer: [String] = []
    private(set) var problems: [InvivoError] = []

    /// The destination of a described definition.
    enum Target {
        case changes(ChangeSet)
        case table(AssemblyTable.Written)
        /// An override, which has no definitions inline.
        case override
    }

    init(_ core: Core, _ target: Target, _ home: Resolver.Home?) {
        self.core = core
        self.target = target
        self.home = home
    }

    /// Defines `key` by the draft; stores errors in `problems`.
    mutating func define(_ key: String, _ draft: Draft) {
        let core = core
        do throws(InvivoError) {
            switch target {
            case .changes(let changes):
                try withArena { arena throws(InvivoError) in
                    try described(key, draft, arena) { definition, _ throws(InvivoError) in
                        try core.call { $0.pointee.changes_define(changes.handle, &definition, nil, $1) }
                    }
                }
            case .table(let table):
                try described(key, draft, table.arena) { definition, factory throws(InvivoError) in
                    table.definitions.append(definition)
                    if let factory { table.factories.append(factory) }
                }
            case .override:
                throw InvivoError(.argument, "an override has no inline definitions: give them keys of their own")
            }
        } catch { fail(error, key, draft) }
    }

    mutating func fail(_ error: InvivoError, _ path: String, _ draft: Draft) {
        for var error in error.errors {
            if error.path.isEmpty { error.path = path }
            if error.file.isEmpty {
                error.file = "\(draft.file)"
                error.line = Int(draft.line)
            }
            problems.append(error)
        }
    }

    /// Fills the C definition and calls `body` with it and its factory. If `body` succeeds, the definition owns the
    /// factory.
    mutating func described(
        _ key: String, _ draft: Draft, _ arena: Arena,
        _ body: (inout invivo_definition, Unmanaged<Factory>?) throws(InvivoError) -> Void
    ) throws(InvivoError) {
        for problem in draft.problems { fail(problem, key, draft) }
        var definition = invivo_definition()
        definition.struct_size = MemoryLayout<invivo_definition>.size
        definition.key = try arena.name(key)
        if let owner = outer.last { definition.owner = try arena.name(owner) }
        outer.append(key)
        defer { outer.removeLast() }
        definition.file = try arena.name("\(draft.file)")
        definition.line = UInt32(clamping: draft.line)
        definition.scope = draft.scope?.code ?? UInt32(INVIVO_SCOPE_DEFAULT)
        definition.scope_name = try arena.name(draft.scope?.kind)
        definition.rank = draft.rank
        if draft.isAbstract { definition.flags |= UInt32(INVIVO_DEFINITION_ABSTRACT) }
        if draft.isHiddenByClass { definition.flags |= UInt32(INVIVO_DEFINITION_HIDDEN_CLASS) }
        if draft.isHiddenByInterface { definition.flags |= UInt32(INVIVO_DEFINITION_HIDDEN_INTERFACE) }
        if draft.isNullable { definition.flags |= UInt32(INVIVO_DEFINITION_NULLABLE) }
        if let parent = draft.parent { definition.parent = try arena.name(noted(try name(of: parent))) }
        let needed = draft.parameters.map { $0.shape.isOptional || $0.defaultValue != nil }.neededCount
        let parameters = try draft.parameters.enumerated().map { index, parameter throws(InvivoError) in
            let isKnown = parameter.shape.choices.isEmpty && !parameter.shape.isOptional
            return invivo_parameter(
                name: try arena.name(parameter.name ?? "argument\(index + 1)"),
                kind: (isKnown ? parameter.shape.kind : InvivoKind.any).rawValue,
                flags: index >= needed && parameter.shape.isOptional ? UInt32(INVIVO_PARAMETER_OPTIONAL) : 0,
                type_name: nil)
        }
        let hasMaker = try making(&definition, key, draft, arena)
        definition.parameters = UnsafePointer(arena.table(parameters))
        definition.parameter_count = UInt64(parameters.count)
        if draft.parameters.contains(where: { $0.defaultValue != nil }) {
            let defaults = try draft.parameters.map { parameter throws(InvivoError) in
                try parameter.defaultValue?.asInvivo().borrowed(arena, core) ?? invivo_null()
            }
            definition.defaults = UnsafePointer(arena.table(defaults))
        }
        if definition.alias == nil {
            if let name = draft.typeName {
                definition.type_name = try arena.name(name)
            } else if definition.constant.bits == 0, definition.type.bits == 0, definition.chooser == nil,
                !isOpen(draft)
            {
                definition.type = try core.type(of: draft.value, isShared: draft.isShared)
            }
        }
        try steps(&definition, key, draft, arena)
        for say in draft.more {
            do { try say(&definition, arena, core) } catch { throw InvivoError(error) }
        }
        let factory = Factory(
            core, home, remembers: draft.scope?.isShared ?? false, inject: draft.inject, direct: draft.direct,
            member: draft.member, make: hasMaker)
        if case .override = target, let error = InvivoError(all: problems) { throw error }
        guard let factory else {
            try body(&definition, nil)
            return
        }
        let pointer = factory.attach(to: &definition)
        do throws(InvivoError) { try body(&definition, pointer) } catch {
            pointer.release()
            throw error
        }
    }

    /// Whether its parent or its factory determines the type of its object.
    private func isOpen(_ draft: Draft) -> Bool {
        switch draft.making {
        case .named(nil, _): true
        case .method: draft.value == Object.self
        default: false
        }
    }

    // MARK: - Keys

    /// A key that is named, for the table that it is in.
    func noted(_ name: String) -> String {
        guard case .table(let table) = target else { return name }
        let written = table.written(name)
        table.references.insert(written)
        return written
    }

    /// The name of the referenced key. An inline definition is defined under a name that is derived from its position.
    mutating func name(of injection: Injection, in place: String? = nil) throws(InvivoError) -> String {
        let definition: AnyDefinition
        switch injection.how {
        case .key(let name, _): return absolute(name)
        case .foreign(_, let name, let path):
            guard let home else {
                throw InvivoError(.argument, "a definition that is no member of an assembly has no collaborators")
            }
            return "\(try path(home.assembly)).\(name)"
        case .member(let path, _):
            guard let home else {
                throw InvivoError(
                    .argument, "a definition that is no member of an assembly refers to others by key or type")
            }
            definition = try path.read(home.assembly)
        case .definition(let given, _): definition = given
        default: throw InvivoError(.argument, "expected a key, a member or another definition")
        }
        if let known = definition.place {
            if known.core === core { return known.name }
            throw InvivoError(.exists, "the definition is active in another runtime", path: known.name)
        }
        guard let place else {
            throw InvivoError(
                .notFound, "the reference is to a property of no assembly that is active or being activated",
                file: "\(definition.draft.file)", line: Int(definition.draft.line))
        }
        guard case .definition = injection.how else {
            throw InvivoError(
                .notFound,
                "the reference is to a property of no assembly that is active or being activated; a property "
                    + "that is computed returns another definition each time",
                file: "\(definition.draft.file)", line: Int(definition.draft.line))
        }
        inner.append(place)
        define(place, definition.draft)
        return place
    }

    /// A key's name without a dot is one of the assembly's own.
    private func absolute(_ name: String) -> String {
        guard !name.contains("."), let home else { return name }
        return "\(home.assembly.name).\(name)"
    }
}

extension Scope {
    /// Whether the runtime keeps the instance.
    var isShared: Bool {
        switch self {
        case .prototype, .graph: false
        case .singleton, .lazySingleton, .weakSingleton, .context, .thread: true
        }
    }
}
