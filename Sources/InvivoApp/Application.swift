public import InvivoBase
internal import InvivoLoop
public import InvivoReload
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

/// An application manifest, run: its modules are loaded, its components defined and built, its specs followed.
public final class Application: @unchecked Sendable {
    public struct Options {
        public var manifest: String
        /// Spec files need not be good yet.
        public var waits = false
        public var engine: EngineOptions
        /// Loads shared libraries: the engine's, with the table that modules are handed.
        public var loadLibrary: (Engine, String) throws(Failure) -> Void
        /// Loads modules of another language: name and path.
        public var loadOther: ((Engine, String, String) throws(Failure) -> Void)?

        public init(
            manifest: String, engine: EngineOptions, loadLibrary: @escaping (Engine, String) throws(Failure) -> Void
        ) {
            self.manifest = manifest
            self.engine = engine
            self.loadLibrary = loadLibrary
        }
    }

    public let engine: Engine
    public private(set) var handleBits: UInt64 = 0

    private init(_ engine: Engine) {
        self.engine = engine
    }

    /// Whether a manifest names modules that only Python can load. Runs nothing.
    public static func needsPython(_ path: String) throws(Failure) -> Bool {
        try manifest(path).modules.contains { $0.modulePath.hasSuffix(".py") }
    }

    private static func manifest(_ path: String) throws(Failure) -> AppManifest {
        let content = try FileReader.read(path, limit: 4 << 20)
        return try AppManifest(try SpecReader.read(content.bytes, file: path, format: SpecFormat.of(fileName: path)))
    }

    /// Any failure reports every error and leaves nothing running.
    public static func open(_ options: Options) throws(Failure) -> Application {
        let manifest = try manifest(options.manifest)
        let engine = try Engine.open(options.engine)
        do throws(Failure) {
            try load(manifest, options, engine)
            try start(manifest, options, engine)
        } catch {
            do throws(Failure) { try engine.close(deferring: true) } catch let second { throw Failure.gathered([error, second]) ?? error }
            throw error
        }
        let application = Application(engine)
        application.handleBits = HandleTable.insert(application, kind: .app)
        return application
    }

    /// Stops what was started, in reverse, and closes the runtime.
    public func close() throws(Failure) {
        try engine.close(deferring: true)
        _ = HandleTable.remove(handleBits, .app)
    }

    // MARK: steps

    private static func load(_ manifest: AppManifest, _ options: Options, _ engine: Engine) throws(Failure) {
        var failures: [Failure] = []
        for module in manifest.modules {
            let path = beside(options.manifest, module.modulePath)
            do throws(Failure) {
                if path.hasSuffix(".py") {
                    guard let loadOther = options.loadOther else {
                        throw Failure(
                            .unsupported, "a Python module needs a Python host: run the manifest with 'python3 -m invivo run'")
                    }
                    try loadOther(engine, module.name, path)
                } else {
                    try options.loadLibrary(engine, path)
                }
            } catch {
                var failure = Failure(
                    error.code, "the module '\(module.name)' cannot be loaded", path: "modules.\(module.name)", at: module.place,
                    cause: error)
                failure.others = []
                failures.append(failure)
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
    }

    /// Definitions and documents take effect as one reload.
    private static func start(_ manifest: AppManifest, _ options: Options, _ engine: Engine) throws(Failure) {
        var set = ChangeSet(cause: options.manifest)
        var failures: [Failure] = []
        for component in manifest.components {
            do throws(Failure) { set.definitions.append(try definition(component, engine.container)) } catch { failures += error.all }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        let withoutDocuments = set
        var documents: [Document] = []
        for spec in manifest.specs {
            let path = beside(options.manifest, spec.specPath)
            documents.append(try engine.prepareDocument(path: path, name: path))
        }
        set.documents = documents.map { ($0, .file) }
        do throws(Failure) {
            try engine.commit(set)
        } catch {
            guard options.waits else { throw error }
            // The components run as they are declared; each document takes effect as soon as it is good.
            try engine.commit(withoutDocuments)
            for document in documents {
                do throws(Failure) { try engine.refresh(document) } catch {}
            }
        }
    }

    private static func definition(_ component: ManifestComponent, _ container: Container) throws(Failure) -> Definition {
        let type: ObjectType
        do throws(Failure) { type = try container.type(named: component.type) } catch {
            throw Failure(error.code, error.message, path: component.path, at: component.typePlace)
        }
        let scope: Scope =
            switch component.scope {
            case .prototype: .prototype
            case .lazySingleton: .lazySingleton
            case .singleton: .singleton
            }
        var failures: [Failure] = []
        func injections(_ given: [ManifestInjection], _ wanted: (Int, String?) throws(Failure) -> Wanted) -> [Injection] {
            var found: [Injection] = []
            for (position, injection) in given.enumerated() {
                do throws(Failure) {
                    let wanted = try wanted(position, injection.name)
                    let source = try source(injection.value, wanted)
                    if case .property(let property) = wanted, case .value(let value) = source { _ = try property.check(value) }
                    found.append(Injection(name: injection.name, source))
                } catch {
                    var failure = error
                    failure.path = injection.path
                    if failure.place.line == 0 { failure.place = failure.code == .property ? injection.namePlace : injection.place }
                    failures.append(failure)
                }
            }
            return found
        }
        let parameters = type.description.signature.parameters
        let initializer = injections(component.initializer) { position, name throws(Failure) in
            let parameter = name.map { name in parameters.first { $0.name == name } } ?? parameters.dropFirst(position).first
            return .kind(parameter?.kind)
        }
        let properties = injections(component.properties) { _, name throws(Failure) in
            guard let name else { return .kind(nil) }
            return .property(try type.description.property(named: name).property)
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return Definition(
            id: try container.intern(component.key), key: component.key, scope: scope, type: type, initializer: initializer,
            properties: properties, place: component.keyPlace)
    }

    /// What a value of the manifest is for: a text may stand for a number or for bytes.
    private enum Wanted {
        case property(Property)
        case kind(ValueKind?)
    }

    private static func source(_ value: ManifestValue, _ wanted: Wanted) throws(Failure) -> Injection.Source {
        switch value {
        case .reference(let key): return .reference(key)
        case .value(let node):
            switch wanted {
            case .property(let property): return .value(try Value(spec: node, for: property))
            case .kind(let kind): return .value(try Value(spec: node, kind: kind))
            }
        case .list(let items):
            var sources: [Injection.Source] = []
            for item in items { sources.append(try source(item.value, .kind(nil))) }
            return .list(sources)
        case .map(let pairs):
            var sources: [(name: String, source: Injection.Source)] = []
            for pair in pairs { sources.append((pair.name ?? "", try source(pair.value, .kind(nil)))) }
            return .map(sources)
        }
    }

    /// A path of the manifest counts from the manifest's folder.
    private static func beside(_ manifest: String, _ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let slash = manifest.lastIndex(of: "/") else { return path }
        return manifest[...slash] + path
    }
}
