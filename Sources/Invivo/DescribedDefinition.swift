internal import CInvivo

/// A definition of any language during the visit of a processor, before it is compiled.
///
/// Settings replace those of the description; the rest stays unchanged. Valid during the visit only, on its thread.
public final class DescribedDefinition {
    private let core: Core
    private let changes: invivo_changes
    private let arena: Arena
    /// Empty after the visit.
    private var raw: invivo_definition
    private var isOver = false
    private var isChanged = false
    private var replacement: Draft?

    fileprivate init(_ core: Core, _ borrowed: invivo_definition, _ changes: invivo_changes, _ arena: Arena) {
        self.core = core
        self.changes = changes
        self.arena = arena
        raw = borrowed
        key = String(text: borrowed.key)
    }

    /// Invalidates the borrowed definition.
    fileprivate func close() {
        raw = invivo_definition()
        isOver = true
    }

    private func requireVisit() throws(InvivoError) {
        guard isOver else { return }
        throw InvivoError(.notReady, "the visit is over: a definition is changed while its processor runs", path: key)
    }

    /// The key, `assembly.name`.
    public let key: String

    /// The name of its object's type, where the definition declares it.
    public var type: String? {
        if raw.type.bits != 0 { return TypeReference(core, raw.type).name }
        return raw.type_name.map { String(cString: $0) }
    }

    /// The key of its parent, from which it inherits.
    public var parent: String? { raw.parent.map { String(cString: $0) } }

    /// The key that it is another name of.
    public var alias: String? { raw.alias.map { String(cString: $0) } }

    /// The source location of the declaration: the file, or empty, and the line, or 0.
    public var place: (file: String, line: Int) { (String(text: raw.file), Int(raw.line)) }

    /// The scope of its instances. nil: inherited, graph, or a scope of the program.
    public var scope: Scope? {
        get { Scope(code: raw.scope, kind: raw.scope_name.map { String(cString: $0) }) }
        set {
            raw.scope = newValue?.code ?? UInt32(INVIVO_SCOPE_DEFAULT)
            // A setter cannot throw: a name with NUL becomes that of no kind.
            raw.scope_name = try? arena.name(newValue?.kind?.replacing("\0", with: "\u{FFFD}"))
            isChanged = true
        }
    }

    /// The rank for lists and lookups by type.
    public var rank: Int {
        get { Int(raw.rank) }
        set {
            raw.rank = Int32(clamping: newValue)
            isChanged = true
        }
    }

    /// Hides it from lookups by type, or (nil) shows it again.
    public func hide(from lookups: Hidden?) {
        raw.flags &= ~UInt32(INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE)
        if let lookups, lookups != .interfaces { raw.flags |= UInt32(INVIVO_DEFINITION_HIDDEN_CLASS) }
        if let lookups, lookups != .ownType { raw.flags |= UInt32(INVIVO_DEFINITION_HIDDEN_INTERFACE) }
        isChanged = true
    }

    /// The properties that it injects by name, in order.
    public var properties: [String] { entries.map { String(text: $0.name) } }

    /// Injects a property of a described type; replaces an earlier injection of it. Keys are whole.
    public func inject(_ property: String, _ injection: Injection) throws(InvivoError) {
        try requireVisit()
        var describer = describer
        let entry = describer.entry(injection, property, key, .visited, arena, property)
        if let error = InvivoError(all: describer.problems) { throw error }
        set(entries.filter { String(text: $0.name) != property } + [entry])
    }

    /// Injects nothing into a property.
    public func leaveOut(_ property: String) { set(entries.filter { String(text: $0.name) != property }) }

    /// Adds a hook that runs when an object is fully injected, after its existing hooks.
    public func after<Value>(
        _ type: Value.Type, by hook: @escaping @Sendable (Value) throws -> Void
    ) throws(InvivoError) {
        try requireVisit()
        let code: @Sendable (AnyObject, inout Arguments) throws -> Void = { object, arguments in
            try hook(valueBehind(object, arguments.core))
        }
        var describer = describer
        let (calls, count) = try describer.invocations(
            [Draft.Step(name: "after", action: .code(code))], key, .visited, arena)
        let former = UnsafeBufferPointer(start: raw.after, count: Int(raw.after_count))
        let all = Array(former) + Array(UnsafeBufferPointer(start: calls, count: Int(count)))
        raw.after = UnsafePointer(arena.table(all))
        raw.after_count = UInt64(all.count)
        isChanged = true
    }

