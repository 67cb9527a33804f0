public import CInvivo
internal import InvivoBase
internal import InvivoConfig
internal import InvivoObjects
internal import InvivoReload
internal import InvivoWiring
import Synchronization

// config.h: the configuration, and converters.

@c @implementation
public func invivo_config_id(
    _ runtime: invivo_runtime, _ path: UnsafePointer<CChar>!, _ kind: invivo_kind,
    _ out: UnsafeMutablePointer<invivo_config>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_config()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let kind = try ValueKind(checking: kind)
        switch kind {
        case .any, .bool, .string, .list, .map: break
        default:
            guard kind.isNumber else {
                throw Failure(.argument, "kind is \(kind.name), which no value of the configuration is")
            }
        }
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee.bits = try parents.configID(try text(path, "path"))
            return
        }
        let engine = try Engine.find(runtime.bits)
        out.pointee.bits = engine.container.keyHandle(try engine.configID(try text(path, "path"), kind))
    }
}

@c @implementation
public func invivo_config_path(_ runtime: invivo_runtime, _ id: invivo_config) -> UnsafePointer<CChar>! {
    guard let container = try? Container.find(runtime.bits, .runtime),
        UInt32(truncatingIfNeeded: id.bits >> 32) == container.keys.owner
    else { return nil }
    return container.monitor.locked { container.keys.configPath(UInt32(truncatingIfNeeded: id.bits)) }
}

@c @implementation
public func invivo_config_read(
    _ runtime: invivo_runtime, _ path: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let path = try text(path, "path")
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee = try parents.configuration(path).owned()
            return
        }
        out.pointee = try Engine.find(runtime.bits).configuration(path, isRead: error != nil).owned()
    }
}

@c @implementation
public func invivo_config_observe(
    _ runtime: invivo_runtime, _ path: UnsafePointer<CChar>!,
    _ options: UnsafePointer<invivo_config_observer_options>!, _ out: UnsafeMutablePointer<invivo_observer>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_observer()
    return answering(error) { () throws(Failure) in
        guard let options else { throw Failure(.argument, "options is NULL") }
        let least = MemoryLayout<invivo_config_observer_options>.offset(of: \.destroy) ?? 8
        let given = try versioned(options, "options", least: least, as: invivo_config_observer_options.self)
        guard let changed = given.changed else { throw Failure(.argument, "options.changed is NULL") }
        let engine = try Engine.find(runtime.bits)
        let domain = given.domain.bits == 0 ? nil : try engine.container.domains.domain(given.domain.bits)
        let userData = HostPointer(given.user_data)
        let destroy = given.destroy
        let ended: (@Sendable () -> Void)? = destroy.map { destroy in { @Sendable in destroy(userData.raw) } }
        let functions = Engine.HostFunctions(
            [unsafeBitCast(changed, to: UInt.self)], userData: UInt(bitPattern: given.user_data))
        let observer = try engine.observe(
            configuration: try text(path, "path"), functions, domain: domain, destroy: ended
        ) { path, value, generation in
            Value.withBorrowed([value]) { value, _ in path.withCString { changed(userData.raw, $0, value, generation) }
            }
        }
        out?.pointee.bits = observer.handleBits
    }
}

@c @implementation
public func invivo_changes_configure(
    _ changes: invivo_changes, _ path: UnsafePointer<CChar>!, _ value: UnsafePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let path = try ConfigPath.checked(try text(path, "path"))
        var node: ConfigNode?
        if let value {
            let configured = try Value(borrowing: value.pointee)
            guard !path.isEmpty || configured.kind == .map else {
                throw Failure(.argument, "expected a map for the whole configuration, got \(configured.withKind)")
            }
            guard !configured.holdsReference, configured.kind != .type else {
                throw Failure(.type, "the configuration is data, and the value leads to an object", path: path)
            }
            node = ConfigNode(configured)
        }
        changes.set.configure(path, node)
        changes.note(.configure, path)
    }
}

// MARK: - Secrets

@c @implementation
public func invivo_changes_add_secret(
    _ changes: invivo_changes, _ path: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try declare(changes, path, isSecret: true) }
}

