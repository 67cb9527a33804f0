internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// What C says of a definition, read and checked.

/// A definition as C describes it, copied. What it refers to is checked by the plan. `named` says the key in the place of
/// what is written; `inlines` receives what stands in it.
func definition(
    from pointer: UnsafePointer<invivo_definition>?, in container: Container, isOverride: Bool = false,
    named: ((String) -> String)? = nil, at place: String? = nil, inlines: InlineDefinitions
) throws(Failure) -> Definition {
    guard let pointer else { throw Failure(.argument, "definition is NULL") }
    let least = MemoryLayout<invivo_definition>.offset(of: \.factory) ?? 8
    let given = try versioned(pointer, "definition", least: least, as: invivo_definition.self)
    let written = if let place { place } else { try text(given.key, "definition.key") }
    let key = place == nil ? named?(written) ?? written : written
    let location = Place(
        file: try optionalText(given.file, "definition.file") ?? "", line: given.line, column: given.column)
    func fail(_ code: Status, _ message: String) -> Failure { Failure(code, message, path: key, at: location) }
    func table(_ pointer: UnsafePointer<invivo_injection>?, _ count: UInt64, _ what: String) throws(Failure)
        -> [Injection]
    {
        try injections(pointer, count, what, key, path: what == "maker" ? "\(key).maker" : key, inlines: reader)
    }
    func calls(_ pointer: UnsafePointer<invivo_invocation>?, _ count: UInt64, _ what: String) throws(Failure)
        -> [Invocation]
    {
        try invocations(pointer, count, what, key, inlines: reader)
    }
    let reader = InlineDefinitions.Reader(inlines, container: container, owner: key)
    var body = Definition.Body()
    body.scope = given.scope == UInt32(INVIVO_SCOPE_DEFAULT) ? nil : Scope(rawValue: given.scope)
    guard body.scope != nil || given.scope == UInt32(INVIVO_SCOPE_DEFAULT) else {
        throw fail(.argument, "definition.scope is \(given.scope), which is none of INVIVO_SCOPE_...")
    }
    body.scopeName = try optionalText(given.scope_name, "definition.scope_name")
    guard (body.scope == .host) == (body.scopeName != nil) else {
        throw fail(.argument, "a scope of the host has a name, and no other scope has one")
    }
    body.flags = Definition.Flags(rawValue: given.flags)
    guard Definition.Flags.known.contains(body.flags) else {
        throw fail(.argument, "definition.flags is \(given.flags), which contains none of INVIVO_DEFINITION_...")
    }
    body.alias = try optionalText(given.alias, "definition.alias")
    body.parent = try optionalText(given.parent, "definition.parent")
    body.place = location
    body.rank = given.rank
    body.startTimeout = nanoseconds(given.start_timeout_ms) ?? 0
    body.stopTimeout = nanoseconds(given.stop_timeout_ms) ?? 0
    body.each = try optionalText(given.each, "definition.each")
    if let each = body.each, isOverride || each.isEmpty {
        throw fail(.argument, "definition.each is empty, or that of an override")
    }
    if let owner = try optionalText(given.owner, "definition.owner") {
        guard !isOverride, place == nil else {
            throw fail(.argument, "definition.owner is set in an override or an inline definition")
        }
        body.owner = named?(owner) ?? owner
        body.flags.formUnion([.hiddenClass, .hiddenInterface])
    }
    let id = try container.intern(key)
    body.parameters = try signature(given, key)
    reader.parameters = body.parameters
    body.initializer = try table(given.initializer, given.initializer_count, "initializer")
    if body.alias != nil {
        if given.destroy != nil {
            body.keepAlive = Factory(nil, userData: given.user_data, destroy: given.destroy)
        }
        return Definition(id: id, key: key, body)
    }
    if given.type.bits == 0 { body.typeName = try optionalText(given.type_name, "definition.type_name") }
    body.generic = try optionalText(given.generic, "definition.generic")
    body.choice = try choice(given, key, reader)
    guard
        given.type.bits != 0 || body.typeName != nil || body.parent != nil || given.constant.bits != 0 || isOverride
            || body.choice != nil
    else {
        throw fail(
            .argument, "definition.type is zero: only an alias, a constant, a choice, or what has a parent, needs none")
    }
    // An override takes effect with the key's own type; a block must be checked against its type.
    if let name = body.typeName, isOverride || given.block_initial != nil {
        body.type = try container.type(named: name)
    }
    if given.constant.bits != 0 { body.constant = try ObjectLease.retaining(given.constant.bits) }
    if given.type.bits != 0 {
        body.type = try objectType(given.type, in: container)
    } else if let constant = body.constant, let record = ObjectTable.record(constant.bits) {
        body.type = Container.type(record)
    }
    if let image = given.block_initial {
        guard let description = body.type?.description, description.blockSize > 0 else {
            throw fail(.argument, "definition.block_initial needs a type with a block")
        }
        body.blockImage = try description.checkedBlock(image, under: key)
    }
    body.properties = try table(given.properties, given.property_count, "properties")
    body.methods = try calls(given.methods, given.method_count, "methods")
    body.before = try calls(given.before, given.before_count, "before")
    body.after = try calls(given.after, given.after_count, "after")
    body.afterAll = try calls(given.after_all, given.after_all_count, "after_all")
    if given.maker_method != nil || given.maker_count > 0 {
        let items = try table(given.maker, given.maker_count, "maker")
        guard let object = items.first else {
            throw fail(.argument, "definition.maker needs the object whose method makes the instance")
        }
        guard given.factory == nil, body.initializer.isEmpty else {
            throw fail(.argument, "a definition has one way of making: factory, initializer or maker")
        }
        body.maker = MakerMethod(
            object: object.source,
            invocation: Invocation(
                method: try text(given.maker_method, "definition.maker_method"), arguments: Array(items.dropFirst())))
    }
    // Last, because from here on `destroy` is ours to call.
    if given.factory != nil || given.inject != nil || given.destroy != nil {
        let owner = Factory(given.factory, userData: given.user_data, destroy: given.destroy)
        body.keepAlive = owner
        if given.factory != nil { body.factory = owner }
        if let inject = given.inject { body.inject = Injector(inject, userData: given.user_data, owner: owner) }
    }
    return Definition(id: id, key: key, body)
}

