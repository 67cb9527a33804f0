public import CInvivo
internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import InvivoWiring

/// Reads definitions from their C tables.
///
/// The result is a copy. The plan of a change set checks the keys and types to which it refers.
public struct DefinitionReader {
    private let registry: any DefinitionRegistry
    private let inlines: InlineDefinitions
    private let files = SharedString()
    private let types = SharedType()

    /// `inlines` receives the inline definitions of all definitions that are read.
    public init(_ registry: any DefinitionRegistry, _ inlines: InlineDefinitions) {
        self.registry = registry
        self.inlines = inlines
    }

    /// Reads the definition of an override, which has no inline definitions: they would have to be removed with it.
    public static func override(
        _ pointer: UnsafePointer<invivo_definition>?, in registry: any DefinitionRegistry
    ) throws(Failure) -> Definition {
        let inlines = InlineDefinitions()
        var read: Definition?
        do throws(Failure) {
            let definition = try DefinitionReader(registry, inlines).definition(pointer, isOverride: true)
            read = definition
            guard inlines.definitions.isEmpty else {
                throw Failure(
                    .argument, "an override has no inline definitions: define them by keys of their own",
                    path: definition.key)
            }
            return definition
        } catch {
            read?.disown()
            inlines.disown()
            throw error
        }
    }

    /// Reads the dependencies that every object of a type has. They cannot contain inline definitions.
    public static func dependencies(
        of pointer: UnsafePointer<invivo_type_options>, _ type: TypeDescription, in registry: any DefinitionRegistry
    ) throws(Failure) -> [Injection] {
        let least = MemoryLayout<invivo_type_options>.offset(of: \.text) ?? 0
        let given = try versioned(pointer, "invivo_type_options", least: least, as: invivo_type_options.self)
        let inlines = InlineDefinitions()
        do throws(Failure) {
            let reader = SourceReader(DefinitionReader(registry, inlines), key: type.name)
            let dependencies = try reader.injections(given.needs, given.need_count, "needs", path: type.name)
            guard inlines.definitions.isEmpty else {
                throw Failure(
                    .argument, "a declared dependency of a type is a key or a type, not an inline definition",
                    path: type.name)
            }
            return dependencies
        } catch {
            inlines.disown()
            throw error
        }
    }

