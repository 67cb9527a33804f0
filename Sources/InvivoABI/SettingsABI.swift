public import CInvivo
internal import InvivoBase
internal import InvivoConfig
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// settings.h: typed settings.

@c @implementation
public func invivo_changes_bind_settings(
    _ changes: invivo_changes, _ settings: UnsafePointer<invivo_settings>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let given = try GivenSettings(settings)
        do throws(Failure) { try changes.bind(try given.read()) } catch {
            given.owner.disown()
            throw error
        }
    }
}

@c @implementation
public func invivo_changes_unbind_settings(
    _ changes: invivo_changes, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        changes.unbind(try text(name, "name"))
    }
}

@c @implementation
public func invivo_settings_bind(
    _ runtime: invivo_runtime, _ settings: UnsafePointer<invivo_settings>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        // From here on the user data is the runtime's, also if this call fails.
        let given = try GivenSettings(settings)
        let changes = OpenChanges(try Engine.find(runtime.bits))
        try changes.bind(try given.read())
        try changes.engine.commit(changes.set)
    }
}

@c @implementation
public func invivo_settings_unbind(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        changes.unbind(try text(name, "name"))
        try changes.engine.commit(changes.set)
    }
}

@c @implementation
public func invivo_settings_id(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_config>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_config()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let name = try text(name, "name")
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee.bits = try parents.settingsID(name)
            return
        }
        let engine = try Engine.find(runtime.bits)
        out.pointee.bits = engine.container.keyHandle(try engine.settingsID(name))
    }
}

@c @implementation
public func invivo_settings_typed_id(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ type: UnsafePointer<CChar>!, _ size: UInt64,
    _ out: UnsafeMutablePointer<invivo_config>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_config()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let name = try text(name, "name")
        let reader = SettingsReader(type: try text(type, "type"), size: Int(clamping: size))
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee.bits = try parents.settingsID(name)
            return
        }
        let engine = try Engine.find(runtime.bits)
        out.pointee.bits = engine.container.keyHandle(try engine.settingsID(name, as: reader))
    }
}

@c @implementation
public func invivo_settings_type_add(
    _ runtime: invivo_runtime, _ type: UnsafePointer<invivo_settings_type>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        // From here on the user data is the runtime's, also if this call fails.
        let given = try GivenSettingsType(type)
        let (name, bind) = try given.read()
        try Engine.find(runtime.bits).modules.settings.add(name, bind)
    }
}

@c @implementation
public func invivo_settings_read(
    _ view: invivo_view, _ runtime: invivo_runtime, _ id: invivo_config,
    _ out: UnsafeMutablePointer<UnsafeRawPointer?>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = nil
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let engine = try Engine.find(runtime.bits)
        guard UInt32(truncatingIfNeeded: id.bits >> 32) == engine.container.keys.owner else {
            throw Failure(.handle, "id is not one of this runtime's: expected a result of invivo_settings_id")
        }
        guard view.reader != nil, let raw = view.graph, let graph = Graph.read(raw) else {
            throw Failure(
                .argument, "the view is empty: read the settings between invivo_view_begin and invivo_view_end")
        }
        out.pointee = try engine.settings(UInt32(truncatingIfNeeded: id.bits), in: graph).shown
    }
}

extension OpenChanges {
    fileprivate func bind(_ settings: SettingsBinding) throws(Failure) {
        guard !set.binds(settingsNamed: settings.name) else {
            throw Failure(
                .exists, "the settings '\(settings.name)' are bound twice in one change set", path: settings.name)
        }
        try engine.modules.settings.require(settings)
        set.bind(settings)
        note(.bind, settings.name)
    }

    fileprivate func unbind(_ name: String) {
        set.unbindSettings(name)
        note(.unbind, name)
    }
}

/// A binding as C describes it, with the owner of its user data.
private struct GivenSettings {
    let owner: Factory
    private let given: invivo_settings

    init(_ pointer: UnsafePointer<invivo_settings>?) throws(Failure) {
        guard let pointer else { throw Failure(.argument, "settings is NULL") }
        let least = MemoryLayout<invivo_settings>.offset(of: \.user_data) ?? 8
        given = try versioned(pointer, "settings", least: least, as: invivo_settings.self)
        owner = Factory(nil, userData: given.user_data, destroy: given.destroy)
    }

