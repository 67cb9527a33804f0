internal import CInvivo

/// A binding of settings, for reading values of one generation in views. See `Runtime.settingsKey`.
public struct SettingsKey<Value>: Sendable {
    let handle: invivo_config
    /// The name of the binding.
    public let name: String
}

extension View {
    /// The typed settings of this generation; nil if it has no such binding, or one of another type.
    public subscript<Value>(key: SettingsKey<Value>) -> Value? {
        invivo_view_settings(raw, key.handle).flatMap { SettingsBox.at($0).value as? Value }
    }
}

extension ChangeSet {
    /// Binds a section of the configuration to a type, or replaces the binding with the same name.
    ///
    ///     struct Audio: Decodable, Sendable { var rate: Int; var device: String? }
    ///     try runtime.bindSettings(Audio.self, to: "audio")
    ///
    /// Each generation has its own value, which is decoded when the section changes, on a thread of the library. If the section is
    /// invalid, the reload fails: all errors that the decoder finds are reported at once, each with its line and column. A key that the
    /// type does not have is an error. `check` refuses a value by throwing; the path of an `InvivoError` names the part at fault. Both
    /// must not wait, and must not call this runtime.
    ///
    /// - Parameters:
    ///   - path: The path of the section; "" is the whole configuration.
    ///   - name: The name of the binding; by default that of the type.
    ///   - secrets: The paths in the section that are secret while it is bound: `["password"]`.
    public func bindSettings<Value: Decodable & Sendable>(
        _ type: Value.Type, to path: String, named name: String? = nil, secrets: [String] = [],
        check: (@Sendable (Value) throws -> Void)? = nil
    ) throws(InvivoError) {
        let binding = BindingBox(core) { section in
            let value = try SectionDecoder.decode(type, from: section)
            do { try check?(value) } catch {
                guard section.isPrivate else { throw error }
                throw InvivoError(.host, "the check refuses the values \(SectionDecoder.hiddenMessage)")
            }
            return value
        }
        let pointer = Unmanaged.passRetained(binding)
        do throws(InvivoError) {
            try withArena { arena throws(InvivoError) in
                var options = invivo_settings()
                options.struct_size = MemoryLayout<invivo_settings>.size
                options.name = try arena.name(name ?? "\(type)")
                options.path = try arena.name(path)
                options.user_data = pointer.toOpaque()
                options.create = { section, out, data, error in
                    guard let data, let section else { return InvivoError.Code.internal.rawValue }
                    return Unmanaged<BindingBox>.fromOpaque(data).takeUnretainedValue().create(section, out, error)
                }
                options.release = { value, _ in
                    if let value { Unmanaged<SettingsBox>.fromOpaque(value).release() }
                }
                options.destroy = { data in if let data { Unmanaged<BindingBox>.fromOpaque(data).release() } }
                options.flags = UInt32(INVIVO_SETTINGS_DISCREET)
                options.secrets = try arena.names(secrets)
                options.secret_count = UInt64(secrets.count)
                try core.call { $0.pointee.changes_bind_settings(handle, &options, $1) }
            }
        } catch {
            pointer.release()
            throw error
        }
    }

    /// Removes the binding of a type, or one by its name.
    public func unbindSettings<Value>(_ type: Value.Type, named name: String? = nil) throws(InvivoError) {
        try core.call(naming: name ?? "\(type)") { $0.pointee.changes_unbind_settings(handle, $1, $2) }
    }
}

extension Runtime {
    /// Binds a section of the configuration to a type, as one reload: see `ChangeSet.bindSettings`.
    public func bindSettings<Value: Decodable & Sendable>(
        _ type: Value.Type, to path: String, named name: String? = nil, secrets: [String] = [],
        check: (@Sendable (Value) throws -> Void)? = nil
    ) throws {
        try changes { try $0.bindSettings(type, to: path, named: name, secrets: secrets, check: check) }
    }

    /// Adds a type of settings that manifests name: `settings: { audio: Audio }` binds the section `audio` to it.
    ///
    /// A module does so in its entry. A second type with the name is an error.
    ///
    /// - Parameters:
    ///   - name: The name in manifests; by default that of the type.
    ///   - check: Refuses a value, as in `ChangeSet.bindSettings`.
    public func addSettingsType<Value: Decodable & Sendable>(
        _ type: Value.Type, named name: String? = nil, check: (@Sendable (Value) throws -> Void)? = nil
    ) throws(InvivoError) {
        let box = SettingsTypeBox(core) { changes, name, path in
            try changes.bindSettings(type, to: path, named: name, check: check)
        }
        try withArena { arena throws(InvivoError) in
            var options = invivo_settings_type()
            options.struct_size = MemoryLayout<invivo_settings_type>.size
            options.name = try arena.name(name ?? "\(type)")
            options.user_data = Unmanaged.passRetained(box).toOpaque()
            options.bind = { changes, name, path, data, error in
                guard let data, let name, let path else { return InvivoError.Code.internal.rawValue }
                let box = Unmanaged<SettingsTypeBox>.fromOpaque(data).takeUnretainedValue()
                return box.bind(changes, String(cString: name), String(cString: path), error)
            }
            options.destroy = { data in if let data { Unmanaged<SettingsTypeBox>.fromOpaque(data).release() } }
            try core.call { $0.pointee.settings_type_add(core.handle, &options, $1) }
        }
    }

