public import CInvivo
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// assembly.h: named sets of definitions.

@c @implementation
public func invivo_assembly_describe(
    _ runtime: invivo_runtime, _ assembly: UnsafePointer<invivo_assembly>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let container = try Container.find(runtime.bits, .runtime)
        let read = try AssemblyReader.read(assembly, in: container.registry)
        do throws(Failure) { try container.registry.assemblies.describe(read.all) } catch {
            read.disown()
            throw error
        }
    }
}

@c @implementation
public func invivo_assembly_forget(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try Container.find(runtime.bits, .runtime).registry.assemblies.forget(try text(name, "name"))
    }
}

@c @implementation
public func invivo_assembly_state(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<UInt32>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = 0
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let state = try Container.find(runtime.bits, .runtime).registry.assemblies.state(of: try text(name, "name"))
        out.pointee = UInt32(
            state.isActive
                ? INVIVO_ASSEMBLY_ACTIVE : state.isDescribed ? INVIVO_ASSEMBLY_INACTIVE : INVIVO_ASSEMBLY_UNKNOWN)
    }
}

@c @implementation
public func invivo_activate(
    _ runtime: invivo_runtime, _ assemblies: UnsafePointer<UnsafePointer<invivo_assembly>?>!, _ count: Int,
    _ options: UnsafePointer<invivo_activate_options>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        guard count >= 0, count < 65_536, assemblies != nil || count == 0 else {
            throw Failure(.argument, "assemblies is NULL or too long")
        }
        _ = try activationFlags(options)
        var given: [Definition] = []
        do throws(Failure) {
            for index in 0..<count { given += try changes.activate(assemblies[index], options) }
        } catch {
            for each in given { each.disown() }
            throw error
        }
        try GivenDefinitions.keeping(given) { () throws(Failure) in try changes.engine.commit(changes.set) }
    }
}

@c @implementation
public func invivo_deactivate(
    _ runtime: invivo_runtime, _ names: UnsafePointer<UnsafePointer<CChar>?>!, _ count: Int,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        guard count >= 0, count < 65_536, names != nil || count == 0 else {
            throw Failure(.argument, "names is NULL or too long")
        }
        for index in 0..<count { changes.deactivate(try text(names[index], "names[\(index)]")) }
        try changes.engine.commit(changes.set)
    }
}

@c @implementation
public func invivo_mount(
    _ runtime: invivo_runtime, _ assembly: UnsafePointer<invivo_assembly>!, _ prefix: UnsafePointer<CChar>!,
    _ remaps: UnsafePointer<invivo_remap>!, _ count: Int, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        let given = try changes.mount(assembly, prefix, remaps, count)
        try GivenDefinitions.keeping(given) { () throws(Failure) in try changes.engine.commit(changes.set) }
    }
}

@c @implementation
public func invivo_changes_activate(
    _ changes: invivo_changes, _ assembly: UnsafePointer<invivo_assembly>!,
    _ options: UnsafePointer<invivo_activate_options>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in _ = try InvivoABI.changes(changes).activate(assembly, options) }
}

@c @implementation
public func invivo_changes_deactivate(
    _ changes: invivo_changes, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try InvivoABI.changes(changes).deactivate(try text(name, "name")) }
}

@c @implementation
public func invivo_changes_mount(
    _ changes: invivo_changes, _ assembly: UnsafePointer<invivo_assembly>!, _ prefix: UnsafePointer<CChar>!,
    _ remaps: UnsafePointer<invivo_remap>!, _ count: Int, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        _ = try InvivoABI.changes(changes).mount(assembly, prefix, remaps, count)
    }
}

/// The flags of `options`, which may be NULL.
private func activationFlags(_ options: UnsafePointer<invivo_activate_options>?) throws(Failure) -> UInt32 {
    guard let options else { return 0 }
    let least = MemoryLayout<invivo_activate_options>.offset(of: \.reserved) ?? 8
    let flags = try versioned(options, "options", least: least, as: invivo_activate_options.self).flags
    try requireKnown(flags, INVIVO_ACTIVATE_NEW, "options.flags", "INVIVO_ACTIVATE_...")
    return flags
}

extension OpenChanges {
    /// Returns the definitions that it has taken over; none when it throws.
    fileprivate func activate(
        _ assembly: UnsafePointer<invivo_assembly>?, _ options: UnsafePointer<invivo_activate_options>?
    ) throws(Failure) -> [Definition] {
        let flags = try activationFlags(options)
        let read = try AssemblyReader.read(assembly, in: engine.container.registry)
        set.assemblies.append(
            .activate(
                AssemblyChange.Activation(
                    name: read.name, description: read.first, companions: read.all,
                    isNew: flags & UInt32(INVIVO_ACTIVATE_NEW) != 0, extends: read.extends)))
        note(.activate, read.name)
        return read.definitions
    }

    fileprivate func deactivate(_ name: String) {
        set.assemblies.append(.deactivate(name))
        note(.deactivate, name)
    }

    /// Returns the definitions that it has taken over; none when it throws.
    fileprivate func mount(
        _ assembly: UnsafePointer<invivo_assembly>?, _ prefix: UnsafePointer<CChar>?,
        _ given: UnsafePointer<invivo_remap>?, _ count: Int
    ) throws(Failure) -> [Definition] {
        let prefix = try text(prefix, "prefix")
        try AssemblyReader.check(name: prefix, "the prefix")
        guard count >= 0, count < 65_536, given != nil || count == 0 else {
            throw Failure(.argument, "remaps is NULL or too long", path: prefix)
        }
        var remaps: [AssemblyRemap] = []
        for index in 0..<count {
            guard let each = given?[index] else { break }
            let from = try text(each.from, "remaps[\(index)].from")
            guard !remaps.contains(where: { $0.from.isSameName(as: from) }) else {
                throw Failure(.argument, "'\(from)' is remapped twice", path: prefix)
            }
            remaps.append(AssemblyRemap(from: from, to: try text(each.to, "remaps[\(index)].to")))
        }
        let read = try AssemblyReader.read(assembly, in: engine.container.registry)
        guard !read.extends else {
            read.disown()
            throw Failure(
                .argument, "an extension of an assembly cannot be mounted: mount the whole assembly", path: prefix)
        }
        var description = read.first
        if description == nil {
            let container = engine.container
            description = container.registry.assemblies.described[read.name]
            guard description != nil else {
                throw Failure(.notFound, "no assembly '\(read.name)' is described", path: prefix)
            }
        }
        set.assemblies.append(
            .activate(
                AssemblyChange.Activation(
                    name: prefix, description: description, companions: read.all, remaps: remaps)))
        set.cause.note(Cause.Part(.mount, prefix, mounted: read.name))
        return read.definitions
    }
}
