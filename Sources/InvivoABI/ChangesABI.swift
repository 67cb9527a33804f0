public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// wiring.h: change sets, definitions, overrides, blocks.

/// A change set while C writes it.
///
/// Unchecked: the host uses a change set on one thread at a time.
final class OpenChanges: @unchecked Sendable {
    let engine: Engine
    var set: ChangeSet
    /// The keys of `set.definitions` with their indices: a set may contain a million.
    private var defined: [UInt32: Int] = [:]
    private(set) var bits: UInt64 = 0

    /// The definition that a processor visits. Only this key can be defined.
    private let visited: Definition?

    init(_ engine: Engine, visiting definition: Definition? = nil) {
        self.engine = engine
        visited = definition
        set = ChangeSet()
    }

    /// Fails for a change set in which only one key can be defined.
    func requireFree() throws(Failure) {
        guard let visited else { return }
        throw Failure(
            .argument, "a processor that visits '\(visited.key)' can replace its definition, and nothing else",
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

    func note(_ kind: Cause.Kind, _ name: String) { set.cause.note(Cause.Part(kind, name)) }

    func remove(_ id: UInt32, _ name: String) {
        let removal = KeyChanges.Removal(id, name)
        guard defined.removeValue(forKey: id) != nil else { return set.removed.append(removal) }
        set.removeDefined(removal)
        defined = [:]
        for (index, definition) in set.definitions.enumerated() { defined[definition.id] = index }
    }

    func define(_ pointer: UnsafePointer<invivo_definition>?) throws(Failure) -> UInt32 {
        let inlines = InlineDefinitions()
        var read: Definition?
        let definition: Definition
        do throws(Failure) {
            definition = try DefinitionReader(engine.container.registry, inlines).definition(pointer)
            read = definition
            if let visited, definition.id != visited.id || !inlines.definitions.isEmpty { try requireFree() }
            for each in [definition] + inlines.definitions {
                if let index = defined[each.id] {
                    throw AssemblyDescription.twice(each.key, set.definitions[index], each)
                }
            }
        } catch {
            read?.disown()
            inlines.disown()
            throw error
        }
        if let visited {
            // The owner of the copied function and data.
            definition.body.keepAlive?.kept = visited.body.keepAlive
            definition.body.factory?.kept = visited.body.keepAlive
        }
        for each in [definition] + inlines.definitions {
            // The last call for a key wins.
            if !set.removed.isEmpty { set.removed.removeAll { $0.id == each.id } }
            defined[each.id] = set.definitions.count
            set.definitions.append(each)
        }
        note(.define, definition.key)
        return definition.id
    }
}

/// A change set that is not restricted to one key.
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
        changes.note(.remove, name)
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
        changes.note(.document, name)
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
        changes.note(.set, "\(key).\(property)")
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
public func invivo_changes_expect(
    _ changes: invivo_changes, _ generation: UInt64, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try InvivoABI.changes(changes).set.expectedGeneration = generation
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
        try GivenDefinitions.keeping(changes.set.definitions) { () throws(Failure) in
            try changes.engine.commit(changes.set)
        }
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
        guard let out else { throw Failure(.argument, "out is NULL: the handle is needed to end the override") }
        let engine = try Engine.find(runtime.bits)
        let definition = try DefinitionReader.override(definition, in: engine.container.registry)
        out.pointee.bits = try GivenDefinitions.keeping([definition]) { () throws(Failure) in
            try engine.override(definition)
        }
    }
}

@c @implementation
public func invivo_override_end(_ override: invivo_override, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let found = try HandleTable.require(override.bits, .override, as: Override.self)
        try Engine.of(found.runtime).end(found)
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
        var set = ChangeSet(Cause(.define, key))
        var body = Definition.Body()
        body.scope = .lazySingleton
        body.type = type
        // The type may have been registered with another initial content of its block.
        body.blockImage = try type.description.checkedBlock(given.initial, under: key)
        set.definitions = [Definition(id: id, key: key, body)]
        defer { engine.typeIsThere(type.name) }
        try engine.commit(set)
        out?.pointee.bits = engine.container.keyHandle(id)
    }
}

/// The type of a block alone. Registered if it is new; otherwise it must be equal.
private func blockType(_ given: invivo_block_options, _ name: String, _ container: Container) throws(Failure)
    -> ObjectType
{
    try requireCount(given.properties, given.property_count, "block.properties")
    var properties: [invivo_property] = []
    if let table = UnsafeRawPointer(try entries(given.properties, given.property_count, "block.properties", name)) {
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
        return try TypeTables.type(&options)
    }
    if let known = try? container.registry.type(named: name) {
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
