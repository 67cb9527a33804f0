public import CInvivo

/// A path of the configuration, for reading values of one generation in views. See `Runtime.configKey`.
public struct ConfigKey<Value>: Sendable {
    @usableFromInline let handle: invivo_config
    /// The path from the top.
    public let path: String

    init(_ handle: invivo_config, _ path: String) {
        self.handle = handle
        self.path = path
    }
}

extension View {
    /// The configuration value at a path in this generation; nil without a value.
    public subscript<Value: InvivoConvertible>(key: ConfigKey<Value>) -> Value? {
        guard let value = invivo_view_config(raw, key.handle),
            let read = try? InvivoValue(reading: value.pointee, core)
        else { return nil }
        return try? Value.fromInvivo(read)
    }

    /// The configuration value at a path in this generation, or the default.
    public subscript<Value: InvivoConvertible>(key: ConfigKey<Value>, default value: Value) -> Value {
        self[key] ?? value
    }

    /// An integer, read as fast as a shared object.
    @inlinable @inline(__always)
    public subscript(key: ConfigKey<Int>, default value: Int) -> Int {
        Int(truncatingIfNeeded: invivo_view_config_int64(raw, key.handle, Int64(value)))
    }

    /// A number, read as fast as a shared object.
    @inlinable @inline(__always)
    public subscript(key: ConfigKey<Double>, default value: Double) -> Double {
        invivo_view_config_double(raw, key.handle, value)
    }

    /// A boolean, read as fast as a shared object.
    @inlinable @inline(__always)
    public subscript(key: ConfigKey<Bool>, default value: Bool) -> Bool {
        invivo_view_config_bool(raw, key.handle, value)
    }
}

extension Runtime {
    /// A path of the configuration that views read as a type: `view[voices, default: 8]`. The current value must be of
    /// that type. Documents with a value of another type are refused from now on.
    public func configKey<Value: InvivoConvertible>(
        _ path: String, as type: Value.Type = Value.self
    ) throws(InvivoError) -> ConfigKey<Value> {
        let shape = Value.invivoShape
        let kind = shape.choices.isEmpty ? shape.kind : .any
        var handle = invivo_config()
        try core.call(naming: path) { $0.pointee.config_id(core.handle, $1, kind.rawValue, &handle, $2) }
        return ConfigKey(handle, path)
    }

    /// The current configuration value at a whole path; `.notConfigured` without a value.
    public func configuration<Value: InvivoConvertible>(
        _ path: String, as type: Value.Type = Value.self
    ) throws(InvivoError) -> Value {
        var value = invivo_null()
        try core.call(naming: path) { $0.pointee.config_read(core.handle, $1, &value, $2) }
        let table = core.table
        defer { table.pointee.value_clear(&value) }
        return try Value.fromInvivo(try InvivoValue(reading: value, core))
    }

    /// Sets the configuration value at a whole path, over the values of documents, as a reload.
    public func configure(_ path: String, _ value: some InvivoConvertible) throws(InvivoError) {
        let changes = try ChangeSet(core)
        try changes.configure(path, value)
        try changes.commit()
    }

    /// Removes the settings of `configure` at a path and below it, as a reload.
    public func unconfigure(_ path: String) throws(InvivoError) {
        let changes = try ChangeSet(core)
        try changes.unconfigure(path)
        try changes.commit()
    }

    /// Declares a configuration path as secret, as a reload. See `ChangeSet.addSecret`.
    public func addSecret(_ path: String) throws(InvivoError) {
        let changes = try ChangeSet(core)
        try changes.addSecret(path)
        try changes.commit()
    }

    /// Revokes `addSecret`, as a reload.
    public func removeSecret(_ path: String) throws(InvivoError) {
        let changes = try ChangeSet(core)
        try changes.removeSecret(path)
        try changes.commit()
    }

    /// Whether the value at a path of the configuration is secret, or a part of it.
    public func isSecret(_ path: String) throws(InvivoError) -> Bool {
        var found = false
        try core.call(naming: path) { $0.pointee.config_is_secret(core.handle, $1, &found, $2) }
        return found
    }

    /// Calls `body` after each reload that changed the value at a path or below it, with the value (null without one)
    /// and the generation. Errors that it throws are noted: see `note`.
    @discardableResult
    public func observe(
        configuration path: String, _ body: @escaping @Sendable (InvivoValue, UInt64) throws -> Void
    ) throws(InvivoError) -> Observer {
        let box = Unmanaged.passRetained(ConfigBox(core, body))
        var options = invivo_config_observer_options()
        options.struct_size = MemoryLayout<invivo_config_observer_options>.size
        options.user_data = box.toOpaque()
        options.changed = { data, _, value, generation in
            guard let data, let value else { return }
            let box = Unmanaged<ConfigBox>.fromOpaque(data).takeUnretainedValue()
            box.core.noting("an observer of the configuration") {
                try box.notify(InvivoValue(reading: value.pointee, box.core), generation)
            }
        }
        options.destroy = { data in
            if let data { Unmanaged<ConfigBox>.fromOpaque(data).release() }
        }
        var handle = invivo_observer()
        do throws(InvivoError) {
            try core.call(naming: path) { $0.pointee.config_observe(core.handle, $1, &options, &handle, $2) }
        } catch {
            box.release()
            throw error
        }
        return Observer(core, handle)
    }

    /// Registers a converter of strings, for `.text(_:by:)` and `.read(by:)`. Its errors get the string's source
    /// location. Registering a name twice is an error.
    public func addConverter(
        _ name: String, _ read: @escaping @Sendable (String) throws -> some InvivoConvertible
    ) throws(InvivoError) {
        try add(ConverterBox(core) { try read($0).asInvivo() }, name)
    }

