public import CInvivo
internal import InvivoBase
internal import InvivoReload
internal import InvivoWiring

// wiring.h: keys, definitions, change sets, resolving.

// MARK: - Keys

@c @implementation
public func invivo_key_intern(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = container.keyHandle(try container.intern(try text(name, "name")))
    }
}

@c @implementation
public func invivo_key_find(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = container.keyHandle(try container.definedKey(try text(name, "name")))
    }
}

@c @implementation
public func invivo_key_name(_ key: invivo_key) -> UnsafePointer<CChar>! {
    guard let container = try? Container.find(key.bits, .key) else { return nil }
    return container.monitor.locked { container.keys.text(UInt32(truncatingIfNeeded: key.bits)) }
}

@c @implementation
public func invivo_key_version(_ key: invivo_key) -> UnsafePointer<UInt64>! {
    guard let container = try? Container.find(key.bits, .key) else { return nil }
    return container.monitor.locked { () -> UnsafePointer<UInt64>? in
        let id = UInt32(truncatingIfNeeded: key.bits)
        return Int(id) < container.keys.count ? container.keys.version(id) : nil
    }
}

// MARK: - Change sets

/// A change set while C writes it. Used by one thread at a time.
final class OpenChanges: @unchecked Sendable {
    let engine: Engine
    var set: ChangeSet
    /// The keys of `set.definitions`, and where they stand there: a set may hold a million.
    private var defined: [UInt32: Int] = [:]
    private(set) var bits: UInt64 = 0

    /// What a processor visits: this key alone can be defined.
    private let visited: Definition?

    init(_ engine: Engine, visiting definition: Definition? = nil) {
        self.engine = engine
        visited = definition
        set = ChangeSet(cause: "")
    }

    /// Fails for what can only define.
    func requireFree() throws(Failure) {
        guard let visited else { return }
        throw Failure(
            .argument, "a processor that visits '\(visited.key)' can define that anew, and nothing else",
            path: visited.key)
    }

    /// Gives it a handle, until it is closed or the runtime is.
    func open() throws(Failure) -> UInt64 {
        bits = HandleTable.insert(self, kind: .changes)
        do throws(Failure) { try engine.opened(changes: bits) } catch {
            HandleTable.remove(bits, .changes)
            throw error
        }
        return bits
    }

    func close() {
        engine.closed(changes: bits)
        HandleTable.remove(bits, .changes)
    }

    func note(_ cause: String) {
        if set.cause.isEmpty {
            set.cause = cause
        } else if !set.cause.hasSuffix(", ...") {
            set.cause = set.cause.utf8.count < 80 ? "\(set.cause), \(cause)" : "\(set.cause), ..."
        }
    }

    func remove(_ id: UInt32, _ name: String) {
        if defined.removeValue(forKey: id) != nil {
            set.definitions.removeAll { $0.id == id || $0.body.owner == name }
            defined = [:]
            for (index, definition) in set.definitions.enumerated() { defined[definition.id] = index }
        }
        set.removed.append((id, name))
    }