/// A table of a description, not empty; nil for none.
func entries<Entry>(
    _ pointer: UnsafePointer<Entry>?, _ count: UInt64, _ what: @autoclosure () -> String, _ key: String?,
    longest: UInt64 = 65_535
) throws(Failure) -> UnsafePointer<Entry>? {
    do throws(Failure) {
        guard try isTable(pointer, count, what()) else { return nil }
        guard count <= longest else { throw Failure(.argument, "\(what()) has \(count) entries, more than \(longest)") }
    } catch {
        guard let key else { throw error }
        throw error.under(key)
    }
    return pointer
}

/// Refuses flags that this version does not know.
func requireKnown(_ flags: UInt32, _ known: Int, _ what: String, _ family: String) throws(Failure) {
    guard flags & ~UInt32(known) == 0 else {
        throw Failure(.argument, "\(what) is \(flags); expected \(family), of which the sum is \(known)")
    }
}

/// What a choice chooses from; nil for what is none.
private func choice(_ given: invivo_definition, _ key: String, _ inlines: InlineDefinitions.Reader) throws(Failure)
    -> DefinitionChoice?
{
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
        let place = "options[\(index)]"
        let when: DefinitionChoice.When
        switch Int(option.when) {
        case INVIVO_WHEN_EQUAL: when = .equal(try Value(borrowing: option.value))
        case INVIVO_WHEN_EXACT: when = .exact(try text(option.name, "\(place).name"))
        case INVIVO_WHEN_KIND: when = .kind(try text(option.name, "\(place).name"))
        case INVIVO_WHEN_NAMED: when = .named
        case INVIVO_WHEN_OTHERWISE: when = .otherwise
        default:
            throw Failure(.argument, "\(place).when is \(option.when), which is none of INVIVO_WHEN_...", path: key)
        }
        let isNamed = Int(option.when) == INVIVO_WHEN_NAMED
        let use =
            isNamed
            ? nil
            : try source(
                option.use, "\(place).use", key, depth: 0, path: "\(key).\(index)", inlines: inlines)
        found.append(DefinitionChoice.Option(when, use: use))
    }
    let chosen = try source(
        chooser.pointee, "chooser", key, depth: 0, path: "\(key).chooser", inlines: inlines)
    return DefinitionChoice(chooser: chosen, options: found)
}