    /// Reads one definition. When it throws, the host keeps its user data, except that of `inlines`.
    ///
    /// - Parameters:
    ///   - inlineKey: the key of an inline definition, which has none of its own.
    ///   - named: converts the written keys of the definition and of its owner.
    public func definition(
        _ pointer: UnsafePointer<invivo_definition>?, isOverride: Bool = false, at inlineKey: String? = nil,
        named: ((String) -> String)? = nil
    ) throws(Failure) -> Definition {
        guard let pointer else { throw Failure(.argument, "definition is NULL") }
        let least = MemoryLayout<invivo_definition>.offset(of: \.factory) ?? 8
        let given = try versioned(pointer, "definition", least: least, as: invivo_definition.self)
        let key: String
        if let inlineKey {
            key = inlineKey
        } else {
            let written = try text(given.key, "definition.key")
            key = named?(written) ?? written
        }
        let location = Location(
            file: files.shared(try optionalText(given.file, "definition.file") ?? ""), line: given.line,
            column: given.column)
        func fail(_ code: Status, _ message: String) -> Failure { Failure(code, message, path: key, at: location) }
        var reader = SourceReader(self, key: key)
        var body = Definition.Body()
        body.scope = given.scope == UInt32(INVIVO_SCOPE_DEFAULT) ? nil : Scope(rawValue: given.scope)
        guard body.scope != nil || given.scope == UInt32(INVIVO_SCOPE_DEFAULT) else {
            throw fail(.argument, "definition.scope is \(given.scope), which is not one of INVIVO_SCOPE_...")
        }
        body.scopeName = try optionalText(given.scope_name, "definition.scope_name")
        guard body.scope == .context || (body.scope == .host) == (body.scopeName != nil) else {
            throw fail(
                .argument,
                "a scope of the host has a name, and only a scope of contexts may have one: that of their kind")
        }
        body.flags = Definition.Flags(rawValue: given.flags)
        guard Definition.Flags.known.contains(body.flags) else {
            throw fail(.argument, "definition.flags is \(given.flags), which contains none of INVIVO_DEFINITION_...")
        }
        body.alias = try optionalText(given.alias, "definition.alias")
        body.parent = try optionalText(given.parent, "definition.parent")
        body.location = location
        body.rank = given.rank
        body.startTimeout = nanoseconds(given.start_timeout_ms) ?? 0
        body.stopTimeout = nanoseconds(given.stop_timeout_ms) ?? 0
        body.onChange = OnChange(rawValue: given.on_change)
        guard body.onChange != nil || given.on_change == UInt32(INVIVO_ON_CHANGE_DEFAULT) else {
            throw fail(
                .argument, "definition.on_change is \(given.on_change), which is not one of INVIVO_ON_CHANGE_...")
        }
        body.onChangeReason = try optionalText(given.on_change_reason, "definition.on_change_reason")
        body.specKey = try optionalText(given.spec_key, "definition.spec_key")
        guard body.specKey?.isEmpty != true else {
            throw fail(
                .argument,
                "definition.spec_key is empty; NULL stands for the key itself, INVIVO_SPEC_KEY_NONE for no traits")
        }
        body.each = try optionalText(given.each, "definition.each")
        if let each = body.each, isOverride || each.isEmpty {
            throw fail(.argument, "definition.each is empty, or that of an override")
        }
        if let owner = try optionalText(given.owner, "definition.owner") {
            guard !isOverride, inlineKey == nil else {
                throw fail(.argument, "definition.owner is set in an override or an inline definition")
            }
            body.owner = named?(owner) ?? owner
            body.flags.formUnion([.hiddenClass, .hiddenInterface])
        }
        let id = try registry.intern(key)
        body.parameters = try Self.signature(given, key)
        reader.parameters = body.parameters
        body.initializer = try reader.injections(given.initializer, given.initializer_count, "initializer", path: key)
        if body.alias != nil {
            if given.destroy != nil {
                body.keepAlive = Factory(nil, userData: given.user_data, destroy: given.destroy)
            }
            return Definition(id: id, key: key, body)
        }
        if given.type.bits == 0 { body.typeName = try optionalText(given.type_name, "definition.type_name") }
        body.generic = try optionalText(given.generic, "definition.generic")
        body.choice = try reader.choice(given)
        guard
            given.type.bits != 0 || body.typeName != nil || body.parent != nil || given.constant.bits != 0 || isOverride
                || body.choice != nil
        else {
            throw fail(
                .argument,
                "definition.type is zero: only an alias, a constant, a choice or a child may omit it")
        }
        // An override takes effect with the key's own type; a block must be checked against its type.
        if let name = body.typeName, isOverride || given.block_initial != nil {
            body.type = try registry.type(named: name)
        }
        if given.constant.bits != 0 { body.constant = try ObjectLease.retaining(given.constant.bits) }
        if given.type.bits != 0 {
            body.type = try types.shared(given.type, in: registry)
        } else if let constant = body.constant, let record = ObjectTable.record(constant.bits) {
            body.type = ObjectType.of(record)
        }
        if let image = given.block_initial {
            guard let description = body.type?.description, description.blockSize > 0 else {
                throw fail(.argument, "definition.block_initial needs a type with a block")
            }
            body.blockImage = try description.checkedBlock(image, under: key)
        }
        body.properties = try reader.injections(given.properties, given.property_count, "properties", path: key)
        body.methods = try reader.invocations(given.methods, given.method_count, "methods")
        body.before = try reader.invocations(given.before, given.before_count, "before")
        body.after = try reader.invocations(given.after, given.after_count, "after")
        body.afterAll = try reader.invocations(given.after_all, given.after_all_count, "after_all")
        if given.maker_method != nil || given.maker_count > 0 {
            let items = try reader.injections(given.maker, given.maker_count, "maker", path: "\(key).maker")
            guard let object = items.first else {
                throw fail(.argument, "definition.maker needs the object whose method makes the instance")
            }
            guard given.factory == nil, body.initializer.isEmpty else {
                throw fail(.argument, "a definition has one way of making: factory, initializer or maker")
            }
            body.maker = MakerMethod(
                object: object.source,
                invocation: Invocation(
                    method: try text(given.maker_method, "definition.maker_method"), arguments: Array(items.dropFirst())
                ))
        }
        // Last: from here on the runtime calls `destroy`.
        if given.factory != nil || given.inject != nil || given.destroy != nil {
            let owner = Factory(given.factory, userData: given.user_data, destroy: given.destroy)
            body.keepAlive = owner
            if given.factory != nil { body.factory = owner }
            if let inject = given.inject { body.inject = Injector(inject, userData: given.user_data, owner: owner) }
        }
        return Definition(id: id, key: key, body)
    }

