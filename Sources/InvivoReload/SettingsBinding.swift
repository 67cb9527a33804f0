public import CInvivo
internal import HashTreeCollections
public import InvivoBase
internal import InvivoConfig
public import InvivoGraph

/// A section of the configuration as a value of the host (`invivo_settings`). Immutable. The user data is destroyed with the binding.
/// The values that the binding has created keep it alive.
public final class SettingsBinding: Named {
    public typealias Check =
        @convention(c) (
            UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Create =
        @convention(c) (
            UnsafePointer<invivo_section>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Release = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void

    /// How the section is read.
    public enum Form: Sendable {
        /// By the runtime, into a struct.
        case fields(FieldTable, Check?)
        /// By the host.
        case host(Create, Release?)
    }

    public let name: String
    /// The path of the section.
    public let path: String
    let form: Form
    /// The section as a JSON Schema; nil if the host gives none.
    let schema: String?
    /// The configuration paths of the secret fields.
    let secrets: [String]
    /// Whether the errors of the host quote no value of a private section.
    let isDiscreet: Bool
    /// The host's name of the type of the values; nil if it has given none.
    private let type: String?
    /// Holds the host's data.
    private let owner: Factory

    /// `secrets` are the paths of secret parts, below `path`.
    public init(
        name: String, path: String, form: Form, type: String?, schema: String? = nil, secrets: [String] = [],
        isDiscreet: Bool = false, owner: Factory
    ) {
        (self.name, self.path, self.form, self.owner) = (name, path, form, owner)
        (self.type, self.schema) = (type, schema)
        self.isDiscreet = isDiscreet
        var parts = secrets
        if case .fields(let fields, _) = form {
            parts += Self.secrets(of: fields.properties, "")
        }
        self.secrets = parts.map { part in [path, part].filter { !$0.isEmpty }.joined(separator: ".") }
    }

    /// The paths of secret fields, under each of their names.
    private static func secrets(of fields: [Property], _ prefix: String) -> [String] {
        fields.flatMap { field in
            ([field.name] + field.was).flatMap { name in
                field.isSecret ? [prefix + name] : secrets(of: field.fields, "\(prefix)\(name).")
            }
        }
    }

    /// Fails if the values cannot be read as a type.
    func requireValues(of reader: SettingsReader) throws(Failure) {
        var found = "values of another language"
        var isSame = false
        if case .fields(let fields, _) = form {
            found = "a struct of \(fields.size) bytes"
            isSame = fields.size == reader.size && type?.isSameName(as: reader.type) != false
        } else if let type {
            isSame = type.isSameName(as: reader.type)
        }
        guard !isSame else { return }
        if let type, !type.isSameName(as: reader.type) { found = "'\(type)'" }
        throw Failure(
            .type,
            "the settings '\(name)' are read as '\(reader.type)', a type of \(reader.size) bytes, and are bound to \(found): read "
                + "them as the type that is bound, or bind another name", path: name)
    }

    /// Leaves the user data with the host, because the call that received the binding fails.
    public func disown() { owner.disown() }

    /// Whether reading the section calls the host.
    var callsHost: Bool {
        switch form {
        case .fields(_, let check): check != nil
        case .host: true
        }
    }

    /// The path of a part of the section, as errors show it.
    func shown(_ part: String) -> String {
        let whole = ["config", path].filter { !$0.isEmpty }.joined(separator: ".")
        return part.isEmpty ? whole : part.hasPrefix("[") ? whole + part : "\(whole).\(part)"
    }

    // MARK: calls, on a thread for rules

    /// Checks the fields of a struct. `at` receives the index of the field at fault.
    func check(_ block: Block, _ values: [Value], at: inout Int) throws(Failure) {
        guard case .fields(_, let check?) = form else { return }
        var copies = values.map { $0.owned() }
        defer { for index in copies.indices { Value.free(&copies[index]) } }
        let data = owner.userData
        try copies.withUnsafeBufferPointer { (copies) throws(Failure) in
            try CallbackResult.run("the check") { check(block.bytes, copies.baseAddress, copies.count, &at, data, $0) }
        }
    }

    /// Lets the host create the value of a section.
    func create(_ section: Section) throws(Failure) -> SettingsValue? {
        guard case .host(let create, let release) = form else { return nil }
        var made: UnsafeMutableRawPointer?
        var given = invivo_section()
        given.struct_size = MemoryLayout<invivo_section>.size
        given.flags = section.isPrivate ? UInt32(INVIVO_SECTION_PRIVATE) : 0
        let data = owner.userData
        try CallbackResult.run("the create function") { error in
            Value.withBorrowed([section.value, section.variables]) { values, _ in
                given.value = values
                given.variables = values.map { $0 + 1 }
                return create(&given, &made, data, error)
            }
        }
        return SettingsValue(
            HostPointer(made),
            release: release.map { release in { @Sendable [self] in release($0.raw, owner.userData) } })
    }

    /// The section as the host receives it.
    struct Section: Sendable {
        let value: Value
        /// The strings of values with environment variables, by their paths.
        let variables: Value
        let isPrivate: Bool

        init(_ node: ConfigNode?, isPrivate: Bool) {
            value = node?.value ?? .map([])
            self.isPrivate = isPrivate
            var found: [(name: String, value: Value)] = []
            if let node { Self.collect(node, "", &found) }
            variables = found.isEmpty ? .null : .map(found)
        }

        private static func collect(_ node: ConfigNode, _ path: String, _ found: inout [(name: String, value: Value)]) {
            func inner(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
            if let variables = node.variables {
                found.append((path, variables.text.map { .string($0) } ?? .null))
            }
            switch node.content {
            case .value: break
            case .list(let items):
                for (index, item) in items.enumerated() { collect(item, inner(String(index)), &found) }
            case .map(let map): for (name, node) in map { collect(node, inner(name), &found) }
            }
        }
    }
}

/// The bindings of a generation, by name and by path. A value: a copy shares what does not change.
struct BindingTable: Sendable {
    private struct Tables: Sendable {
        var bindings: TreeDictionary<Name, SettingsBinding> = [:]
        var byPath: TreeDictionary<Name, [SettingsBinding]> = [:]
        /// Those with secret fields.
        var secret: TreeDictionary<Name, SettingsBinding> = [:]
        /// The number of bindings whose section the host reads or checks.
        var hostCalls = 0

        mutating func insert(_ binding: SettingsBinding) {
            remove(binding.name)
            let name = Name(binding.name)
            bindings[name] = binding
            byPath[Name(binding.path), default: []].append(binding)
            if !binding.secrets.isEmpty { secret[name] = binding }
            if binding.callsHost { hostCalls += 1 }
        }

        mutating func remove(_ name: String) {
            guard let binding = bindings.removeValue(forKey: Name(name)) else { return }
            let rest = byPath[Name(binding.path), default: []].filter { $0 !== binding }
            byPath[Name(binding.path)] = rest.isEmpty ? nil : rest
            secret[Name(name)] = nil
            if binding.callsHost { hostCalls -= 1 }
        }
    }

    /// One reference, because the snapshots that have it are copied in each commit.
    private final class Shared: Sendable {
        let tables: Tables
        init(_ tables: Tables) { self.tables = tables }
    }

    /// Nil without bindings.
    private var shared: Shared?

    var isEmpty: Bool { shared == nil }
    var names: [String] { shared?.tables.bindings.keys.map(\.text) ?? [] }
    /// Whether reading a section calls the host.
    var callsHost: Bool { shared.map { $0.tables.hostCalls > 0 } ?? false }

    /// The configuration paths of secret fields.
    var secrets: [String] { shared?.tables.secret.values.flatMap(\.secrets) ?? [] }

    subscript(name: String) -> SettingsBinding? { shared?.tables.bindings[Name(name)] }

    /// The bindings of a path.
    func bindings(at path: String) -> [SettingsBinding] { shared?.tables.byPath[Name(path)] ?? [] }

    /// Returns the table with these changes. The cost is proportional to the changes.
    func applying(_ changes: NamedChanges<SettingsBinding>) -> BindingTable {
        var tables = shared?.tables ?? Tables()
        for name in changes.removed { tables.remove(name) }
        for binding in changes.added { tables.insert(binding) }
        var next = BindingTable()
        next.shared = tables.bindings.isEmpty ? nil : Shared(tables)
        return next
    }
}

/// The conditions and bindings of the host over the values of a generation.
struct Constraints: Sendable {
    var rules = RuleTable()
    var bindings = BindingTable()
}