/// The runtime arguments that a definition declares; nil when it declares none.
private func signature(_ given: invivo_definition, _ key: String) throws(Failure) -> Signature? {
    let parameters = try entries(
        given.parameters, given.parameter_count, "definition.parameters", key, longest: 255)
    guard let pointer = parameters else {
        guard given.defaults == nil else {
            throw Failure(.argument, "definition.defaults needs definition.parameters", path: key)
        }
        return nil
    }
    var found: [Signature.Parameter] = []
    for index in 0..<Int(given.parameter_count) {
        let entry = pointer[index]
        let name = try text(entry.name, "parameters[\(index)].name")
        guard let kind = ValueKind(rawValue: entry.kind), kind != .null else {
            throw Failure(
                .argument, "parameters[\(index)].kind is \(entry.kind), which is no kind of a parameter", path: key)
        }
        guard entry.flags & ~UInt32(INVIVO_PARAMETER_OPTIONAL) == 0 else {
            throw Failure(.argument, "parameters[\(index)].flags contains unknown ones", path: key)
        }
        let isOptional = entry.flags & UInt32(INVIVO_PARAMETER_OPTIONAL) != 0
        let type = try optionalText(entry.type_name, "parameters[\(index)].type_name")
        var parameter = Signature.Parameter(name: name, kind: kind, isOptional: isOptional, typeName: type)
        if let defaults = given.defaults, case let value = try Value(borrowing: defaults[index]), !value.isNull {
            do throws(Failure) {
                let value = try Signature(name: key, parameters: [parameter]).checked(value, parameter)
                parameter = Signature.Parameter(
                    name: name, kind: kind, isOptional: isOptional, typeName: type, defaultValue: value)
            } catch { throw Failure(error.code, "definition.defaults[\(index)]: \(error.message)", path: key) }
        }
        guard parameter.mayBeLeftOut || found.last?.mayBeLeftOut != true else {
            throw Failure(
                .argument, "the parameter '\(name)' is needed, but comes after one that may be left out", path: key)
        }
        guard !found.contains(where: { $0.name.isSameName(as: name) }) else {
            throw Failure(.argument, "two parameters are named '\(name)'", path: key)
        }
        found.append(parameter)
    }
    return Signature(name: key, parameters: found)
}

func injections(
    _ pointer: UnsafePointer<invivo_injection>?, _ count: UInt64, _ what: String, _ key: String, depth: Int = 0,
    path: String, inlines: InlineDefinitions.Reader
) throws(Failure) -> [Injection] {
    guard let pointer = try entries(pointer, count, "definition.\(what)", key) else { return [] }
    guard depth < 32 else { throw Failure(.tooLarge, "definition.\(what) is nested deeper than 32", path: key) }
    var found: [Injection] = []
    for index in 0..<Int(count) {
        let place = "\(what)[\(index)]"
        let given = pointer[index]
        let said = try optionalText(given.name, "\(place).name")
        let name = given.flags & UInt32(INVIVO_INJECT_BY_POSITION) == 0 ? said : nil
        let path = "\(path).\(name ?? "\(index)")"
        found.append(
            Injection(
                name: name, try source(given, place, key, depth: depth, path: path, inlines: inlines),
                hears: try hears(given, place, key), label: name == nil ? said : nil))
    }
    return found
}

/// The methods that hear of candidates: both or none.
private func hears(_ given: invivo_injection, _ place: String, _ key: String) throws(Failure) -> Injection.Hears? {
    let added = try optionalText(given.added, "\(place).added")
    let removed = try optionalText(given.removed, "\(place).removed")
    guard added != nil || removed != nil else { return nil }
    guard let added, let removed, Int(given.how) == INVIVO_INJECT_ALL else {
        throw Failure(
            .argument, "\(place): added and removed are given together, and only for a list of all objects of a type",
            path: key)
    }
    return Injection.Hears(added: added, removed: removed)
}

private func invocations(
    _ pointer: UnsafePointer<invivo_invocation>?, _ count: UInt64, _ what: String, _ key: String,
    inlines: InlineDefinitions.Reader
) throws(Failure) -> [Invocation] {
    guard let pointer = try entries(pointer, count, "definition.\(what)", key) else { return [] }
    var found: [Invocation] = []
    for index in 0..<Int(count) {
        let given = pointer[index]
        let method = try text(given.method, "\(what)[\(index)].method")
        // The second call of a method has a place of its own.
        let calls = found.count { $0.method == method }
        let path = "\(key).\(what == "methods" ? "" : "\(what).")\(method)\(calls == 0 ? "" : "\(calls)")"
        found.append(
            Invocation(
                method: method,
                arguments: try injections(
                    given.arguments, given.argument_count, "\(what)[\(index)].arguments", key, path: path,
                    inlines: inlines)))
    }
    return found
}

