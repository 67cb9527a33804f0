internal import CInvivo

/// An application manifest, run: its modules loaded, its components built and started, its documents followed.
public final class Application: Sendable {
    private let core: Core
    private let handle: invivo_app
    /// Its runtime, open as long as the application is.
    public let runtime: Runtime

    /// Starts the application that a manifest describes. A failure reports every error and leaves nothing running.
    ///
    /// - Parameters:
    ///   - manifest: The path of the manifest.
    ///   - options: The options of its runtime. By default, objects live on the runtime's own thread.
    ///   - waiting: Starts even if documents are invalid.
    ///   - assemblies: Replaces the manifest's assemblies. Called once, after the modules are loaded, with a change set
    ///     to fill but not to commit: `{ changes in try changes.activate(Camelot()) }`.
    public init(
        _ manifest: String, _ options: Runtime.Options = .application, waiting: Bool = false,
        assemblies: ((ChangeSet) throws -> Void)? = nil
    ) throws(InvivoError) {
        let table = try Core.own()
        var handle = invivo_app()
        var runtime = invivo_runtime()
        let start = assemblies.map { ApplicationStart(table, $0) }
        try withArena { arena throws(InvivoError) in
            var app = invivo_app_options()
            app.struct_size = MemoryLayout<invivo_app_options>.size
            app.manifest = try arena.name(manifest)
            if waiting { app.flags |= UInt32(INVIVO_APP_WAIT) }
            start?.add(to: &app)
            try options.opening(arena, table) { raw throws(InvivoError) in
                app.runtime = raw
                do throws(InvivoError) { try Core.call(table) { $0.pointee.app_open(&handle, &app, $1) } } catch {
                    start?.changes?.rollBack()
                    throw error
                }
            }
        }
        start?.changes?.complete()
        try Core.call(table) { $0.pointee.app_runtime(handle, &runtime, $1) }
        self.handle = handle
        core = try Core.of(table, runtime)
        core.fillsInjected.store(options.fillsInjected, ordering: .relaxed)
        self.runtime = Runtime(borrowing: core)
    }

    /// Stops the started objects, in reverse order, and closes the runtime.
    public func close() throws(InvivoError) { try core.call { $0.pointee.app_close(handle, $1) } }

    /// Whether a manifest names modules that only Python can load; nothing is run.
    public static func needsPython(_ manifest: String) throws(InvivoError) -> Bool {
        let table = try Core.own()
        var needs = false
        try Core.call(table, naming: manifest) { $0.pointee.app_needs_python($1, &needs, $2) }
        return needs
    }
}

/// Activates the host's assemblies while an application is opened.
private final class ApplicationStart {
    private let table: Table
    private let fill: (ChangeSet) throws -> Void
    /// The change set of the assemblies, until the application is open.
    private(set) var changes: ChangeSet?

    init(_ table: Table, _ fill: @escaping (ChangeSet) throws -> Void) {
        self.table = table
        self.fill = fill
    }

    func add(to app: inout invivo_app_options) {
        app.user_data = Unmanaged.passUnretained(self).toOpaque()
        app.assemblies = { data, runtime, handle, error in
            guard let data else { return InvivoError.Code.internal.rawValue }
            let start = Unmanaged<ApplicationStart>.fromOpaque(data).takeUnretainedValue()
            return answering(start.table, error) {
                let changes = ChangeSet(borrowing: handle, try Core.of(start.table, runtime))
                start.changes = changes
                try start.fill(changes)
            }
        }
    }
}

extension Runtime.Options {
    /// Options for an application whose runtime is not polled.
    public static var application: Self {
        var options = Self()
        options.home = .loop
        return options
    }
}