    /// The runtime arguments that a definition declares; nil when it declares none.
    private static func signature(_ given: invivo_definition, _ key: String) throws(Failure) -> Signature? {
        let parameters = try entries(
            given.parameters, given.parameter_count, "definition.parameters", key, longest: 255)
        guard let parameters else {
            guard given.defaults == nil else {
                throw Failure(.argument, "definition.defaults needs definition.parameters", path: key)
            }
            return nil
        }
        var builder = SignatureBuilder(key)
        for index in 0..<Int(given.parameter_count) {
            let entry = parameters[index]
            let name = try text(entry.name, "parameters[\(index)].name")
            guard let kind = ValueKind(rawValue: entry.kind), kind != .null else {
                throw Failure(
                    .argument, "parameters[\(index)].kind is \(entry.kind), which is no kind of a parameter", path: key)
            }
            guard entry.flags & ~Signature.Parameter.knownFlags == 0 else {
                throw Failure(.argument, "parameters[\(index)].flags contains unknown ones", path: key)
            }
            let parameter = Signature.Parameter(
                name, kind, flags: entry.flags,
                typeName: try optionalText(entry.type_name, "parameters[\(index)].type_name"))
            let value = try given.defaults.map { defaults throws(Failure) in try Value(borrowing: defaults[index]) }
            switch builder.add(parameter, default: value).first {
            case nil: break
            case .defaultValue(let error):
                throw Failure(error.code, "definition.defaults[\(index)]: \(error.message)", path: key)
            case .order: throw Failure(.argument, SignatureBuilder.orderMessage(name), path: key)
            case .repeatedName: throw Failure(.argument, "two parameters are named '\(name)'", path: key)
            }
        }
        return builder.signature
    }

    /// Reads an inline definition under its path, which becomes its key. Returns the source by which its owner refers to it.
    fileprivate func inline(
        _ pointer: UnsafePointer<invivo_definition>, in owner: SourceReader, path: String, depth: Int, isOptional: Bool
    ) throws(Failure) -> Injection.Source {
        guard path.utf8.count < 1024, depth < 32 else {
            throw Failure(.tooLarge, "definitions stand in each other too deeply", path: owner.key)
        }
        return inlines.add(
            try definition(pointer, at: path), owner: owner.key, parameters: owner.parameters, isOptional: isOptional)
    }
}

/// One copy of a string that many definitions have.
private final class SharedString {
    private var last = ""

    /// Returns the former string if it is the same.
    func shared(_ string: String) -> String {
        if !last.isSameName(as: string) { last = string }
        return last
    }
}

/// The type that many definitions have one after the other.
private final class SharedType {
    private var last: (bits: UInt64, type: ObjectType)?

    func shared(_ handle: invivo_type, in registry: any DefinitionRegistry) throws(Failure) -> ObjectType {
        if let last, last.bits == handle.bits { return last.type }
        let type = try registry.type(of: handle)
        last = (handle.bits, type)
        return type
    }
}

/// Reads the injections of one definition or type. Their paths become the keys of inline definitions.
private struct SourceReader {
    let definitions: DefinitionReader
    let key: String
    /// The runtime arguments of the definition, which inline definitions may use.
    var parameters: Signature?

    init(_ definitions: DefinitionReader, key: String) {
        self.definitions = definitions
        self.key = key
    }

