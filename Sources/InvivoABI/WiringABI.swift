public import CInvivo
internal import InvivoBase
internal import InvivoReload
internal import InvivoWiring

// wiring.h: keys, definitions, change sets, resolving.

// MARK: - Keys

@c @implementation
public func invivo_key_intern(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_key>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
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
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_key>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
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
    private(set) var bits: UInt64 = 0

    init(_ engine: Engine) {
        self.engine = engine
        set = ChangeSet(cause: "")
        bits = HandleTable.insert(self, kind: .changes)
    }

    func close() { _ = HandleTable.remove(bits, .changes) }

    func note(_ cause: String) {
        if set.cause.isEmpty {
            set.cause = cause
        } else if !set.cause.hasSuffix(", ...") {
            set.cause = set.cause.utf8.count < 80 ? "\(set.cause), \(cause)" : "\(set.cause), ..."
        }
    }

    func define(_ pointer: UnsafePointer<invivo_definition>?) throws(Failure) -> UInt32 {
        let definition = try definition(from: pointer, in: engine.container)
        guard !set.definitions.contains(where: { $0.id == definition.id }) else {
            throw Failure(.exists, "the key is defined twice in one change set", path: definition.key, at: definition.place)
        }
        set.definitions.append(definition)
        note("define \(definition.key)")
        return definition.id
    }
}

/// A definition as C describes it, copied. What it refers to is checked by the plan.
private func definition(from pointer: UnsafePointer<invivo_definition>?, in container: Container) throws(Failure) -> Definition {
    guard let pointer else { throw Failure(.argument, "definition is NULL") }
    let least = MemoryLayout<invivo_definition>.offset(of: \.factory) ?? 8
    let given = try versioned(pointer, "definition", least: least, as: invivo_definition.self)
    let key = try text(given.key, "definition.key")
    func fail(_ code: Status, _ message: String) -> Failure { Failure(code, message, path: key) }
    guard let scope = Scope(rawValue: given.scope) else {
        throw fail(.argument, "definition.scope is \(given.scope); expected INVIVO_SCOPE_PROTOTYPE, _LAZY_SINGLETON or _SINGLETON")
    }
    let alias = try optionalText(given.alias, "definition.alias")
    let place = Place(file: try optionalText(given.file, "definition.file") ?? "", line: given.line, column: given.column)
    let id = try container.intern(key)
    if let alias {
        return Definition(id: id, key: key, scope: scope, type: nil, alias: alias, place: place)
    }
    guard given.type.bits != 0 else { throw fail(.argument, "definition.type is zero: only an alias needs none") }
    let type = try objectType(given.type, in: container)
    let initializer = try injections(given.initializer, given.initializer_count, "initializer", key)
    let properties = try injections(given.properties, given.property_count, "properties", key)
    // Last, because from here on `destroy` is ours to call.
    var factory: Factory?
    if given.factory != nil || given.destroy != nil {
        factory = Factory(given.factory, userData: given.user_data, destroy: given.destroy)
    }
    return Definition(
        id: id, key: key, scope: scope, type: type, factory: given.factory == nil ? nil : factory, keepAlive: factory,
        initializer: initializer, properties: properties, place: place)
}

private func injections(
    _ pointer: UnsafePointer<invivo_injection>?, _ count: UInt64, _ what: String, _ key: String
) throws(Failure) -> [Injection] {
    guard count > 0 else { return [] }
    guard let pointer, count < 65_536 else { throw Failure(.argument, "definition.\(what) is NULL or too long", path: key) }
    var found: [Injection] = []
    for index in 0..<Int(count) {
        let given = pointer[index]
        let name = try optionalText(given.name, "\(what)[\(index)].name")
        switch Int(given.how) {
        case INVIVO_INJECT_VALUE: found.append(Injection(name: name, .value(try Value(borrowing: given.value))))
        case INVIVO_INJECT_REFERENCE:
            found.append(Injection(name: name, .reference(try text(given.reference, "\(what)[\(index)].reference"))))
        default: throw Failure(.argument, "\(what)[\(index)].how is \(given.how); expected INVIVO_INJECT_VALUE or _REFERENCE", path: key)
        }
    }
    return found
}

private func changes(_ handle: invivo_changes) throws(Failure) -> OpenChanges {
    try HandleTable.require(handle.bits, .changes, as: OpenChanges.self)
}

@c @implementation
public func invivo_changes_open(_ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_changes>!, _ error: UnsafeMutablePointer<OpaquePointer?>!) -> invivo_status {
    out?.pointee = invivo_changes()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = OpenChanges(try Engine.find(runtime.bits)).bits
    }
}

@c @implementation
public func invivo_changes_define(
    _ changes: invivo_changes, _ definition: UnsafePointer<invivo_definition>!, _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let id = try changes.define(definition)
        out?.pointee.bits = changes.engine.container.keyHandle(id)
    }
}

@c @implementation
public func invivo_changes_remove(_ changes: invivo_changes, _ key: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let name = try text(key, "key")
        changes.set.removed.append((try changes.engine.container.intern(name), name))
        changes.note("remove \(name)")
    }
}

@c @implementation
public func invivo_changes_document(
    _ changes: invivo_changes, _ name: UnsafePointer<CChar>!, _ text: UnsafePointer<CChar>!, _ length: UInt64, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let name = try InvivoBase.text(name, "name")
        let document = changes.engine.memoryDocument(name)
        changes.set.documents.removeAll { $0.document === document }
        let content: ChangeSet.Content = text == nil ? .none : .bytes(try documentBytes(text, length))
        changes.set.documents.append((document, content))
        changes.note(name)
    }
}