    func define(_ pointer: UnsafePointer<invivo_definition>?) throws(Failure) -> UInt32 {
        let inlines = InlineDefinitions()
        let definition = try definition(from: pointer, in: engine.container, inlines: inlines)
        if let visited {
            if definition.id != visited.id || !inlines.made.isEmpty { try requireFree() }
            // What the copied function and data belong to.
            definition.body.keepAlive?.kept = visited.body.keepAlive
            definition.body.factory?.kept = visited.body.keepAlive
        }
        for each in [definition] + inlines.made {
            if let index = defined[each.id] { throw AssemblyDescription.twice(each.key, set.definitions[index], each) }
        }
        for each in [definition] + inlines.made {
            // What is said last counts.
            if !set.removed.isEmpty { set.removed.removeAll { $0.id == each.id } }
            defined[each.id] = set.definitions.count
            set.definitions.append(each)
        }
        note("define \(definition.key)")
        return definition.id
    }
}

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
    func fail(_ code: Status, _ message: String) -> Failure { Failure(code, message, path: key) }
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
        throw fail(.argument, "definition.scope_name names a scope of the host's, and INVIVO_SCOPE_HOST needs one")
    }
    body.flags = Definition.Flags(rawValue: given.flags)
    guard Definition.Flags.known.contains(body.flags) else {
        throw fail(.argument, "definition.flags is \(given.flags), which contains none of INVIVO_DEFINITION_...")
    }
    body.alias = try optionalText(given.alias, "definition.alias")
    body.parent = try optionalText(given.parent, "definition.parent")
    body.place = Place(
        file: try optionalText(given.file, "definition.file") ?? "", line: given.line, column: given.column)
    body.rank = given.rank
    body.startTimeout = UInt64(given.start_timeout_ms) * 1_000_000
    body.stopTimeout = UInt64(given.stop_timeout_ms) * 1_000_000
    body.each = try optionalText(given.each, "definition.each")
    if let each = body.each, isOverride || each.isEmpty {
        throw fail(.argument, "definition.each is empty, or that of an override")
    }
    let id = try container.intern(key)
    if body.alias == nil { body.parameters = try signature(given, key) }
    reader.parameters = body.parameters
    body.initializer = try table(given.initializer, given.initializer_count, "initializer")
    if body.alias != nil { return Definition(id: id, key: key, body) }
    if given.type.bits == 0 { body.typeName = try optionalText(given.type_name, "definition.type_name") }
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

/// What a choice chooses from; nil for what is none.
private func choice(_ given: invivo_definition, _ key: String, _ inlines: InlineDefinitions.Reader) throws(Failure)
    -> DefinitionChoice?
{
    guard let chooser = given.chooser else {
        guard given.option_count == 0 else {
            throw Failure(.argument, "definition.options needs definition.chooser", path: key)
        }
        return nil
    }
    guard let options = given.options, given.option_count > 0, given.option_count < 65_536 else {
        throw Failure(.argument, "definition.options is NULL, empty or too long", path: key)
    }
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
    guard given.parameter_count > 0 else { return nil }
    guard let pointer = given.parameters, given.parameter_count < 256 else {
        throw Failure(.argument, "definition.parameters is NULL or too long", path: key)
    }
    var found: [Parameter] = []
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
        guard isOptional || found.last?.isOptional != true else {
            throw Failure(.argument, "the parameter '\(name)' is needed, but comes after an optional one", path: key)
        }
        guard !found.contains(where: { $0.name == name }) else {
            throw Failure(.argument, "two parameters are named '\(name)'", path: key)
        }
        found.append(
            Parameter(
                name: name, kind: kind, isOptional: isOptional,
                typeName: try optionalText(entry.type_name, "parameters[\(index)].type_name")))
    }
    return Signature(name: key, parameters: found)
}

func injections(
    _ pointer: UnsafePointer<invivo_injection>?, _ count: UInt64, _ what: String, _ key: String, depth: Int = 0,
    path: String, inlines: InlineDefinitions.Reader
) throws(Failure) -> [Injection] {
    guard count > 0 else { return [] }
    guard let pointer, count < 65_536 else {
        throw Failure(.argument, "definition.\(what) is NULL or too long", path: key)
    }
    guard depth < 32 else { throw Failure(.tooLarge, "definition.\(what) is nested deeper than 32", path: key) }
    var found: [Injection] = []
    for index in 0..<Int(count) {
        let place = "\(what)[\(index)]"
        let given = pointer[index]
        let name = try optionalText(given.name, "\(place).name")
        let path = "\(path).\(name ?? "\(index)")"
        found.append(
            Injection(
                name: name, try source(given, place, key, depth: depth, path: path, inlines: inlines),
                hears: try hears(given, place, key)))
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
            .argument, "\(place).added and .removed go together, with INVIVO_INJECT_ALL", path: key)
    }
    return Injection.Hears(added: added, removed: removed)
}