    /// Replaces the definition completely. The new one belongs to no assembly: it refers to others by whole keys or by
    /// type.
    public func replace<Value, each Argument>(with definition: Definition<Value, repeat each Argument>) {
        replacement = definition.draft
    }

    private var describer: Describer { Describer(core, .override, nil) }

    private var entries: [invivo_injection] {
        Array(UnsafeBufferPointer(start: raw.properties, count: Int(raw.property_count)))
    }

    private func set(_ entries: [invivo_injection]) {
        raw.properties = UnsafePointer(arena.table(entries))
        raw.property_count = UInt64(entries.count)
        isChanged = true
    }

    /// Applies the changed settings.
    fileprivate func end() throws(InvivoError) {
        guard let replacement else {
            if isChanged { try core.call { $0.pointee.changes_define(changes, &raw, nil, $1) } }
            return
        }
        var describer = describer
        try describer.described(key, replacement, arena) { definition, _ throws(InvivoError) in
            try core.call { $0.pointee.changes_define(changes, &definition, nil, $1) }
        }
    }
}

extension Draft {
    /// A draft of the processor's additions, for messages.
    fileprivate static var visited: Draft { Draft(AnyObject.self, nil, isShared: nil, .inherited, "", 0) }
}

extension ChangeSet {
    /// Adds a processor of definitions of any language.
    ///
    /// `visit` receives each selected definition, as described or as an earlier processor left it, and may change or
    /// replace it. Definitions are selected by a type (a class with its derived classes, or a protocol) or by a key;
    /// without either, all are selected.
    ///
    /// - Parameters:
    ///   - name: The name of the processor. A later processor of the same name replaces it; `unprocess` removes it.
    ///   - priority: The order: lower values are applied first, equal ones in the order in which they were added.
    public func process(
        _ name: String, _ type: Any.Type? = nil, key: String? = nil, priority: Int32 = 0,
        _ visit: @escaping @Sendable (DescribedDefinition) throws -> Void
    ) throws(InvivoError) {
        let wanted = try type.map { type throws(InvivoError) in try core.typeQuery(type) }
        try process(name, ofType: wanted, key: key, priority: priority, visit)
    }

    /// Adds a processor for a type of any language, by the name of the type or of a supertype.
    public func process(
        _ name: String, ofType wanted: String?, key: String? = nil, priority: Int32 = 0,
        _ visit: @escaping @Sendable (DescribedDefinition) throws -> Void
    ) throws(InvivoError) {
        let visitor = Unmanaged.passRetained(Visitor(core, visit))
        do throws(InvivoError) {
            try withArena { arena throws(InvivoError) in
                var options = try arena.processor(name, key: key, priority)
                options.type = try arena.name(wanted)
                options.user_data = visitor.toOpaque()
                options.destroy = { data in if let data { Unmanaged<Visitor>.fromOpaque(data).release() } }
                options.process = { described, changes, data, error in
                    guard let data, let described else { return InvivoError.Code.internal.rawValue }
                    let visitor = Unmanaged<Visitor>.fromOpaque(data).takeUnretainedValue()
                    return answering(visitor.core, error) { try visitor.visit(described.pointee, changes) }
                }
                try core.call { $0.pointee.changes_process(handle, &options, $1) }
            }
        } catch {
            visitor.release()
            throw error
        }
    }
}

extension Runtime {
    /// Adds a processor of definitions, as one reload: see `ChangeSet.process`.
    public func process(
        _ name: String, _ type: Any.Type? = nil, key: String? = nil, priority: Int32 = 0,
        _ visit: @escaping @Sendable (DescribedDefinition) throws -> Void
    ) throws {
        try changes { try $0.process(name, type, key: key, priority: priority, visit) }
    }
}

/// A Swift closure that visits definitions, as the C side holds it.
private final class Visitor: Sendable {
    let core: Core
    let body: @Sendable (DescribedDefinition) throws -> Void

    init(_ core: Core, _ body: @escaping @Sendable (DescribedDefinition) throws -> Void) {
        self.core = core
        self.body = body
    }

    func visit(_ described: invivo_definition, _ changes: invivo_changes) throws {
        try withArena { arena throws(InvivoError) in
            let definition = DescribedDefinition(core, described, changes, arena)
            defer { definition.close() }
            do { try body(definition) } catch { throw InvivoError(error) }
            try definition.end()
        }
    }
}