    func injections(
        _ pointer: UnsafePointer<invivo_injection>?, _ count: UInt64, _ what: String, path: String, depth: Int = 0
    ) throws(Failure) -> [Injection] {
        guard let pointer = try entries(pointer, count, "definition.\(what)", key) else { return [] }
        guard depth < 32 else { throw Failure(.tooLarge, "definition.\(what) is nested deeper than 32", path: key) }
        var found: [Injection] = []
        for index in 0..<Int(count) {
            let field = "\(what)[\(index)]"
            let given = pointer[index]
            let label = try optionalText(given.name, "\(field).name")
            let name = given.flags & UInt32(INVIVO_INJECT_BY_POSITION) == 0 ? label : nil
            found.append(
                Injection(
                    name: name, try source(given, field, path: "\(path).\(name ?? "\(index)")", depth: depth),
                    listeners: try listeners(given, field), label: name == nil ? label : nil,
                    onChange: try onChange(given, field, depth), owns: try owns(given, field, depth)))
        }
        return found
    }

    /// How an injection follows changes; nil = as its definition declares.
    private func onChange(_ given: invivo_injection, _ field: String, _ depth: Int) throws(Failure) -> OnChange? {
        let all: [(flag: Int, onChange: OnChange)] = [
            (INVIVO_INJECT_KEEP, .keep), (INVIVO_INJECT_REBUILD, .rebuild), (INVIVO_INJECT_REFUSE, .refuse),
            (INVIVO_INJECT_FOLLOW, .follow),
        ]
        let declared = all.filter { given.flags & UInt32($0.flag) != 0 }
        guard let first = declared.first else { return nil }
        guard declared.count == 1, depth == 0 else {
            throw Failure(
                .argument,
                "\(field).flags: "
                    + (depth > 0
                        ? "KEEP, REBUILD, REFUSE and FOLLOW are for an injection as a whole, not for an item of it"
                        : "an injection has one of KEEP, REBUILD, REFUSE and FOLLOW"),
                path: key)
        }
        return first.onChange
    }

    private func owns(_ given: invivo_injection, _ field: String, _ depth: Int) throws(Failure) -> Bool {
        guard given.flags & UInt32(INVIVO_INJECT_OWNS) != 0 else { return false }
        guard depth == 0 else {
            throw Failure(
                .argument, "\(field).flags: OWNS is for an injection as a whole, not for an item of it", path: key)
        }
        return true
    }

    /// The methods that are called when candidates are added or removed: both or neither.
    private func listeners(_ given: invivo_injection, _ field: String) throws(Failure) -> Injection.Listeners? {
        let added = try optionalText(given.added, "\(field).added")
        let removed = try optionalText(given.removed, "\(field).removed")
        guard added != nil || removed != nil else { return nil }
        guard let added, let removed, Int(given.how) == INVIVO_INJECT_ALL else {
            throw Failure(
                .argument,
                "\(field): added and removed are given together, and only for a list of all objects of a type",
                path: key)
        }
        return Injection.Listeners(added: added, removed: removed)
    }

    func invocations(
        _ pointer: UnsafePointer<invivo_invocation>?, _ count: UInt64, _ what: String
    ) throws(Failure) -> [Invocation] {
        guard let pointer = try entries(pointer, count, "definition.\(what)", key) else { return [] }
        var found: [Invocation] = []
        for index in 0..<Int(count) {
            let given = pointer[index]
            let method = try text(given.method, "\(what)[\(index)].method")
            // Later calls of a method have a number in their path.
            let calls = found.count { $0.method == method }
            let path = "\(key).\(what == "methods" ? "" : "\(what).")\(method)\(calls == 0 ? "" : "\(calls)")"
            found.append(
                Invocation(
                    method: method,
                    arguments: try injections(
                        given.arguments, given.argument_count, "\(what)[\(index)].arguments", path: path)))
        }
        return found
    }