private func invocations(
    _ pointer: UnsafePointer<invivo_invocation>?, _ count: UInt64, _ what: String, _ key: String,
    inlines: InlineDefinitions.Reader
) throws(Failure) -> [Invocation] {
    guard count > 0 else { return [] }
    guard let pointer, count < 65_536 else {
        throw Failure(.argument, "definition.\(what) is NULL or too long", path: key)
    }
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
    let known = UInt32(INVIVO_INJECT_OPTIONAL | INVIVO_INJECT_EXACT | INVIVO_INJECT_GREEDY)
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
            isOptional: isOptional, isGreedy: given.flags & UInt32(INVIVO_INJECT_GREEDY) != 0)
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
            guard let name = item.name, !pairs.contains(where: { $0.name == name }) else {
                throw fail("items of a map need a name each, all different")
            }
            pairs.append((name, item.source))
        }
        return .map(pairs)
    case INVIVO_INJECT_PROVIDER: return .provider(try only())
    case INVIVO_INJECT_LAZY: return .lazy(try only())
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

/// A set that may say anything.
func changes(_ handle: invivo_changes) throws(Failure) -> OpenChanges {
    let changes = try HandleTable.require(handle.bits, .changes, as: OpenChanges.self)
    try changes.requireFree()
    return changes
}

@c @implementation
public func invivo_changes_open(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_changes>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_changes()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try OpenChanges(try Engine.find(runtime.bits)).open()
    }
}

@c @implementation
public func invivo_changes_define(
    _ changes: invivo_changes, _ definition: UnsafePointer<invivo_definition>!,
    _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        let changes = try HandleTable.require(changes.bits, .changes, as: OpenChanges.self)
        let id = try changes.define(definition)
        out?.pointee.bits = changes.engine.container.keyHandle(id)
    }
}

@c @implementation
public func invivo_changes_remove(
    _ changes: invivo_changes, _ key: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let name = try text(key, "key")
        let id = try changes.engine.container.intern(name)
        changes.remove(id, name)
        changes.note("remove \(name)")
    }
}

@c @implementation
public func invivo_changes_document(
    _ changes: invivo_changes, _ name: UnsafePointer<CChar>!, _ text: UnsafePointer<CChar>!, _ length: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let name = try InvivoBase.text(name, "name")
        let content: ChangeSet.Content = text == nil ? .none : .bytes(try documentBytes(text, length))
        changes.set.say(content, in: name)
        changes.note(name)
    }
}

@c @implementation
public func invivo_changes_set(
    _ changes: invivo_changes, _ key: UnsafePointer<CChar>!, _ property: UnsafePointer<CChar>!,
    _ value: UnsafePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let key = try text(key, "key")
        let property = try text(property, "property")
        changes.set.bases.append(
            (try changes.engine.container.intern(key), property, try Value(borrowing: value, "value")))
        changes.note("set \(key).\(property)")
    }
}

@c @implementation
public func invivo_changes_check(_ changes: invivo_changes, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        if let failure = Failure.gathered(changes.engine.check(changes.set)) { throw failure }
    }
}

@c @implementation
public func invivo_changes_commit(_ changes: invivo_changes, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        changes.close()
        changes.set.started()
        try changes.engine.commit(changes.set)
    }
}

@c @implementation
public func invivo_changes_submit(_ changes: invivo_changes, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        changes.close()
        changes.set.started()
        try changes.engine.submit(changes.set)
    }
}

@c @implementation
public func invivo_changes_discard(_ changes: invivo_changes) {
    (try? InvivoABI.changes(changes))?.close()
}

@c @implementation
public func invivo_define(
    _ runtime: invivo_runtime, _ definition: UnsafePointer<invivo_definition>!,
    _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        let id = try changes.define(definition)
        try changes.engine.commit(changes.set)
        out?.pointee.bits = changes.engine.container.keyHandle(id)
    }
}

@c @implementation
public func invivo_override_begin(
    _ runtime: invivo_runtime, _ definition: UnsafePointer<invivo_definition>!,
    _ out: UnsafeMutablePointer<invivo_override>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_override()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL: an override must be taken back by its handle") }
        let engine = try Engine.find(runtime.bits)
        out.pointee.bits = try engine.override(
            try overriding(definition, in: engine.container))
    }
}

@c @implementation
public func invivo_override_end(_ override: invivo_override, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        try HandleTable.require(override.bits, .override, as: Override.self).end()
    }
}