private func source(
    _ given: invivo_injection, _ place: String, _ key: String, depth: Int, path: String,
    inlines: InlineDefinitions.Reader
) throws(Failure) -> Injection.Source {
    func fail(_ message: String) -> Failure { Failure(.argument, "\(place).\(message)", path: key) }
    let known = UInt32(
        INVIVO_INJECT_OPTIONAL | INVIVO_INJECT_EXACT | INVIVO_INJECT_GREEDY | INVIVO_INJECT_OR_DEFAULT
            | INVIVO_INJECT_BY_POSITION)
    guard given.flags & ~known == 0 else { throw fail("flags contains unknown ones") }
    let isOptional = given.flags & UInt32(INVIVO_INJECT_OPTIONAL) != 0
    let items = try injections(
        given.items, given.item_count, "\(place).items", key, depth: depth + 1, path: path, inlines: inlines)
    func only() throws(Failure) -> Injection.Source {
        guard let first = items.first, items.count == 1 else {
            throw fail("items must have one, it has \(items.count)")
        }
        return first.source
    }
    func wish() throws(Failure) -> Injection.TypeWish {
        Injection.TypeWish(
            name: try text(given.reference, "\(place).reference"),
            isExact: given.flags & UInt32(INVIVO_INJECT_EXACT) != 0,
            isOptional: isOptional, isGreedy: given.flags & UInt32(INVIVO_INJECT_GREEDY) != 0,
            orDefault: given.flags & UInt32(INVIVO_INJECT_OR_DEFAULT) != 0)
    }
    switch Int(given.how) {
    case INVIVO_INJECT_VALUE: return .value(try Value(borrowing: given.value))
    case INVIVO_INJECT_REFERENCE:
        if let definition = given.definition {
            guard given.reference == nil, items.isEmpty else {
                throw fail(
                    "definition stands in the place of a reference and its arguments: only one of the two is given")
            }
            return try inlines.reference(definition, at: path, depth: depth, isOptional: isOptional)
        }
        return .reference(
            try text(given.reference, "\(place).reference"), arguments: items.map(\.source), isOptional: isOptional)
    case INVIVO_INJECT_TYPE: return .type(try wish())
    case INVIVO_INJECT_ALL: return .all(try wish())
    case INVIVO_INJECT_ARGUMENT:
        guard given.index < 256 else { throw fail("index is \(given.index); no definition takes so many arguments") }
        return .argument(Int(given.index))
    case INVIVO_INJECT_ARGUMENTS: return .arguments
    case INVIVO_INJECT_PATH:
        let path = try text(given.reference, "\(place).reference").split(
            separator: ".", omittingEmptySubsequences: false
        ).map(String.init)
        guard !path.contains("") else { throw fail("reference is no path of properties") }
        return .path(try only(), path, isOptional: isOptional)
    case INVIVO_INJECT_LIST: return .list(items.map(\.source))
    case INVIVO_INJECT_SET: return .set(items.map(\.source))
    case INVIVO_INJECT_MAP:
        var pairs: [(name: String, source: Injection.Source)] = []
        for item in items {
            guard let name = item.name, !pairs.contains(where: { $0.name.isSameName(as: name) }) else {
                throw fail("items of a map need a name each, all different")
            }
            pairs.append((name, item.source))
        }
        return .map(pairs)
    case INVIVO_INJECT_PROVIDER: return .provider(try only())
    case INVIVO_INJECT_LAZY: return .lazy(try only())
    case INVIVO_INJECT_WEAK: return .weak(try only())
    case INVIVO_INJECT_CONFIG:
        guard items.count < 2 else { throw fail("items has \(items.count): a path has one default") }
        guard given.index < 256, let kind = ValueKind(rawValue: UInt32(given.index)) else {
            throw fail("index is \(given.index), which is no kind")
        }
        return .config(
            try text(given.reference, "\(place).reference"), default: items.first?.source, isOptional: isOptional,
            kind: kind == .null ? .any : kind)
    case INVIVO_INJECT_ENTRY:
        guard items.count < 2 else { throw fail("items has \(items.count): an entry has one default") }
        let path = try optionalText(given.reference, "\(place).reference") ?? ""
        return .entry(try ConfigPath.checked(path), default: items.first?.source, isOptional: isOptional)
    case INVIVO_INJECT_ENTRY_NAME: return .entryName
    case INVIVO_INJECT_TEXT:
        let converter = try optionalText(given.reference, "\(place).reference")
        guard given.item_count == 0 else { return .text(try only(), converter: converter) }
        return .text(.value(try Value(borrowing: given.value)), converter: converter)
    case INVIVO_INJECT_RESOLVER: return .resolver
    case INVIVO_INJECT_ASKER: return .asker
    default: throw fail("how is \(given.how), which is none of INVIVO_INJECT_...")
    }
}