    /// The choice of a definition; nil for a definition that is no choice.
    func choice(_ given: invivo_definition) throws(Failure) -> DefinitionChoice? {
        let options = try entries(given.options, given.option_count, "definition.options", key)
        guard let chooser = given.chooser else {
            guard options == nil else {
                throw Failure(.argument, "definition.options needs definition.chooser", path: key)
            }
            return nil
        }
        guard let options else { throw Failure(.argument, "definition.options is NULL", path: key) }
        var found: [DefinitionChoice.Option] = []
        for index in 0..<Int(given.option_count) {
            let option = options[index]
            let field = "options[\(index)]"
            let when: DefinitionChoice.When
            switch Int(option.when) {
            case INVIVO_WHEN_EQUAL: when = .equal(try Value(borrowing: option.value))
            case INVIVO_WHEN_EXACT: when = .exact(try text(option.name, "\(field).name"))
            case INVIVO_WHEN_KIND: when = .kind(try text(option.name, "\(field).name"))
            case INVIVO_WHEN_NAMED:
                found.append(DefinitionChoice.Option(.named, use: nil))
                continue
            case INVIVO_WHEN_OTHERWISE: when = .otherwise
            default:
                throw Failure(
                    .argument, "\(field).when is \(option.when), which is not one of INVIVO_WHEN_...", path: key)
            }
            _ = try onChange(option.use, "\(field).use", 1)
            _ = try owns(option.use, "\(field).use", 1)
            let use = try source(option.use, "\(field).use", path: "\(key).\(index)")
            found.append(DefinitionChoice.Option(when, use: use))
        }
        _ = try onChange(chooser.pointee, "chooser", 1)
        _ = try owns(chooser.pointee, "chooser", 1)
        let chosen = try source(chooser.pointee, "chooser", path: "\(key).chooser")
        return DefinitionChoice(chooser: chosen, options: found)
    }

    private func source(
        _ given: invivo_injection, _ field: String, path: String, depth: Int = 0
    ) throws(Failure) -> Injection.Source {
        func fail(_ message: String) -> Failure { Failure(.argument, "\(field).\(message)", path: key) }
        let known = UInt32(
            INVIVO_INJECT_OPTIONAL | INVIVO_INJECT_EXACT | INVIVO_INJECT_GREEDY | INVIVO_INJECT_OR_DEFAULT
                | INVIVO_INJECT_BY_POSITION | INVIVO_INJECT_KEEP | INVIVO_INJECT_REBUILD | INVIVO_INJECT_REFUSE
                | INVIVO_INJECT_FOLLOW | INVIVO_INJECT_OWNS)
        guard given.flags & ~known == 0 else { throw fail("flags contains unknown ones") }
        let items = try injections(
            given.items, given.item_count, "\(field).items", path: path, depth: depth + 1)
        guard let kind = SourceForm.Kind(rawValue: given.how) else {
            throw fail("how is \(given.how), which is not one of INVIVO_INJECT_...")
        }
        var form = SourceForm(kind)
        form.isOptional = given.flags & UInt32(INVIVO_INJECT_OPTIONAL) != 0
        if kind == .reference, let definition = given.definition {
            guard given.reference == nil, items.isEmpty else {
                throw fail(
                    "definition replaces a reference and its arguments: give only one of the two")
            }
            return try definitions.inline(definition, in: self, path: path, depth: depth, isOptional: form.isOptional)
        }
        if kind.hasName { form.name = try optionalText(given.reference, "\(field).reference") }
        form.items = items.map { ($0.name, $0.source) }
        form.isExact = given.flags & UInt32(INVIVO_INJECT_EXACT) != 0
        form.isGreedy = given.flags & UInt32(INVIVO_INJECT_GREEDY) != 0
        form.orDefault = given.flags & UInt32(INVIVO_INJECT_OR_DEFAULT) != 0
        form.index = Int(clamping: given.index)
        if kind == .config {
            guard let wanted = ValueKind(rawValue: UInt32(clamping: given.index)) else {
                throw fail("index is \(given.index), which is no kind")
            }
            form.valueKind = wanted == .null ? .any : wanted
        }
        if kind == .value || kind == .context || kind == .text && items.isEmpty {
            form.value = try Value(borrowing: given.value)
        }
        do throws(Failure) { return try form.source() } catch {
            throw Failure(error.code, "\(field): \(error.message)", path: key)
        }
    }
}