    /// Removes the binding of a type, or one by its name, as one reload.
    public func unbindSettings<Value>(_ type: Value.Type, named name: String? = nil) throws {
        try changes { try $0.unbindSettings(type, named: name) }
    }

    /// A binding of settings that views read: `view[audio]`.
    public func settingsKey<Value>(_ type: Value.Type = Value.self, named name: String? = nil) throws(InvivoError)
        -> SettingsKey<Value>
    {
        try core.settingsKey(type, name)
    }

    /// Returns the typed settings of the current generation. In a factory or hook, they are of the generation for which the object is
    /// built. In a pin, they are of the pinned generation.
    public func settings<Value>(_ type: Value.Type = Value.self, named name: String? = nil) throws(InvivoError) -> Value
    {
        try core.settings(type, name)
    }
}

/// Typed settings as a member of an assembly: `let audio = lazySingleton(settings(Audio.self, at: "audio"))`. Members with a parameter of
/// the type receive the value, and follow the changes of the section. The runtime has the binding (`Runtime.bindSettings`).
public func settings<Value: Decodable & Sendable>(
    _ type: Value.Type, at path: String, named name: String? = nil
) -> Maker<Value> {
    // The section is an argument, so that its changes are followed.
    wired(
        .config("/\(path)", default: InvivoValue.null),
        by: { (_: InvivoValue) throws -> Value in
            guard let core = CurrentRuntime.entered else {
                throw InvivoError(.closed, "the runtime is closed", path: name ?? "\(type)")
            }
            return try core.settings(type, name)
        })
}

extension Core {
    fileprivate func settingsKey<Value>(_ type: Value.Type, _ name: String?) throws(InvivoError) -> SettingsKey<Value> {
        var id = invivo_config()
        let name = name ?? "\(type)"
        try call(naming: name) { $0.pointee.settings_id(handle, $1, &id, $2) }
        return SettingsKey(handle: id, name: name)
    }

    fileprivate func settings<Value>(_ type: Value.Type, _ name: String?) throws(InvivoError) -> Value {
        let key = try settingsKey(type, name)
        let raw = beginView()
        defer { table.pointee.view_end(raw) }
        var found: UnsafeRawPointer?
        try call { $0.pointee.settings_read(raw, handle, key.handle, &found, $1) }
        guard let value = found.map(SettingsBox.at)?.value as? Value else {
            throw InvivoError(.type, "the settings '\(key.name)' are no \(type)", path: key.name)
        }
        return value
    }
}

/// A value of a generation, as the C side holds it.
private final class SettingsBox: Sendable {
    let value: any Sendable

    init(_ value: any Sendable) { self.value = value }

    static func at(_ pointer: UnsafeRawPointer) -> SettingsBox {
        Unmanaged<SettingsBox>.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// A type of settings, as the C side holds it.
private final class SettingsTypeBox: Sendable {
    private let core: Core
    private let body: @Sendable (ChangeSet, _ name: String, _ path: String) throws -> Void

    init(_ core: Core, _ body: @escaping @Sendable (ChangeSet, _ name: String, _ path: String) throws -> Void) {
        self.core = core
        self.body = body
    }

    func bind(_ changes: invivo_changes, _ name: String, _ path: String, _ error: ErrorOut?) -> invivo_status {
        answering(core, error) { try body(ChangeSet(borrowing: changes, core), name, path) }
    }
}

/// A binding, as the C side holds it.
private final class BindingBox: Sendable {
    private let core: Core
    private let read: @Sendable (SectionDecoder.Section) throws -> any Sendable

    init(_ core: Core, _ read: @escaping @Sendable (SectionDecoder.Section) throws -> any Sendable) {
        self.core = core
        self.read = read
    }

    func create(
        _ section: UnsafePointer<invivo_section>, _ out: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        _ error: ErrorOut?
    ) -> invivo_status {
        answering(core, error) {
            let given = section.pointee
            let variables = try given.variables.map { try InvivoValue(reading: $0.pointee, core) }
            var strings: [String: InvivoValue] = [:]
            if case .map(let found)? = variables { strings = found }
            let value = try read(
                SectionDecoder.Section(
                    value: given.value.map { try InvivoValue(reading: $0.pointee, core) } ?? .map([:]),
                    variables: strings, isPrivate: given.flags & UInt32(INVIVO_SECTION_PRIVATE) != 0))
            out?.pointee = Unmanaged.passRetained(SettingsBox(value)).toOpaque()
        }
    }
}
