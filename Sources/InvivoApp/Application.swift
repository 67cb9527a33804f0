public import InvivoBase
internal import InvivoLoop
public import InvivoReload
internal import InvivoSpec

/// An application manifest, run: its modules are loaded, its components defined and built, its specs followed.
public final class Application: Sendable {
    public struct Options {
        public var manifest: String
        /// Spec files need not be good yet.
        public var waits = false
        /// For `check`: no code is loaded; the form of the manifest and of its documents alone is looked at.
        public var withoutModules = false
        public var engine: EngineOptions
        /// Loads shared libraries: the engine's, with the table that modules are handed.
        public var loadLibrary: (Engine, String) throws(Failure) -> Void
        /// Loads modules of another language: name and path.
        public var loadOther: ((Engine, String, String) throws(Failure) -> Void)?
        /// Returns the assemblies of the start, which replace the manifest's. Called when the modules are loaded.
        public var assemblies: ((Engine) throws(Failure) -> ChangeSet)?

        public init(
            manifest: String, engine: EngineOptions, loadLibrary: @escaping (Engine, String) throws(Failure) -> Void
        ) {
            self.manifest = manifest
            self.engine = engine
            self.loadLibrary = loadLibrary
        }
    }

    public let engine: Engine
    public let handleBits = HandleTable.reserve(.app)

    private init(_ engine: Engine) { self.engine = engine }

    /// Whether a manifest names modules that only Python can load. Runs nothing.
    public static func needsPython(_ path: String) throws(Failure) -> Bool {
        try manifest(FilePath(path)).modules.contains { $0.modulePath.hasSuffix(".py") }
    }

    private static func manifest(_ path: FilePath) throws(Failure) -> AppManifest {
        let limits = SpecLimits.manifest
        let content = try FileReader.read(path, limit: limits.bytes)
        return try content.bytes.span.withUnsafeBytes { bytes throws(Failure) in
            try AppManifest.read(bytes, file: path.shown, format: SpecFormat.of(fileName: path.shown), limits: limits)
        }
    }

    /// Reads the manifest and resolves the paths in it, before code of the application can change the working
    /// directory.
    private static func read(
        _ options: Options
    ) throws(Failure) -> (manifest: AppManifest, modules: [(ManifestModule, FilePath)], specs: [SpecSource]) {
        let path = try FilePath(options.manifest)
        let manifest = try ContentQuoting.allowedForAll(options.engine.fixed.quotesContent) {
            () throws(Failure) -> AppManifest in
            try Self.manifest(path)
        }
        let modules = try manifest.modules.map { module throws(Failure) in (module, try path.beside(module.modulePath))
        }
        let specs = try manifest.specs.map { spec throws(Failure) in
            SpecSource(path: try path.beside(spec.specPath), keepsGoing: spec.keepsGoing)
        }
        return (manifest, modules, specs)
    }

    /// Opens an application. A failure reports every error and leaves nothing running.
    public static func open(_ options: Options) throws(Failure) -> Application {
        let (manifest, modules, specs) = try read(options)
        let engine = try Engine.open(options.engine)
        do throws(Failure) {
            try engine.modules.trust(FilePath(options.manifest), "manifest")
            let unloaded = load(modules, options, engine)
            let assemblies = try options.assemblies?(engine) ?? ChangeSet()
            try ApplicationStart(
                engine, manifest, unloaded: unloaded, given: assemblies, waits: options.waits
            ).run(specs)
        } catch {
            // As with a runtime that could not be opened at all.
            engine.container.log.giveBack()
            do throws(Failure) { try engine.close(deferring: true) } catch let second {
                throw Failure.gathered([error, second]) ?? error
            }
            throw error
        }
        let application = Application(engine)
        HandleTable.fill(application.handleBits, .app, with: application)
        return application
    }

    /// Reports the errors that `open` would find, without creating an object.
    ///
    /// Modules are loaded, but only the functions that register their types are run, and rules. `use` receives the wiring that the
    /// manifest describes; an error that it throws is a failure of the check.
    public static func check(_ options: Options, _ use: (WiringFacts) throws(Failure) -> Void) throws(Failure) {
        let (manifest, modules, specs) = try read(options)
        let engine = try Engine.open(options.engine)
        var failure: Failure?
        do throws(Failure) {
            let facts =
                try options.withoutModules ? checkForm(specs, engine) : check(options, engine, manifest, modules, specs)
            try use(facts ?? WiringFacts(generation: 0, nodes: []))
        } catch {
            failure = error
            engine.container.log.giveBack()
        }
        do throws(Failure) { try engine.close(deferring: true) } catch {
            failure = Failure.gathered([failure, error].compactMap { $0 })
        }
        if let failure { throw failure }
    }

    /// Returns the wiring that the manifest describes. Throws all errors.
    private static func check(
        _ options: Options, _ engine: Engine, _ manifest: AppManifest, _ modules: [(ManifestModule, FilePath)],
        _ specs: [SpecSource]
    ) throws(Failure) -> WiringFacts? {
        try engine.modules.trust(FilePath(options.manifest), "manifest")
        let unloaded = load(modules, options, engine)
        let assemblies = try options.assemblies?(engine) ?? ChangeSet()
        return try ApplicationStart(engine, manifest, unloaded: unloaded, given: assemblies, waits: options.waits)
            .check(specs)
    }

    /// Checks the form of each document and of the files that it includes, without running code. Throws all errors.
    private static func checkForm(_ specs: [SpecSource], _ engine: Engine) throws(Failure) -> WiringFacts? {
        var set = ChangeSet()
        for spec in specs { set.open(spec.document(of: engine, waits: false)) }
        if let failure = Failure.gathered(engine.checkForm(set)) { throw failure }
        return nil
    }

    /// Stops the started objects, in reverse order, and closes the runtime.
    public func close() throws(Failure) {
        do throws(Failure) { try engine.close(deferring: true) } catch {
            // Closed all the same.
            if error.code == .stop { _ = HandleTable.remove(handleBits, .app) }
            throw error
        }
        _ = HandleTable.remove(handleBits, .app)
    }

    /// Loads the modules; returns the failures.
    private static func load(_ modules: [(ManifestModule, FilePath)], _ options: Options, _ engine: Engine) -> [Failure]
    {
        var failures: [Failure] = []
        for (module, path) in modules {
            do throws(Failure) {
                if module.modulePath.hasSuffix(".py") {
                    guard let loadOther = options.loadOther else {
                        throw Failure(
                            .unsupported,
                            "a Python module needs a Python host: run the manifest with 'python3 -m invivo run'")
                    }
                    try engine.modules.trust(path, "module")
                    try loadOther(engine, module.name, path.shown)
                } else {
                    try options.loadLibrary(engine, path.shown)
                }
            } catch {
                failures.append(
                    Failure(
                        error.code, "the module '\(module.name)' cannot be loaded", path: "modules.\(module.name)",
                        at: module.location, cause: error))
            }
        }
        return failures
    }
}

/// A spec file of a manifest, with the policy for its errors.
struct SpecSource {
    let path: FilePath
    let keepsGoing: Bool

    /// Returns it as a document that a change set opens.
    func document(of engine: Engine, waits: Bool) -> NewDocument {
        engine.newDocument(path, name: path.shown, waits: waits, keepsGoing: keepsGoing)
    }
}