@c @implementation
public func invivo_define_block(
    _ runtime: invivo_runtime, _ key: UnsafePointer<CChar>!, _ block: UnsafePointer<invivo_block_options>!,
    _ out: UnsafeMutablePointer<invivo_key>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        guard let block else { throw Failure(.argument, "block is NULL") }
        let engine = try Engine.find(runtime.bits)
        let least = MemoryLayout<invivo_block_options>.offset(of: \.initial) ?? 0
        let given = try versioned(block, "block", least: least, as: invivo_block_options.self)
        let key = try text(key, "key")
        let type = try blockType(given, try text(given.type_name, "block.type_name"), engine.container)
        let id = try engine.container.intern(key)
        var set = ChangeSet(cause: "define \(key)")
        var body = Definition.Body()
        body.scope = .lazySingleton
        body.type = type
        // The type may have come with another block, that begins otherwise.
        body.blockImage = try type.description.checkedBlock(given.initial, under: key)
        set.definitions = [Definition(id: id, key: key, body)]
        try engine.commit(set)
        out?.pointee.bits = engine.container.keyHandle(id)
    }
}

/// The type that is nothing but a block; registered when new, else it must say the same.
private func blockType(_ given: invivo_block_options, _ name: String, _ container: Container) throws(Failure)
    -> ObjectType
{
    guard given.property_count < 65_536, given.properties != nil || given.property_count == 0 else {
        throw Failure(.argument, "block.properties is NULL or too long")
    }
    var properties: [invivo_property] = []
    if let table = UnsafeRawPointer(given.properties), given.property_count > 0 {
        // Entries begin with their size, which is also the table's stride: they may be another version's.
        let stride = table.loadUnaligned(as: Int.self)
        let least = MemoryLayout<invivo_property>.offset(of: \.initial) ?? 0
        for index in 0..<Int(given.property_count) {
            let what = "entry \(index) of block.properties"
            var inBlock = try versioned(table + index * stride, what, least: least, as: invivo_property.self)
            inBlock.struct_size = MemoryLayout<invivo_property>.size
            inBlock.flags |= UInt32(INVIVO_PROPERTY_BLOCK)
            properties.append(inBlock)
        }
    }
    let description = try properties.withUnsafeBufferPointer { (properties) throws(Failure) -> TypeDescription in
        var options = invivo_type_options()
        options.struct_size = MemoryLayout<invivo_type_options>.size
        options.name = given.type_name
        options.concurrency = UInt32(INVIVO_SHARED)
        options.block_size = given.size
        options.block_initial = given.initial
        options.properties = properties.baseAddress
        options.property_count = UInt64(properties.count)
        return try TypeDescription(options: &options)
    }
    if let known = try? container.type(named: name) {
        let same =
            known.description.blockSize == description.blockSize
            && known.description.properties.map(\.name) == description.properties.map(\.name)
            && zip(known.description.properties, description.properties).allSatisfy {
                $0.kind == $1.kind && $0.offset == $1.offset
            }
            && zip(known.description.properties, description.properties).allSatisfy { $0.hasSameOwnInitial(as: $1) }
        guard same else { throw Failure(.exists, "the type '\(name)' is registered already and means something else") }
        return known
    }
    return try container.register(description)
}

// MARK: - Resolving

@c @implementation
public func invivo_resolve(
    _ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return nullOut(error) }
    var failed = Container.FastFailure()
    let bits = Container.fastResolve(runtime.bits, key.bits, makes: true, failed: &failed)
    out.pointee.bits = bits
    if bits != 0 { return 0 }
    if failed.status != 0 {
        return initFailed(failed.key == 0 ? key : invivo_key(bits: failed.key), failed.status, failed.error, error)
    }
    return resolveSlowly(runtime, key, nil, 0, out, error)
}

// Cold ways stand apart, so that the hot one needs no frame for them.
@inline(never)
private func nullOut(_ error: UnsafeMutablePointer<OpaquePointer?>?) -> invivo_status {
    report(Failure(.argument, "out is NULL"), error)
}

@inline(never)
private func initFailed(
    _ key: invivo_key, _ status: invivo_status, _ given: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    let name = (try? Container.find(key.bits, .key))?.keyName(UInt32(truncatingIfNeeded: key.bits)) ?? ""
    var failure = Failure(status: status, takingOver: given.map { OpaquePointer($0) }, from: "the init function")
    if failure.path.isEmpty { failure.path = name }
    return report(failure, error)
}

