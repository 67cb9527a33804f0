public import CInvivo
internal import InvivoBase
internal import InvivoWiring

// scope.h: scopes of the host's own.

@c @implementation
public func invivo_scope_register(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_scope_options>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let container = try Container.find(runtime.bits, .runtime)
        guard let options else { throw Failure(.argument, "options is NULL") }
        let least = MemoryLayout<invivo_scope_options>.offset(of: \.keep) ?? 8
        let given = try versioned(options, "options", least: least, as: invivo_scope_options.self)
        let name = try text(given.name, "options.name")
        guard let find = given.find else {
            throw Failure(.argument, "a scope needs a function that finds the scope instance")
        }
        guard !name.isEmpty else { throw Failure(.argument, "a scope needs a name") }
        let host = PlacedScope.Host(find: find, keep: given.keep, drop: given.drop, userData: given.user_data)
        let scope = PlacedScope(name, host, container.monitor, destroy: given.destroy)
        try container.registry.scopes.register(scope)
        scope.takeData()
    }
}

@c @implementation
public func invivo_scope_end(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ location: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let container = try Container.find(runtime.bits, .runtime)
        container.registry.scopes.end(try container.registry.scopes.scope(named: try text(name, "name")), at: location)
    }
}