    /// Registers a converter of values of every kind, including lists and maps of the configuration. Its errors get the
    /// value's source location, or that of a part with a path such as `value.port` or `value.hosts.0`.
    public func addReader(
        _ name: String, _ read: @escaping @Sendable (InvivoValue) throws -> some InvivoConvertible
    ) throws(InvivoError) {
        let text = { @Sendable (text: String) throws -> InvivoValue in try read(.string(text)).asInvivo() }
        try add(ConverterBox(core, text, readValue: { try read($0).asInvivo() }), name)
    }

    /// Registers a converter by the class of its results. It also applies to strings of the configuration whose
    /// receiver has that class.
    public func addConverter<Instance: AnyObject>(
        for type: Instance.Type, _ read: @escaping @Sendable (String) throws -> Instance
    ) throws(InvivoError) {
        let core = core
        let box = ConverterBox(core) { text in
            let handle = try core.lease(of: read(text), isDescribed: false)
            let table = core.table
            defer { _ = table.pointee.object_release(handle) }
            return try InvivoValue(reading: invivo_object_value(handle), core)
        }
        try add(box, try core.typeQuery(type))
    }

    private func add(_ box: ConverterBox, _ name: String) throws(InvivoError) {
        let pointer = Unmanaged.passRetained(box)
        do throws(InvivoError) {
            try withArena { arena throws(InvivoError) in
                var options = invivo_converter_options()
                options.struct_size = MemoryLayout<invivo_converter_options>.size
                options.name = try arena.name(name)
                options.user_data = pointer.toOpaque()
                options.convert = { data, text, length, out, error in
                    guard let data else { return InvivoError.Code.internal.rawValue }
                    let box = Unmanaged<ConverterBox>.fromOpaque(data).takeUnretainedValue()
                    return answering(box.core, error) {
                        let bytes = UnsafeRawBufferPointer(start: text, count: Int(length))
                        try box.read(String(decoding: bytes, as: UTF8.self)).answered(out, box.core)
                    }
                }
                if box.readValue != nil {
                    options.read = { data, value, out, error in
                        guard let data, let value else { return InvivoError.Code.internal.rawValue }
                        let box = Unmanaged<ConverterBox>.fromOpaque(data).takeUnretainedValue()
                        return answering(box.core, error) {
                            let given = try InvivoValue(reading: value.pointee, box.core)
                            try box.readValue?(given).answered(out, box.core)
                        }
                    }
                }
                options.destroy = { data in
                    if let data { Unmanaged<ConverterBox>.fromOpaque(data).release() }
                }
                try core.call { $0.pointee.converter_register(core.handle, &options, $1) }
            }
        } catch {
            pointer.release()
            throw error
        }
    }

    /// Removes a converter. Values that it has converted stay.
    public func removeConverter(_ name: String) throws(InvivoError) {
        try core.call(naming: name) { $0.pointee.converter_unregister(core.handle, $1, $2) }
    }

    /// Reads one string by a converter.
    public func convert<Value: InvivoConvertible>(
        _ text: String, by converter: String, as type: Value.Type = Value.self
    ) throws(InvivoError) -> Value {
        var value = invivo_null()
        try withArena { arena throws(InvivoError) in
            let (data, length) = try arena.document(text)
            try core.call(naming: converter) { $0.pointee.convert(core.handle, $1, data, length, &value, $2) }
        }
        let table = core.table
        defer { table.pointee.value_clear(&value) }
        return try Value.fromInvivo(try InvivoValue(reading: value, core))
    }
}

extension ChangeSet {
    /// Sets the configuration value at a whole path, over the values of documents; null removes the value.
    public func configure(_ path: String, _ value: some InvivoConvertible) throws(InvivoError) {
        let value = try value.asInvivo()
        try withArena { arena throws(InvivoError) in
            var value = try value.borrowed(arena, core)
            try core.call(naming: path) { $0.pointee.changes_configure(handle, $1, &value, $2) }
        }
    }

    /// Removes the settings of `configure` at a path and below it. The values of documents take effect again.
    public func unconfigure(_ path: String) throws(InvivoError) {
        try core.call(naming: path) { $0.pointee.changes_configure(handle, $1, nil, $2) }
    }

    /// Declares a configuration path as secret, with everything below it: errors, warnings, reports and logs show its values as
    /// `<secret>`. Reads and injections give the values.
    public func addSecret(_ path: String) throws(InvivoError) {
        try core.call(naming: path) { $0.pointee.changes_add_secret(handle, $1, $2) }
    }

    /// Revokes `addSecret`. A path that was not declared is an error of the commit.
    public func removeSecret(_ path: String) throws(InvivoError) {
        try core.call(naming: path) { $0.pointee.changes_remove_secret(handle, $1, $2) }
    }
}

/// The user data of a configuration observer in the C ABI.
private final class ConfigBox: Sendable {
    let core: Core
    let notify: @Sendable (InvivoValue, UInt64) throws -> Void

    init(_ core: Core, _ notify: @escaping @Sendable (InvivoValue, UInt64) throws -> Void) {
        self.core = core
        self.notify = notify
    }
}

/// The user data of a converter in the C ABI.
private final class ConverterBox: Sendable {
    let core: Core
    let read: @Sendable (String) throws -> InvivoValue
    /// For a converter of values of every kind.
    let readValue: (@Sendable (InvivoValue) throws -> InvivoValue)?

    init(
        _ core: Core, _ read: @escaping @Sendable (String) throws -> InvivoValue,
        readValue: (@Sendable (InvivoValue) throws -> InvivoValue)? = nil
    ) {
        self.core = core
        self.read = read
        self.readValue = readValue
    }
}