@c @implementation
public func invivo_changes_set(
    _ changes: invivo_changes, _ key: UnsafePointer<CChar>!, _ property: UnsafePointer<CChar>!, _ value: UnsafePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let key = try text(key, "key")
        let property = try text(property, "property")
        changes.set.bases.append((try changes.engine.container.intern(key), property, try Value(borrowing: value, "value")))
        changes.note("set \(key).\(property)")
    }
}

@c @implementation
public func invivo_changes_commit(_ changes: invivo_changes, _ error: UnsafeMutablePointer<OpaquePointer?>!) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        changes.close()
        changes.set.started()
        try changes.engine.commit(changes.set)
    }
}

@c @implementation
public func invivo_changes_submit(_ changes: invivo_changes, _ error: UnsafeMutablePointer<OpaquePointer?>!) -> invivo_status {
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
    _ runtime: invivo_runtime, _ definition: UnsafePointer<invivo_definition>!, _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        changes.close()
        let id = try changes.define(definition)
        try changes.engine.commit(changes.set)
        out?.pointee.bits = changes.engine.container.keyHandle(id)
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
        let least = MemoryLayout<invivo_block_options>.size
        let given = try versioned(block, "block", least: least, as: invivo_block_options.self)
        let key = try text(key, "key")
        let type = try blockType(given, try text(given.type_name, "block.type_name"), engine.container)
        let id = try engine.container.intern(key)
        var set = ChangeSet(cause: "define \(key)")
        set.definitions = [Definition(id: id, key: key, scope: .lazySingleton, type: type)]
        try engine.commit(set)
        out?.pointee.bits = engine.container.keyHandle(id)
    }
}

/// The type that is nothing but a block; registered when new, else it must say the same.
private func blockType(_ given: invivo_block_options, _ name: String, _ container: Container) throws(Failure) -> ObjectType {
    guard given.property_count < 65_536, given.properties != nil || given.property_count == 0 else {
        throw Failure(.argument, "block.properties is NULL or too long")
    }
    var properties: [invivo_property] = []
    for index in 0..<Int(given.property_count) {
        guard let property = given.properties?[index] else { continue }
        var inBlock = property
        inBlock.flags |= UInt32(INVIVO_PROPERTY_BLOCK)
        properties.append(inBlock)
    }
    let description = try properties.withUnsafeBufferPointer { (properties) throws(Failure) -> TypeDescription in
        var options = invivo_type_options()
        options.struct_size = MemoryLayout<invivo_type_options>.size
        options.name = given.type_name
        options.concurrency = UInt32(INVIVO_SHARED)
        options.block_size = given.size
        options.properties = properties.baseAddress
        options.property_count = UInt64(properties.count)
        return try TypeDescription(options: &options)
    }
    if let known = try? container.type(named: name) {
        let same = known.description.blockSize == description.blockSize
            && known.description.properties.map(\.name) == description.properties.map(\.name)
            && zip(known.description.properties, description.properties).allSatisfy { $0.kind == $1.kind && $0.offset == $1.offset }
        guard same else { throw Failure(.exists, "the type '\(name)' is registered already and means something else") }
        return known
    }
    return try container.register(description)
}

// MARK: - Resolving

@c @implementation
public func invivo_resolve(
    _ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return nullOut(error) }
    var failed: (status: Int32, error: UnsafeMutableRawPointer?) = (0, nil)
    let bits = Container.fastResolve(runtime.bits, key.bits, makes: true, failed: &failed)
    out.pointee.bits = bits
    if bits != 0 { return 0 }
    if failed.status != 0 { return initFailed(key, failed.status, failed.error, error) }
    return resolveSlowly(runtime, key, nil, 0, out, error)
}

// Cold ways stand apart, so that the hot one needs no frame for them.
@inline(never)
private func nullOut(_ error: UnsafeMutablePointer<OpaquePointer?>?) -> invivo_status {
    report(Failure(.argument, "out is NULL"), error)
}

@inline(never)
private func initFailed(
    _ key: invivo_key, _ status: invivo_status, _ given: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<OpaquePointer?>?
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
        let container = try Container.find(runtime.bits, .runtime)
        guard UInt32(truncatingIfNeeded: key.bits >> 32) == container.keys.owner else {
            throw Failure(.handle, key.bits == 0 ? "the key is zero" : "the key belongs to another runtime")
        }
        guard container.monitor.locked({ Int(UInt32(truncatingIfNeeded: key.bits)) < container.keys.count }) else {
            throw Failure(.handle, "the key is no key of this runtime")
        }
        out.pointee.bits = try container.resolve(UInt32(truncatingIfNeeded: key.bits), arguments: try Value.borrowed(arguments, count))
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
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = try container.resolve(try container.definedKey(try text(name, "name")))
    }
}

@c @implementation
public func invivo_peek(_ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>!) -> invivo_status {
    guard let out else { return Status.argument.rawValue }
    var failed: (status: Int32, error: UnsafeMutableRawPointer?) = (0, nil)
    out.pointee.bits = Container.fastResolve(runtime.bits, key.bits, makes: false, failed: &failed)
    return out.pointee.bits != 0 ? 0 : Status.cold.rawValue
}
