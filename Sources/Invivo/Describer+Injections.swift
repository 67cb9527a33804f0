internal import CInvivo

/// Translates injections to the C ABI.
extension Describer {
    mutating func table(
        _ injections: [Injection], _ key: String, _ draft: Draft, _ arena: Arena, _ place: (Int) -> String
    ) -> (UnsafePointer<invivo_injection>?, UInt64) {
        var entries: [invivo_injection] = []
        for (index, injection) in injections.enumerated() {
            entries.append(entry(injection, nil, key, draft, arena, place(index)))
        }
        return (UnsafePointer(arena.table(entries)), UInt64(entries.count))
    }

    /// Translates one injection. `place` names the receiver, for messages and for the keys of inline definitions.
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
        entry.flags |= injection.onChange?.flag ?? 0
        if injection.owns { entry.flags |= UInt32(INVIVO_INJECT_OWNS) }
        func kind(_ kind: Int) { entry.how = UInt32(kind) }
        if let listeners = injection.listeners {
            entry.added = try arena.name(listeners.added)
            entry.removed = try arena.name(listeners.removed)
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
                throw InvivoError(.type, "\(article(type)) is expected, and the definition is in no such assembly")
            }
            let handle = try core.lease(of: home.assembly, isDescribed: false)
            let table = core.table
            arena.atEnd { _ = table.pointee.object_release(handle) }
            kind(INVIVO_INJECT_VALUE)
            entry.value = invivo_object_value(handle)
        case .type(let type):
            kind(INVIVO_INJECT_TYPE)
            entry.reference = try arena.name(try core.typeQuery(type))
        case .all(let type):
            kind(INVIVO_INJECT_ALL)
            entry.reference = try arena.name(try core.typeQuery(type))
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
        case .weak(let of):
            kind(INVIVO_INJECT_WEAK)
            items = [of.injection]
        case .config where injection.place != nil:
            var text = injection
            text.place = nil
            kind(INVIVO_INJECT_TEXT)
            entry.reference = try arena.name(injection.place.map { core.queryName($0) })
            items = [text]
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
        case .context(let name, let wanted, let other, let declare):
            try declare(core)
            kind(INVIVO_INJECT_CONTEXT)
            entry.reference = try arena.name(name)
            if let wanted { entry.value = try wanted.asInvivo().borrowed(arena, core) }
            items = other.map { [$0.injection] } ?? []
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
