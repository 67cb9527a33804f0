internal import CInvivo
@_spi(Reflection) internal import Swift

/// An injected property of a class, as the class' type declares it to the runtime.
final class Need: @unchecked Sendable {
    let name: String
    /// The injection by type; nil for a property with its own lookup.
    let injection: Injection?
    private let kind: any InjectedProperty.Type
    private let offset: Int
    private unowned let core: Core

    private init(_ name: String, _ kind: any InjectedProperty.Type, _ offset: Int, _ core: Core) {
        self.name = name
        self.kind = kind
        injection = kind.injection
        self.offset = offset
        self.core = core
    }

    /// The declared dependencies of a class and of its base classes.
    static func all(of instances: AnyClass, _ core: Core) -> [Need] {
        guard !(instances is any AnyBoxed.Type) else { return [] }
        var needs: [Need] = []
        _ = _forEachField(of: instances, options: _EachFieldOptions(rawValue: 1)) { name, offset, type, _ in
            if let kind = type as? any InjectedProperty.Type {
                let name = String(cString: name)
                needs.append(Need(name.hasPrefix("_") ? String(name.dropFirst()) : name, kind, offset, core))
            }
            return true
        }
        return needs
    }

    func box(_ instance: UnsafeMutableRawPointer) -> AnyInjectedBox { kind.box(at: instance + offset) }

    func property(_ arena: Arena) throws(InvivoError) -> invivo_property {
        var property = invivo_property()
        property.struct_size = MemoryLayout<invivo_property>.size
        property.name = try arena.name(name)
        property.kind = InvivoKind.any.rawValue
        property.user_data = Unmanaged.passUnretained(self).toOpaque()
        property.get = { _, _, _, _ in 0 }
        property.set = { instance, data, value, error in
            guard let instance, let data, let value else { return InvivoError.Code.internal.rawValue }
            let need = Unmanaged<Need>.fromOpaque(data).takeUnretainedValue()
            return answering(need.core, error) { try need.box(instance).fill(value.pointee, need.core) }
        }
        return property
    }

    /// The injection in terms of the C ABI. The types of its lookups must be declared before.
    func entry(_ arena: Arena) throws(InvivoError) -> invivo_injection? {
        guard let injection else { return nil }
        var entry = try Self.entry(of: injection, core, arena)
        entry.name = try arena.name(name)
        return entry
    }

    /// The injection of a declared dependency: a type or key, a value, or a provider or list of these.
    static func entry(of injection: Injection, _ core: Core, _ arena: Arena) throws(InvivoError) -> invivo_injection {
        var entry = invivo_injection()
        if injection.isOptional { entry.flags |= UInt32(INVIVO_INJECT_OPTIONAL) }
        if injection.isExact { entry.flags |= UInt32(INVIVO_INJECT_EXACT) }
        if injection.isGreedy { entry.flags |= UInt32(INVIVO_INJECT_GREEDY) }
        entry.flags |= injection.onChange?.flag ?? 0
        if injection.owns { entry.flags |= UInt32(INVIVO_INJECT_OWNS) }
        var items: [Injection] = []
        switch injection.how {
        case .type(let type):
            entry.how = UInt32(INVIVO_INJECT_TYPE)
            entry.reference = try arena.name(core.queryName(type))
        case .all(let type):
            entry.how = UInt32(INVIVO_INJECT_ALL)
            entry.reference = try arena.name(core.queryName(type))
        case .typeName(let name, let isAll):
            entry.how = UInt32(isAll ? INVIVO_INJECT_ALL : INVIVO_INJECT_TYPE)
            entry.reference = try arena.name(name)
        case .key(let name, let arguments):
            entry.how = UInt32(INVIVO_INJECT_REFERENCE)
            entry.reference = try arena.name(name)
            items = arguments
        case .config(let path, let other, let kind):
            entry.how = UInt32(INVIVO_INJECT_CONFIG)
            entry.reference = try arena.name(path)
            entry.index = kind == .any ? 0 : UInt64(kind.rawValue)
            items = other.map { [$0.injection] } ?? []
        case .provider(let of):
            entry.how = UInt32(INVIVO_INJECT_PROVIDER)
            items = [of.injection]
        case .lazy(let of):
            entry.how = UInt32(INVIVO_INJECT_LAZY)
            items = [of.injection]
        case .weak(let of):
            entry.how = UInt32(INVIVO_INJECT_WEAK)
            items = [of.injection]
        case .value(let value):
            entry.how = UInt32(INVIVO_INJECT_VALUE)
            entry.value = try value.asInvivo().borrowed(arena, core)
        case .own: entry.how = UInt32(INVIVO_INJECT_VALUE)
        default:
            throw InvivoError(
                .unsupported,
                "a declared dependency is a type, a key, a configuration value, a constant, or a provider of these")
        }
        var entries: [invivo_injection] = []
        for item in items { entries.append(try Self.entry(of: item, core, arena)) }
        entry.items = UnsafePointer(arena.table(entries))
        entry.item_count = UInt64(entries.count)
        return entry
    }
}

extension Injection {
    /// The types that it looks up.
    var typeQueries: [Any.Type] {
        switch how {
        case .type(let type), .all(let type): [type]
        case .provider(let of), .lazy(let of), .weak(let of): of.injection.typeQueries
        default: []
        }
    }
}

extension Core {
    /// Declares the types that the injected properties of a class look up, before the class is registered.
    func announceNeeds(of instances: AnyClass) throws(InvivoError) {
        for need in Need.all(of: instances, self) {
            for type in need.injection?.typeQueries ?? [] { try spread(type, queryName(type)) }
        }
    }
}