@c @implementation
public func invivo_changes_remove_secret(
    _ changes: invivo_changes, _ path: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try declare(changes, path, isSecret: false) }
}

private func declare(
    _ changes: invivo_changes, _ path: UnsafePointer<CChar>?, isSecret: Bool
) throws(Failure) {
    let changes = try InvivoABI.changes(changes)
    let path = try ConfigPath.checked(try text(path, "path"))
    changes.set.declare(secret: path, isSecret)
    changes.note(.configure, path)
}

@c @implementation
public func invivo_config_is_secret(
    _ runtime: invivo_runtime, _ path: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<Bool>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = false
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let path = try ConfigPath.checked(try text(path, "path"))
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee = try parents.isSecret(path)
            return
        }
        out.pointee = try Engine.find(runtime.bits).isSecret(path)
    }
}

// MARK: - Converters

@c @implementation
public func invivo_converter_register(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_converter_options>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let options else { throw Failure(.argument, "options is NULL") }
        let least = MemoryLayout<invivo_converter_options>.offset(of: \.user_data) ?? 8
        let given = try versioned(options, "options", least: least, as: invivo_converter_options.self)
        let name = try text(given.name, "options.name")
        guard !name.isEmpty else { throw Failure(.argument, "a converter needs a name") }
        guard given.convert != nil || given.read != nil else { throw Failure(.argument, "options.convert is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        let host = HostConverter(given.convert, given.read, HostPointer(given.user_data), given.destroy)
        let called = { @Sendable [weak container] (body: () throws(Failure) -> Value) throws(Failure) -> Value in
            guard let container else { throw Failure(.closed, "the runtime is closed") }
            return try container.callback { () -> Result<Value, Failure> in
                do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
            }.get()
        }
        let reader = { @Sendable (value: Value) throws(Failure) -> Value in
            try called { () throws(Failure) in try host.read(value, name) }
        }
        let converter = TextConverter(name, isHosts: true, reader: given.read == nil ? nil : reader) {
            (text, _) throws(Failure) in
            try called { () throws(Failure) in try host.value(text, name) }
        }
        try container.registry.converters.register(converter)
        host.isTaken.store(true, ordering: .releasing)
    }
}

/// A host's function with its user data. `destroy` is called with the last converter that uses it, once it was
/// accepted.
private final class HostConverter: Sendable {
    typealias Function =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafeMutablePointer<invivo_value>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    typealias Reader =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, UnsafeMutablePointer<invivo_value>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    private let function: Function?
    private let reader: Reader?
    private let userData: HostPointer
    private let destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    /// Whether the registration has succeeded.
    let isTaken = Atomic(false)

    init(
        _ function: Function?, _ reader: Reader?, _ userData: HostPointer,
        _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    ) {
        self.function = function
        self.reader = reader
        self.userData = userData
        self.destroy = destroy
    }

    deinit {
        if isTaken.load(ordering: .acquiring), let destroy { ending { [userData] in destroy(userData.raw) } }
    }

    func read(_ value: Value, _ name: String) throws(Failure) -> Value {
        guard let reader else { return value }
        return try CallbackResult.run("the converter '\(name)'") { result, error in
            Value.withBorrowed([value]) { value, _ in reader(userData.raw, value, result, error) }
        }
    }

    func value(_ text: String, _ name: String) throws(Failure) -> Value {
        guard let function else { return try read(.string(text), name) }
        return try CallbackResult.run("the converter '\(name)'") { result, error in
            text.withCString { function(userData.raw, $0, UInt64(text.utf8.count), result, error) }
        }
    }
}

@c @implementation
public func invivo_converter_unregister(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try Container.find(runtime.bits, .runtime).registry.converters.unregister(try text(name, "name"))
    }
}

@c @implementation
public func invivo_convert(
    _ runtime: invivo_runtime, _ converter: UnsafePointer<CChar>!, _ given: UnsafePointer<CChar>!, _ length: UInt64,
    _ out: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let found = try Container.find(runtime.bits, .runtime).registry.converters.converter(
            try text(converter, "converter"))
        guard case .string(let text) = try Value(borrowing: invivo_string_n(given, length)) else { return }
        out.pointee = try found.value(text, TextFormat()).owned()
    }
}
