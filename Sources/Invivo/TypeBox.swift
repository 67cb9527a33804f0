internal import CInvivo
internal import CSwiftRuntime

/// The Swift part of a registered type: the user data of its callbacks. Lives as long as the type.
final class TypeBox: Sendable {
    let core: Core
    /// The class of its instances.
    let instances: AnyClass
    let name: String
    /// The type of the represented instances: their class, or the type of the value in the box.
    let value: Any.Type
    private let make: (@Sendable ([InvivoValue]) throws -> AnyObject)?
    private let prepare: (@Sendable (AnyObject) throws -> Void)?
    private let start: (@Sendable (AnyObject) throws -> Void)?
    private let stop: (@Sendable (AnyObject) throws -> Void)?
    let setupHooks: SetupHooks
    private let willInject: (@Sendable (AnyObject) throws -> Void)?
    private let didInject: (@Sendable (AnyObject) throws -> Void)?
    private let takeResolver: (@Sendable (AnyObject, Resolver) throws -> Void)?
    let children: (@Sendable (AnyObject) throws -> [AnyObject])?
    let keyName: (@Sendable (AnyObject) throws -> String?)?
    let parent: (@Sendable (AnyObject) throws -> AnyObject?)?
    private let properties: [PropertyBox?]
    private let needs: [Need]
    private let methods: [MethodBox]

    init<Instance>(_ type: ObjectType<Instance>, _ instances: AnyClass, _ value: Any.Type, _ core: Core) {
        self.core = core
        self.value = value
        self.instances = instances
        name = type.name
        make = type.make
        prepare = type.prepare
        start = type.start
        stop = type.stop
        setupHooks = type.setupHooks
        willInject = type.willInject
        didInject = type.didInject
        takeResolver = type.takeResolver
        children = type.children
        keyName = type.keyName
        parent = type.parent
        properties = type.properties.map { PropertyBox($0, core) }
        methods = type.methods.map { MethodBox($0, core) }
        needs = Need.all(of: instances, core)
    }

    static func box(_ data: UnsafeMutableRawPointer?) -> TypeBox? {
        data.map { Unmanaged<TypeBox>.fromOpaque($0).takeUnretainedValue() }
    }

    static func object(_ instance: UnsafeMutableRawPointer?) -> AnyObject? {
        instance.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    }

    func options<Instance>(_ type: ObjectType<Instance>, _ arena: Arena) throws(InvivoError) -> invivo_type_options {
        var options = invivo_type_options()
        options.struct_size = MemoryLayout<invivo_type_options>.size
        options.name = try arena.name(type.name)
        options.text = try arena.name(type.text)
        let supertypes =
            type.supertypes + core.supertypes(value, but: type.name).filter { !type.supertypes.contains($0) }
        options.supertypes = try arena.names(supertypes)
        options.supertype_count = UInt64(supertypes.count)
        options.lookup_name = try arena.name(type.lookupName)
        options.concurrency = UInt32(type.isShared ? INVIVO_SHARED : INVIVO_CONFINED)
        options.make = { instance, build, arguments, count, data, error in
            guard let box = TypeBox.box(data), let instance else { return InvivoError.Code.internal.rawValue }
            return answering(box.core, error) {
                guard let make = box.make else {
                    throw InvivoError(
                        .unsupported, "the type \(box.name) has no factory; give it a `make`")
                }
                let object = try CurrentRuntime.replacing(box.core, build) {
                    try make(InvivoValue.array(arguments, count, box.core, .component))
                }
                if let key = build?.pointee.key, key.bits != 0 { box.core.remember(object, as: .key(key)) }
                instance.pointee = Unmanaged.passRetained(object).toOpaque()
            }
        }
        options.release = { instance, data in
            guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return }
            box.core.forget(object)
            box.core.inCallback { Unmanaged.passUnretained(object).release() }
        }
        if prepare != nil {
            options.prepare = { instance, data, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return 0 }
                return answering(box.core, error) { try box.prepare?(object) }
            }
        }
        if start != nil {
            options.start = { instance, data, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return 0 }
                return answering(box.core, error) { try box.start?(object) }
            }
        }
        if stop != nil {
            options.stop = { instance, data, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return 0 }
                return answering(box.core, error) { try box.stop?(object) }
            }
        }
        setupHooks.describe(in: &options)
        if stop != nil || setupHooks.isEnded {
            options.count_references = { instance, _, found, _ in
                // One of them is the runtime's.
                if let instance { found?.pointee = UInt64(swift_retainCount(instance)) &- 1 }
                return 0
            }
        }
        if instances == value { options.holdWeakly() }
        let image = type.block?.image ?? []
        options.block_size = UInt64(image.count)
        options.block_initial = UnsafeRawPointer(arena.table(image))
        options.parameters = try type.parameters.described(arena)
        options.parameter_count = UInt64(type.parameters.count)
        var table: [invivo_property] = []
        for (property, box) in zip(type.properties, properties) {
            table.append(try property.described(arena, box: box))
        }
        var entries: [invivo_injection] = []
        for need in needs {
            table.append(try need.property(arena))
            if let entry = try need.entry(arena) { entries.append(entry) }
        }
        for need in type.needs {
            var entry = try Need.entry(of: need.injection, core, arena)
            entry.name = try arena.name(need.property)
            entries.append(entry)
        }
        options.needs = UnsafePointer(arena.table(entries))
        options.need_count = UInt64(entries.count)
        if willInject != nil || needs.contains(where: { $0.injection == nil }) {
            options.will_inject = { instance, data, error in
                guard let box = TypeBox.box(data), let instance, let object = TypeBox.object(instance) else {
                    return InvivoError.Code.internal.rawValue
                }
                return answering(box.core, error) {
                    try box.willInject?(object)
                    for need in box.needs where need.injection == nil { try need.box(instance).look(in: box.core) }
                }
            }
        }
        if didInject != nil {
            options.did_inject = { instance, data, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return 0 }
                return answering(box.core, error) { try box.didInject?(object) }
            }
        }
        if takeResolver != nil {
            options.take_runtime = { instance, data, _, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance) else { return 0 }
                return answering(box.core, error) { try box.takeResolver?(object, Resolver(box.core, nil)) }
            }
        }
        addTree(&options)
        addParent(&options)
        options.properties = UnsafePointer(arena.table(table))
        options.property_count = UInt64(table.count)
        var calls: [invivo_method] = []
        for (method, box) in zip(type.methods, methods) { calls.append(try method.described(arena, box: box)) }
        calls.append(try CodeMethod.described(arena, box: self))
        options.methods = UnsafePointer(arena.table(calls))
        options.method_count = UInt64(calls.count)
        options.destroy = { data in
            guard let data else { return }
            let box = Unmanaged<TypeBox>.fromOpaque(data).takeRetainedValue()
            box.core.forget(box)
        }
        return options
    }
}

