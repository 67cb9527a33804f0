internal import CInvivo

/// A definition of any language while a processor visits it, before it is compiled. What is set here is said instead; the rest
/// stays as it was described. Valid during the visit only, on its thread.
public final class DescribedDefinition {
    private let core: Core
    private let changes: invivo_changes
    private let arena: Arena
    /// Nothing, once the visit is over.
    private var raw: invivo_definition
    private var isOver = false
    private var isChanged = false
    private var replacement: Draft?

    fileprivate init(_ core: Core, _ lent: invivo_definition, _ changes: invivo_changes, _ arena: Arena) {
        self.core = core
        self.changes = changes
        self.arena = arena
        raw = lent
        key = String(text: lent.key)
    }

    /// What it was lent is gone from now on.
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

    /// The name of what it makes, where it says that itself.
    public var type: String? {
        if raw.type.bits != 0 { return TypeReference(core, raw.type).name }
        return raw.type_name.map { String(cString: $0) }
    }

    /// The key that it takes over from.
    public var parent: String? { raw.parent.map { String(cString: $0) } }

    /// The key that it is another name of.
    public var alias: String? { raw.alias.map { String(cString: $0) } }

    /// Where it is declared: the file, or empty, and the line, or 0.
    public var place: (file: String, line: Int) { (String(text: raw.file), Int(raw.line)) }

    /// How long its instances are shared; nil: as the parent says, or graph, or a scope of the program's own.
    public var scope: Scope? {
        get { Scope(rawValue: raw.scope) }
        set {
            raw.scope = newValue?.rawValue ?? UInt32(INVIVO_SCOPE_DEFAULT)
            isChanged = true
        }
    }

    /// Where it comes in lists and lookups by type.
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

    /// Injects a property of a described type, in the place of what was said of it before. Keys are whole.
    public func inject(_ property: String, _ injection: Injection) throws(InvivoError) {
        try requireVisit()
        var describer = describer
        let entry = describer.entry(injection, property, key, .visited, arena, property)
        if let error = InvivoError(all: describer.problems) { throw error }
        set(entries.filter { String(text: $0.name) != property } + [entry])
    }

    /// Injects nothing into a property.
    public func leaveOut(_ property: String) { set(entries.filter { String(text: $0.name) != property }) }

    /// Runs when everything is injected into one of its objects, after what is said of that already.
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

    /// Puts another definition in its place, with all that it says. It stands in no assembly: what it refers to, it names by
    /// whole keys or by type.
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

    /// Says what is to be said instead.
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
    /// Of what a processor adds, for messages.
    fileprivate static var visited: Draft { Draft(AnyObject.self, nil, isShared: nil, .inherited, "", 0) }
}

extension ChangeSet {
    /// Adds a processor of definitions, whatever language they are of: `visit` gets each that it concerns, as it was described or
    /// as the processor before left it, and may change or replace it. Those of a type (a class and those derived from it, a
    /// protocol), of one key, or all.
    ///
    /// - Parameters:
    ///   - name: Its own; a later one of the same name takes its place, and `unprocess` takes it away.
    ///   - priority: Lower ones come first; of equal ones the one that was added first.
    public func process(
        _ name: String, _ type: Any.Type? = nil, key: String? = nil, priority: Int32 = 0,
        _ visit: @escaping @Sendable (DescribedDefinition) throws -> Void
    ) throws(InvivoError) {
        let wanted = try type.map { type throws(InvivoError) in try core.wish(type) }
        try process(name, ofType: wanted, key: key, priority: priority, visit)
    }

    /// The same by the name of a type, of any language, or of what types say that they are.
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
                    return answering(visitor.core.table, error) { try visitor.visit(described.pointee, changes) }
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