    func read() throws(Failure) -> SettingsBinding {
        let name = try text(given.name, "settings.name")
        guard !name.isEmpty else { throw Failure(.argument, "settings.name is empty") }
        func fail(_ message: String) -> Failure { Failure(.argument, message, path: name) }
        let path = try ConfigPath.checked(try text(given.path, "settings.path"))
        try requireKnown(given.flags, INVIVO_SETTINGS_DISCREET, "settings.flags", "INVIVO_SETTINGS_...")
        let secrets = try secretPaths(given.secrets, given.secret_count, "settings.secrets")
        let schema = try given.schema.map { schema throws(Failure) in try text(schema, "settings.schema") }
        let type = try optionalText(given.type, "settings.type")
        if let create = given.create {
            guard given.field_count == 0, given.size == 0, given.check == nil else {
                throw fail("the settings have create, and also fields, size or check; expected one of them")
            }
            return SettingsBinding(
                name: name, path: path, form: .host(create, given.release), type: type, schema: schema,
                secrets: secrets,
                isDiscreet: given.flags & UInt32(INVIVO_SETTINGS_DISCREET) != 0, owner: owner)
        }
        guard given.size == 0 || given.field_count > 0 else {
            throw fail(
                "the settings have a size, and neither fields nor create, so that nothing of the section would be read; "
                    + "expected the fields of the struct, or create")
        }
        guard given.size > 0 else {
            throw fail("settings.size is 0; expected the size of the struct that the fields describe, or create")
        }
        guard given.release == nil else { throw fail("settings.release is for values of create, which is NULL") }
        guard schema == nil else { throw fail("settings.schema is for values of create; fields describe themselves") }
        let fields = try FieldTable(given.fields, given.field_count, size: given.size, path: name)
        for path in secrets {
            guard let fault = Self.unknownField(path, fields.properties) else { continue }
            throw fail("the secret path '\(path)' leads to no field of the settings\(fault)")
        }
        return SettingsBinding(
            name: name, path: path, form: .fields(fields, given.check), type: type, secrets: secrets, owner: owner)
    }
}

extension GivenSettings {
    /// The end of the error about a path that leads to no field; nil if it leads to one.
    fileprivate static func unknownField(_ path: String, _ properties: [Property]) -> String? {
        var fields = properties
        for name in ConfigPath.names(path) {
            guard let field = fields.property(named: name) else {
                let near = suggestion(for: name, among: fields.map(\.name))
                return near.isEmpty && !fields.isEmpty ? "; expected \(fields.map(\.name).listed())" : near
            }
            fields = field.fields
        }
        return nil
    }
}

/// A type of settings as C describes it, with the owner of its user data.
private struct GivenSettingsType {
    private let owner: Factory
    private let given: invivo_settings_type

    init(_ pointer: UnsafePointer<invivo_settings_type>?) throws(Failure) {
        guard let pointer else { throw Failure(.argument, "type is NULL") }
        let least = MemoryLayout<invivo_settings_type>.offset(of: \.user_data) ?? 8
        given = try versioned(pointer, "type", least: least, as: invivo_settings_type.self)
        owner = Factory(nil, userData: given.user_data, destroy: given.destroy)
    }

    func read() throws(Failure) -> (name: String, bind: SettingsTypes.Bind) {
        let type = try text(given.name, "type.name")
        guard !type.isEmpty else { throw Failure(.argument, "type.name is empty") }
        guard let bind = given.bind else {
            throw Failure(.argument, "type.bind is NULL; expected the function that binds a section", path: type)
        }
        let owner = owner
        return (
            type,
            { (engine, set, name, path) throws(Failure) in
                let changes = OpenChanges(engine)
                changes.set = set
                let handle = invivo_changes(bits: try changes.open())
                defer { changes.close() }
                try CallbackResult.run("the bind function of the settings type '\(type)'") { error in
                    name.withCString { name in
                        path.withCString { bind(handle, name, $0, owner.userData, error) }
                    }
                }
                guard changes.set.binds(settingsNamed: name) else {
                    throw Failure(
                        .argument,
                        "the bind function of the settings type '\(type)' has bound no settings with the name '\(name)'",
                        path: name)
                }
                set = changes.set
            }
        )
    }
}