@inline(never)
private func resolveSlowly(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>?, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let (container, id) = try keyed(runtime, key)
        let object = try container.resolve(id, arguments: try Value.borrowed(arguments, count))
        guard object != 0 else {
            throw Failure(
                .null,
                "what makes '\(container.keyName(id))' answered null; ask with invivo_resolve_optional where that is allowed",
                path: container.keyName(id))
        }
        out.pointee.bits = object
    }
}

@c @implementation
public func invivo_resolve_with(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return report(Failure(.argument, "out is NULL"), error) }
    out.pointee = invivo_object()
    return resolveSlowly(runtime, key, arguments, count, out, error)
}

@c @implementation
public func invivo_resolve_name(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_object>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        let id = try container.definedKey(try text(name, "name"))
        let object = try container.resolve(id)
        guard object != 0 else {
            throw Failure(.null, "what makes '\(container.keyName(id))' answered null", path: container.keyName(id))
        }
        out.pointee.bits = object
    }
}

@c @implementation
public func invivo_peek(_ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>!)
    -> invivo_status
{
    guard let out else { return Status.argument.rawValue }
    var failed = Container.FastFailure()
    out.pointee.bits = Container.fastResolve(runtime.bits, key.bits, makes: false, failed: &failed)
    return out.pointee.bits != 0 ? 0 : Status.cold.rawValue
}

@c @implementation
public func invivo_key_outline(
    _ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let (container, id) = try keyed(runtime, key)
        out.pointee = try container.outline(id).owned()
    }
}

@c @implementation
public func invivo_resolve_optional(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let (container, id) = try keyed(runtime, key)
        guard let recipe = container.visibleGraph.recipe(id) else { return try container.requireActive(id) }
        guard recipe.waits.isEmpty else { return }
        out.pointee.bits = try container.resolve(id, arguments: try Value.borrowed(arguments, count))
    }
}

@c @implementation
public func invivo_resolve_type(
    _ runtime: invivo_runtime, _ type: UnsafePointer<CChar>!, _ name: UnsafePointer<CChar>!, _ flags: UInt32,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        let isExact = try lookupFlags(flags) & UInt32(INVIVO_LOOKUP_EXACT) != 0
        let lookup = Container.Lookup(
            type: try text(type, "type"), name: try optionalText(name, "name"), isExact: isExact)
        let object = try container.resolve(lookup)
        guard object != nil || flags & UInt32(INVIVO_LOOKUP_OPTIONAL) != 0 else { throw container.nothing(lookup) }
        guard object != 0 || flags & UInt32(INVIVO_LOOKUP_OPTIONAL) != 0 else {
            throw Failure(.null, "what makes the '\(lookup.type)' answered null", path: lookup.type)
        }
        out.pointee.bits = object ?? 0
    }
}

private func lookupFlags(_ flags: UInt32) throws(Failure) -> UInt32 {
    guard flags & ~UInt32(INVIVO_LOOKUP_EXACT | INVIVO_LOOKUP_OPTIONAL) == 0 else {
        throw Failure(.argument, "flags contains unknown ones")
    }
    return flags
}

@c @implementation
public func invivo_resolve_all(
    _ runtime: invivo_runtime, _ type: UnsafePointer<CChar>!, _ flags: UInt32,
    _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        let isExact = try lookupFlags(flags) & UInt32(INVIVO_LOOKUP_EXACT) != 0
        let objects = try container.resolveAll(try text(type, "type"), isExact: isExact)
        out.pointee = Value.list(objects.map { .object(ObjectLease(owning: $0)) }).owned()
    }
}

/// The container and the id behind a key handle that must be the runtime's.
func keyed(_ runtime: invivo_runtime, _ key: invivo_key) throws(Failure) -> (container: Container, id: UInt32) {
    let container = try Container.find(runtime.bits, .runtime)
    guard UInt32(truncatingIfNeeded: key.bits >> 32) == container.keys.owner else {
        throw key.bits == 0 ? .badHandle(0, .key) : Failure(.handle, "the key belongs to another runtime")
    }
    let id = UInt32(truncatingIfNeeded: key.bits)
    guard container.monitor.locked({ Int(id) < container.keys.count }) else {
        throw Failure(.handle, "the key is no key of this runtime")
    }
    return (container, id)
}
