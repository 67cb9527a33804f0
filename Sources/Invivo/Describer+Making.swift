internal import CInvivo

/// Translates factories to the C ABI.
extension Describer {
    /// Describes the factory; returns its closure, if it is one.
    mutating func making(
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
            entry.name = try arena.name(try core.typeQuery(type))
        case .kind(let type):
            when(INVIVO_WHEN_KIND)
            entry.name = try arena.name(try core.typeQuery(type))
        case .typeName(let name, let isExact):
            when(isExact ? INVIVO_WHEN_EXACT : INVIVO_WHEN_KIND)
            entry.name = try arena.name(name)
        case .named: when(INVIVO_WHEN_NAMED)
        case .otherwise: when(INVIVO_WHEN_OTHERWISE)
        }
        if let use = option.use { entry.use = self.entry(use, nil, key, draft, arena, place) }
        return entry
    }
}
