public import CInvivo
internal import InvivoApp
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoReload

// app.h: an application manifest, run.

@c @implementation
public func invivo_app_open(
    _ out: UnsafeMutablePointer<invivo_app>!, _ options: UnsafePointer<invivo_app_options>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_app()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try Application.open(try appOptions(options)).handleBits
    }
}

func appOptions(_ options: UnsafePointer<invivo_app_options>?) throws(Failure) -> Application.Options {
    guard let options else { throw Failure(.argument, "options is NULL") }
    let least = MemoryLayout<invivo_app_options>.offset(of: \.runtime) ?? 8
    let given = try versioned(options, "options", least: least, as: invivo_app_options.self)
    var engine = try engineOptions(given.runtime)
    if given.runtime == nil { engine.fixed.isLoopDefault = true }
    var app = Application.Options(manifest: try text(given.manifest, "options.manifest"), engine: engine) {
        (engine, path) throws(Failure) in _ = try engine.modules.load(path, table: invivo_table_get())
    }
    try requireKnown(
        given.flags, INVIVO_APP_WITHOUT_MODULES | INVIVO_APP_WAIT, "options.flags", "INVIVO_APP_...")
    app.withoutModules = given.flags & UInt32(INVIVO_APP_WITHOUT_MODULES) != 0
    app.waits = given.flags & UInt32(INVIVO_APP_WAIT) != 0
    if let load = given.load_module {
        app.loadOther = { (engine, name, path) throws(Failure) in
            try CallbackResult.run("the load_module function") { error in
                name.withCString { name in
                    path.withCString {
                        load(given.user_data, invivo_runtime(bits: engine.container.handle), name, $0, error)
                    }
                }
            }
        }
    }
    if let assemblies = given.assemblies {
        app.assemblies = { (engine) throws(Failure) in
            let changes = OpenChanges(engine)
            let handle = invivo_changes(bits: try changes.open())
            defer { changes.close() }
            try CallbackResult.run("the assemblies function") { error in
                assemblies(given.user_data, invivo_runtime(bits: engine.container.handle), handle, error)
            }
            return changes.set
        }
    }
    return app
}

private func application(_ app: invivo_app) throws(Failure) -> Application {
    try HandleTable.require(app.bits, .app, as: Application.self)
}

@c @implementation
public func invivo_app_runtime(
    _ app: invivo_app, _ out: UnsafeMutablePointer<invivo_runtime>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_runtime()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try application(app).engine.container.handle
    }
}

@c @implementation
public func invivo_app_close(_ app: invivo_app, _ error: UnsafeMutablePointer<OpaquePointer?>!) -> invivo_status {
    answering(error) { () throws(Failure) in
        // In a forked child there is nothing of its own to close.
        guard !HandleTable.isParents(app.bits, .app) else { return }
        try application(app).close()
    }
}

@c @implementation
public func invivo_app_needs_python(
    _ manifest: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<Bool>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = false
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try Application.needsPython(try text(manifest, "manifest"))
    }
}
