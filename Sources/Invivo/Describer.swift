internal import CInvivo

/// Says a draft in the C side's words: one definition, and those that are written inline in it.
struct Describer {
    let core: Core
    let target: Target
    /// The assembly in which it stands; nil for a definition of its own.
    let home: Resolver.Home?
    /// The keys of what stands inline in it.
    private(set) var inner: [String] = []
    private(set) var problems: [InvivoError] = []

    /// Where what it describes goes.
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

    /// Defines `key` as the draft says; what is wrong is kept in `problems`.
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

    private mutating func fail(_ error: InvivoError, _ path: String, _ draft: Draft) {
        for var error in error.errors {
            if error.path.isEmpty { error.path = path }
            if error.file.isEmpty {
                error.file = "\(draft.file)"
                error.line = Int(draft.line)
            }
            problems.append(error)
        }
    }

    /// Fills the C side's description and hands it to `body`, with the factory that is the definition's when that succeeds.
    mutating func described(
        _ key: String, _ draft: Draft, _ arena: Arena,
        _ body: (inout invivo_definition, Unmanaged<Factory>?) throws(InvivoError) -> Void
    ) throws(InvivoError) {
        for problem in draft.problems { fail(problem, key, draft) }
        var definition = invivo_definition()
        definition.struct_size = MemoryLayout<invivo_definition>.size
        definition.key = try arena.name(key)
        definition.file = try arena.name("\(draft.file)")
        definition.line = UInt32(clamping: draft.line)
        definition.scope = draft.scope?.rawValue ?? UInt32(INVIVO_SCOPE_DEFAULT)
        definition.rank = draft.rank
        if draft.isAbstract { definition.flags |= UInt32(INVIVO_DEFINITION_ABSTRACT) }
        if draft.isHiddenByClass { definition.flags |= UInt32(INVIVO_DEFINITION_HIDDEN_CLASS) }
        if draft.isHiddenByInterface { definition.flags |= UInt32(INVIVO_DEFINITION_HIDDEN_INTERFACE) }
        if draft.isNullable { definition.flags |= UInt32(INVIVO_DEFINITION_NULLABLE) }
        if let parent = draft.parent { definition.parent = try arena.name(noted(try name(of: parent))) }
        let parameters = try draft.parameters.enumerated().map { index, parameter throws(InvivoError) in
            invivo_parameter(
                name: try arena.name(parameter.name ?? "argument\(index + 1)"),
                kind: (parameter.shape.choices.isEmpty
                    && (!parameter.shape.isOptional || parameter.type == InvivoValue.self)
                    ? parameter.shape.kind : InvivoKind.any).rawValue,
                flags: parameter.shape.isOptional ? UInt32(INVIVO_PARAMETER_OPTIONAL) : 0,
                type_name: nil)
        }
        let hasMaker = try making(&definition, key, draft, arena)
        definition.parameters = UnsafePointer(arena.table(parameters))
        definition.parameter_count = UInt64(parameters.count)
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

    /// Whether what it makes is what its parent or its maker says.
    private func isOpen(_ draft: Draft) -> Bool {
        switch draft.making {
        case .named(nil, _): true
        case .method: draft.value == Object.self
        default: false
        }
    }

    /// How it is made; answers the closure, where it is one.
    private mutating func making(
        _ definition: inout invivo_definition, _ key: String, _ draft: Draft, _ arena: Arena
    ) throws(InvivoError) -> Draft.Make? {
        switch draft.making {
        case .factory(let injections, let make):
            let arguments = draft.parameters.indices.map { Injection.argument($0) }
            (definition.initializer, definition.initializer_count) = table(
                injections + arguments, key, draft, arena
            ) { "\($0)" }
            return make
        case .named(let name, let injections):
            var named = draft
            var type = invivo_type()
            if let name { try core.call(naming: name) { $0.pointee.type_find(core.handle, $1, &type, $2) } }
            named.making = .type(type, injections)
            return try making(&definition, key, named, arena)
        case .type(let type, let injections):
            definition.type = type
            let entries = injections.map { name, injection in
                entry(injection, name.isEmpty ? nil : name, key, draft, arena, name.isEmpty ? "initializer" : name)
            }
            definition.initializer = UnsafePointer(arena.table(entries))
            definition.initializer_count = UInt64(entries.count)
        case .method(let owner, let name, let arguments):
            definition.maker_method = try arena.name(name)
            (definition.maker, definition.maker_count) = table([owner] + arguments, key, draft, arena) { "maker.\($0)" }
        case .constant(let instance):
            let handle = try core.lease(of: instance, as: draft.value, isShared: draft.isShared)
            definition.constant = handle
            let table = core.table
            arena.atEnd { _ = table.pointee.object_release(handle) }
        case .alias(let injection):
            definition.alias = try arena.name(noted(try name(of: injection)))
            let arguments = injection.boundArguments
            (definition.initializer, definition.initializer_count) = table(arguments, key, draft, arena) { "\($0)" }
        case .choice(let chooser, let options):
            definition.chooser = table([chooser], key, draft, arena) { _ in "chooser" }.0
            var entries: [invivo_option] = []
            for (index, option) in options.enumerated() {
                entries.append(try entry(option, key, draft, arena, "option\(index)"))
            }
            definition.options = UnsafePointer(arena.table(entries))
            definition.option_count = UInt64(entries.count)
        case .inherited: break
        }
        return nil
    }

    private mutating func entry(
        _ option: ChoiceOption, _ key: String, _ draft: Draft, _ arena: Arena, _ place: String
    ) throws(InvivoError) -> invivo_option {
        var entry = invivo_option()
        func when(_ when: Int) { entry.when = UInt32(when) }
        switch option.when {
        case .equal(let value):
            when(INVIVO_WHEN_EQUAL)
            entry.value = try value.asInvivo().borrowed(arena, core)
        case .exactly(let type):
            when(INVIVO_WHEN_EXACT)
            entry.name = try arena.name(try core.wish(type))
        case .kind(let type):
            when(INVIVO_WHEN_KIND)
            entry.name = try arena.name(try core.wish(type))
        case .typeName(let name, let isExact):
            when(isExact ? INVIVO_WHEN_EXACT : INVIVO_WHEN_KIND)
            entry.name = try arena.name(name)
        case .named: when(INVIVO_WHEN_NAMED)
        case .otherwise: when(INVIVO_WHEN_OTHERWISE)
        }
        if let use = option.use { entry.use = self.entry(use, nil, key, draft, arena, place) }
        return entry
    }

    private mutating func steps(
        _ definition: inout invivo_definition, _ key: String, _ draft: Draft, _ arena: Arena
    ) throws(InvivoError) {
        let steps = try merged(draft)
        var set: Set<AnyKeyPath> = []
        var names: Set<String> = []
        for step in draft.steps {
            let isTwice =
                step.property.map { !set.insert($0).inserted }
                ?? (step.isProperty ? !names.insert(step.name).inserted : false)
            if isTwice { fail(InvivoError(.exists, "the property '\(step.name)' is set twice"), key, draft) }
        }
        var properties: [invivo_injection] = []
        for step in steps where step.isProperty {
            if case .property = step.action, let injection = step.injections.first {
                properties.append(entry(injection, step.name, key, draft, arena, step.name))
            }
        }
        definition.properties = UnsafePointer(arena.table(properties))
        definition.property_count = UInt64(properties.count)
        let calls = steps.filter { if case .property = $0.action { false } else { true } }
        (definition.methods, definition.method_count) = try invocations(calls, key, draft, arena)
        (definition.before, definition.before_count) = try invocations(draft.before, key, draft, arena)
        (definition.after, definition.after_count) = try invocations(draft.after, key, draft, arena)
        (definition.after_all, definition.after_all_count) = try invocations(draft.afterAll, key, draft, arena)
    }

    /// The steps of a definition with those of its parent: properties by name, methods where it has none of its own.
    private func merged(_ draft: Draft, depth: Int = 0) throws(InvivoError) -> [Draft.Step] {
        guard depth < 64, let parent = draft.parent, depth > 0 || !draft.steps.isEmpty else { return draft.steps }
        let definition: AnyDefinition
        switch parent.how {
        case .member(let path, _):
            guard let home else { return draft.steps }
            definition = try path.read(home.assembly)
        case .definition(let given, _): definition = given
        default: return draft.steps
        }
        let above = try merged(definition.draft, depth: depth + 1)
        let own = draft.steps
        var properties = above.filter(\.isProperty)
        for step in own where step.isProperty {
            if let index = properties.firstIndex(where: { $0.name == step.name && $0.name != "property" }) {
                properties[index] = step
            } else {
                properties.append(step)
            }
        }
        let calls = own.filter { !$0.isProperty }
        return properties + (calls.isEmpty ? above.filter { !$0.isProperty } : calls)
    }

    mutating func invocations(
        _ steps: [Draft.Step], _ key: String, _ draft: Draft, _ arena: Arena
    ) throws(InvivoError) -> (UnsafePointer<invivo_invocation>?, UInt64) {
        var calls: [invivo_invocation] = []
        for step in steps {
            var call = invivo_invocation()
            switch step.action {
            case .method, .property:
                call.method = try arena.name(step.name)
                (call.arguments, call.argument_count) = table(step.injections, key, draft, arena) {
                    "\(step.name).\($0)"
                }
            case .code(let code):
                call.method = try arena.name(CodeMethod.name)
                var arguments = [invivo_injection(), invivo_injection()]
                arguments[0].how = UInt32(INVIVO_INJECT_VALUE)
                arguments[0].value = try InvivoValue.callable(Callable(name: step.name, code: code)).borrowed(
                    arena, core)
                arguments[1].how = UInt32(INVIVO_INJECT_LIST)
                let isSingle = step.injections.count == 1
                (arguments[1].items, arguments[1].item_count) = table(step.injections, key, draft, arena) {
                    isSingle ? step.name : "\(step.name).\($0)"
                }
                call.arguments = UnsafePointer(arena.table(arguments))
                call.argument_count = 2
            }
            calls.append(call)
        }
        return (UnsafePointer(arena.table(calls)), UInt64(calls.count))
    }

    // MARK: - Injections

    private mutating func table(
        _ injections: [Injection], _ key: String, _ draft: Draft, _ arena: Arena, _ place: (Int) -> String
    ) -> (UnsafePointer<invivo_injection>?, UInt64) {
        var entries: [invivo_injection] = []
        for (index, injection) in injections.enumerated() {
            entries.append(entry(injection, nil, key, draft, arena, place(index)))
        }
        return (UnsafePointer(arena.table(entries)), UInt64(entries.count))
    }

    /// One injection; `place` says where it goes, for messages and for the keys of inline definitions.
    mutating func entry(
        _ injection: Injection, _ name: String?, _ key: String, _ draft: Draft, _ arena: Arena, _ place: String
    ) -> invivo_injection {
        var entry = invivo_injection()
        do throws(InvivoError) {
            entry.name = try arena.name(name)
            try fill(&entry, injection, key, draft, arena, place)
        } catch { fail(error, "\(key).\(place)", draft) }
        return entry
    }

    private mutating func fill(
        _ entry: inout invivo_injection, _ injection: Injection, _ key: String, _ draft: Draft, _ arena: Arena,
        _ place: String
    ) throws(InvivoError) {
        if injection.isOptional { entry.flags |= UInt32(INVIVO_INJECT_OPTIONAL) }
        if injection.isExact { entry.flags |= UInt32(INVIVO_INJECT_EXACT) }
        if injection.isGreedy { entry.flags |= UInt32(INVIVO_INJECT_GREEDY) }
        func kind(_ kind: Int) { entry.how = UInt32(kind) }
        if let hears = injection.hears {
            entry.added = try arena.name(hears.added)
            entry.removed = try arena.name(hears.removed)
        }
        var items: [Injection] = []
        switch injection.how {
        case .value(let value):
            kind(INVIVO_INJECT_VALUE)
            entry.value = try value.asInvivo().borrowed(arena, core)
        case .instance(let instance):
            kind(INVIVO_INJECT_VALUE)
            let handle = try core.lease(of: instance, isDescribed: false)
            let table = core.table
            arena.atEnd { _ = table.pointee.object_release(handle) }
            entry.value = invivo_object_value(handle)
        case .key, .member, .foreign, .definition:
            kind(INVIVO_INJECT_REFERENCE)
            entry.reference = try arena.name(noted(try self.name(of: injection, in: "\(key).\(place)")))
            items = injection.boundArguments
        case .type(let type as Assembly.Type):
            guard let home, Swift.type(of: home.assembly) == type || isKind(Swift.type(of: home.assembly), of: type)
            else {
                throw InvivoError(.type, "a \(type) is wanted, and the definition stands in no such assembly")
            }
            let handle = try core.lease(of: home.assembly, isDescribed: false)
            let table = core.table
            arena.atEnd { _ = table.pointee.object_release(handle) }
            kind(INVIVO_INJECT_VALUE)
            entry.value = invivo_object_value(handle)
        case .type(let type):
            if !injection.isExact, !injection.isGreedy, let near = core.nearest(type, near: home?.assembly.name) {
                kind(INVIVO_INJECT_REFERENCE)
                entry.flags &= UInt32(INVIVO_INJECT_OPTIONAL)
                entry.reference = try arena.name(noted(core.keyName(near)))
            } else {
                kind(INVIVO_INJECT_TYPE)
                entry.reference = try arena.name(try core.wish(type))
            }
        case .all(let type):
            kind(INVIVO_INJECT_ALL)
            entry.reference = try arena.name(try core.wish(type))
        case .typeName(let name, let isAll):
            kind(isAll ? INVIVO_INJECT_ALL : INVIVO_INJECT_TYPE)
            entry.reference = try arena.name(name)
        case .argument(let index):
            kind(INVIVO_INJECT_ARGUMENT)
            entry.index = UInt64(clamping: index)
        case .arguments: kind(INVIVO_INJECT_ARGUMENTS)
        case .path(let start, let path):
            kind(INVIVO_INJECT_PATH)
            entry.reference = try arena.name(path)
            items = [start.injection]
        case .list(let given):
            kind(INVIVO_INJECT_LIST)
            items = given
        case .set(let given):
            kind(INVIVO_INJECT_SET)
            items = given
        case .map(let given):
            kind(INVIVO_INJECT_MAP)
            var entries: [invivo_injection] = []
            for (name, injection) in given {
                entries.append(self.entry(injection, name, key, draft, arena, "\(place).\(name)"))
            }
            entry.items = UnsafePointer(arena.table(entries))
            entry.item_count = UInt64(entries.count)
            return
        case .provider(let of):
            kind(INVIVO_INJECT_PROVIDER)
            items = [of.injection]
        case .lazy(let of):
            kind(INVIVO_INJECT_LAZY)
            items = [of.injection]
        case .config(let path, let other, let wanted):
            kind(INVIVO_INJECT_CONFIG)
            entry.reference = try arena.name(path)
            entry.index = wanted == .any ? 0 : UInt64(wanted.rawValue)
            items = other.map { [$0.injection] } ?? []
        case .text(let text, let converter):
            kind(INVIVO_INJECT_TEXT)
            entry.reference = try arena.name(converter)
            if case .value(let value) = text.injection.how {
                entry.value = try value.asInvivo().borrowed(arena, core)
            } else {
                items = [text.injection]
            }
        case .own: kind(INVIVO_INJECT_VALUE)
        case .asker: kind(INVIVO_INJECT_ASKER)
        case .resolver: kind(INVIVO_INJECT_RESOLVER)
        case .entryName: kind(INVIVO_INJECT_ENTRY_NAME)
        case .entry(let path, let other):
            kind(INVIVO_INJECT_ENTRY)
            entry.reference = path.isEmpty ? nil : try arena.name(path)
            items = other.map { [$0.injection] } ?? []
        }
        let isSingle = items.count == 1
        (entry.items, entry.item_count) = table(items, key, draft, arena) { isSingle ? place : "\(place).\($0)" }
    }

    /// A key that is named, for the table that it is in.
    private func noted(_ name: String) -> String {
        guard case .table(let table) = target else { return name }
        let written = table.written(name)
        table.references.insert(written)
        return written
    }

    /// The name of the key that is meant; an inline definition is defined under the name of its place.
    private mutating func name(of injection: Injection, in place: String? = nil) throws(InvivoError) -> String {
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
        default: throw InvivoError(.argument, "a key, a member or another definition is wanted here")
        }
        if let known = definition.place {
            if known.core === core { return known.name }
            throw InvivoError(.exists, "the definition is active in another runtime", path: known.name)
        }
        guard let place else {
            throw InvivoError(
                .notFound, "what is referred to is a property of no assembly that is active or activated now",
                file: "\(definition.draft.file)", line: Int(definition.draft.line))
        }
        guard case .definition = injection.how else {
            throw InvivoError(
                .notFound,
                "what is referred to is a property of no assembly that is active or activated now; a property "
                    + "that is computed makes another definition each time",
                file: "\(definition.draft.file)", line: Int(definition.draft.line))
        }
        inner.append(place)
        var draft = definition.draft
        draft.isHiddenByClass = true
        draft.isHiddenByInterface = true
        define(place, draft)
        return place
    }

    /// A key's name without a dot is one of the assembly's own.
    private func absolute(_ name: String) -> String {
        guard !name.contains("."), let home else { return name }
        return "\(home.assembly.name).\(name)"
    }
}

extension Draft.Step {
    var isProperty: Bool {
        if case .property = action { return true }
        return property != nil
    }
}

extension Injection {
    var boundArguments: [Injection] {
        switch how {
        case .key(_, let arguments), .member(_, let arguments), .foreign(let arguments, _, _),
            .definition(_, let arguments):
            arguments
        default: []
        }
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