extension Core {
    private func register<Instance>(
        _ type: ObjectType<Instance>, _ instances: AnyClass, _ value: Any.Type
    ) throws(InvivoError) -> invivo_type {
        if let problem = type.problems.first { throw problem }
        let box = TypeBox(type, instances, value, self)
        var handle = invivo_type()
        try withArena { arena throws(InvivoError) in
            var options = try box.options(type, arena)
            let pointer = Unmanaged.passRetained(box)
            options.user_data = pointer.toOpaque()
            do throws(InvivoError) {
                try call { $0.pointee.type_register(self.handle, &options, &handle, $1) }
            } catch {
                pointer.release()
                throw error
            }
        }
        let bits = handle.bits
        registry.withLock { registry in
            registry.types[bits] = box
            registry.blockContents[bits] = type.block?.content
        }
        return handle
    }

    /// The type of a description: registered now when it is new.
    func described<Instance>(_ type: ObjectType<Instance>) throws(InvivoError) -> invivo_type {
        try announceNeeds(of: Instance.self)
        for need in type.needs {
            for query in need.injection.typeQueries { try spread(query, queryName(query)) }
        }
        let identity = ObjectIdentifier(Instance.self)
        return try registering.withLock { _ throws(InvivoError) in
            if let bits = registry.withLock({ registry in
                registry.types.first { $0.value.name == type.name && $0.value.instances == Instance.self }?.key
            }) {
                return invivo_type(bits: bits)
            }
            let handle = try register(type, Instance.self, Instance.self)
            registry.withLock { if $0.described[identity] == nil { $0.described[identity] = handle.bits } }
            return handle
        }
    }

    /// The registered type of a Swift type, as described or without properties and methods. `isShared` states whether
    /// any thread may use its values; nil keeps an earlier answer, or else lets the compiler decide.
    func type(of value: Any.Type, isShared: Bool?) throws(InvivoError) -> invivo_type {
        if let bits = registry.withLock({ $0.described[ObjectIdentifier(value)] }) { return invivo_type(bits: bits) }
        if let described = value as? any InvivoObject.Type { return try described.registered(with: self) }
        if let instances = value as? AnyClass { try announceNeeds(of: instances) }
        return try registering.withLock { _ throws(InvivoError) in
            let identity = ObjectIdentifier(value)
            let known = registry.withLock {
                [$0.plain[.init(type: identity, isShared: true)], $0.plain[.init(type: identity, isShared: false)]]
            }
            let fitting = isShared.map { $0 ? known[0] : known[1] } ?? (known[0] ?? known[1])
            if let fitting { return invivo_type(bits: fitting) }
            // A second type of the same name differs by a suffix, and is a subtype of the first name.
            let isShared = isShared ?? true
            let name = kindName(value)
            let isSecond = known[0] != nil || known[1] != nil
            var plain = ObjectType<AnyObject>(
                plain: name + (isSecond ? (isShared ? " (shared)" : " (confined)") : ""), isShared: isShared)
            if isSecond { plain.supertypes = [name] }
            func box<Value>(_ value: Value.Type) -> AnyClass { Boxed<Value>.self }
            let handle = try register(plain, value as? AnyClass ?? _openExistential(value, do: box), value)
            registry.withLock { $0.plain[.init(type: identity, isShared: isShared)] = handle.bits }
            return handle
        }
    }

    func forget(_ box: TypeBox) {
        registry.withLock { registry in
            let gone = Set(registry.types.filter { $0.value === box }.keys)
            for bits in gone {
                registry.types[bits] = nil
                registry.blockContents[bits] = nil
            }
            registry.described = registry.described.filter { !gone.contains($0.value) }
            registry.plain = registry.plain.filter { !gone.contains($0.value) }
        }
    }
}

extension InvivoObject {
    static func registered(with core: Core) throws(InvivoError) -> invivo_type { try core.described(invivoType) }
}
