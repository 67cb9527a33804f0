internal import InvivoBase
internal import InvivoLoop
internal import InvivoReload
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

/// The start of an application: what its manifest says and what its documents say take effect as one reload, or every
/// error of both is told, each once.
struct ApplicationStart {
    let engine: Engine
    let manifest: AppManifest
    /// Modules that could not be loaded: a type that is not known may be one of theirs.
    let unloaded: [Failure]
    /// What the host wants to be active, in the place of the manifest's assemblies.
    let given: ChangeSet
    let waits: Bool

    init(_ engine: Engine, _ manifest: AppManifest, unloaded: [Failure], given: ChangeSet, waits: Bool) {
        self.engine = engine
        self.manifest = manifest
        self.unloaded = unloaded
        self.given = given
        self.waits = waits
    }

    func run(_ specs: [FilePath]) throws(Failure) {
        let said = try read(specs)
        try commit(said.wiring, said.outlines, said.documents)
    }

    /// All that is wrong, or the wiring as it would be. Nothing is made.
    func check(_ specs: [FilePath]) throws(Failure) -> WiringGraph? {
        let said = try read(specs)
        var whole = said.wiring
        if !waits { whole.documents = said.documents.map { ($0, .file) } }
        var found = engine.examine(whole)
        if !waits && !found.failures.isEmpty {
            for other in engine.check(said.wiring) + documentFailures(said.outlines, said.documents)
            where !found.failures.contains(where: other.isSame(as:)) {
                found.failures.append(other)
            }
        }
        if let failure = Failure.gathered(found.failures) { throw failure }
        return found.graph
    }

    /// What is to take effect; if anything of it is not even readable, every error.
    private func read(_ specs: [FilePath]) throws(Failure) -> (
        wiring: ChangeSet, outlines: ChangeSet, documents: [Document]
    ) {
        var wiring = ChangeSet(cause: manifest.file)
        // Every component by its type alone: enough to say what is wrong with the documents.
        var outlines = ChangeSet(cause: manifest.file)
        var typeless: Set<String> = []
        var failures = unloaded
        activate(in: &wiring, &failures)
        outlines.definitions = wiring.definitions
        outlines.assemblies = wiring.assemblies
        for component in manifest.components {
            let type: ObjectType?
            do throws(Failure) { type = try engine.container.type(named: component.type) } catch {
                if unloaded.isEmpty {
                    failures.append(Failure(error.code, error.message, path: component.path, at: component.typePlace))
                }
                type = nil
            }
            let outline = Definition(
                id: try engine.container.intern(component.key), key: component.key, scope: .prototype, type: type,
                place: component.keyPlace)
            if type == nil { typeless.insert(component.key) } else { outlines.definitions.append(outline) }
            wiring.definitions.append(
                try type.map { type throws(Failure) in try definition(component, type, &failures) } ?? outline)
        }
        var documents: [Document] = []
        for path in specs { documents.append(try engine.prepareDocument(path: path, name: path.shown)) }
        guard failures.isEmpty else {
            for other in engine.check(wiring) + (waits ? [] : documentFailures(outlines, documents))
            where !failures.contains(where: other.isSame(as:)) {
                failures.append(other)
            }
            // What follows from a type that is not known has been said.
            failures.removeAll { failure in
                typeless.contains(failure.path)
                    || failure.path.hasPrefix("traits.") && typeless.contains(String(failure.path.dropFirst(7)))
            }
            throw Failure.gathered(failures) ?? Failure(.spec, "the manifest is wrong", path: manifest.file)
        }
        return (wiring, outlines, documents)
    }

    private func commit(_ wiring: ChangeSet, _ outlines: ChangeSet, _ documents: [Document]) throws(Failure) {
        var whole = wiring
        whole.documents = documents.map { ($0, .file) }
        if waits && !documentFailures(outlines, documents).isEmpty { return try commitApart(wiring, documents) }
        do throws(Failure) { try engine.commit(whole) } catch {
            if waits { return try commitApart(wiring, documents) }
            var failures = error.all
            for other in engine.check(wiring) + documentFailures(outlines, documents)
            where !failures.contains(where: other.isSame(as:)) {
                failures.append(other)
            }
            throw Failure.gathered(failures) ?? error
        }
    }

    /// The components run as they are declared; each document takes effect as soon as it is good.
    private func commitApart(_ wiring: ChangeSet, _ documents: [Document]) throws(Failure) {
        try engine.commit(wiring)
        for document in documents { do throws(Failure) { try engine.refresh(document) } catch {} }
    }

    /// What is wrong with the documents, each by itself, whatever is wrong with the wiring.
    private func documentFailures(_ outlines: ChangeSet, _ documents: [Document]) -> [Failure] {
        documents.flatMap { document in
            var set = outlines
            set.documents = [(document, .file)]
            return engine.check(set)
        }
    }

    // MARK: definitions

    /// What a component says; of one that says something wrong, what is left without it.
    private func definition(
        _ component: ManifestComponent, _ type: ObjectType, _ failures: inout [Failure]
    ) throws(Failure) -> Definition {
        var scope: Scope =
            switch component.scope {
            case .prototype: .prototype
            case .graph: .graph
            case .weakSingleton: .weakSingleton
            case .lazySingleton: .lazySingleton
            case .singleton: .singleton
            case .context: .context
            case .thread: .thread
            }
        if let name = component.scopeName {
            scope = .host
            do throws(Failure) { _ = try engine.container.scope(named: name) } catch {
                var failure = error
                failure.path = component.path + ".scope"
                failure.place = component.scopePlace
                throw failure
            }
        }
        let parameters = type.description.signature.parameters
        var wrong: [Failure] = []
        func injections(_ given: [ManifestInjection], _ wanted: (Int, String?) throws(Failure) -> Wanted) -> [Injection]
        {
            var found: [Injection] = []
            for (position, injection) in given.enumerated() {
                do throws(Failure) {
                    let wanted = try wanted(position, injection.name)
                    let source = try source(injection.value, wanted)
                    if case .property(let property) = wanted, case .value(let value) = source {
                        _ = try property.check(value)
                    }
                    found.append(Injection(name: injection.name, source))
                } catch {
                    var failure = error
                    failure.path = injection.path
                    if failure.place.line == 0 {
                        failure.place = failure.code == .property ? injection.namePlace : injection.place
                    }
                    wrong.append(failure)
                }
            }
            return found
        }
        var initializer = injections(component.initializer) { position, name throws(Failure) in
            let parameter =
                name.map { name in parameters.first { $0.name == name } } ?? parameters.dropFirst(position).first
            return .kind(parameter?.kind)
        }
        let properties = injections(component.properties) { _, name throws(Failure) in
            guard let name else { return .kind(nil) }
            return .property(try type.description.property(named: name).property)
        }
        if !wrong.isEmpty {
            // Only looked at for what else is wrong: a prototype need not be given everything.
            scope = .prototype
            if initializer.count < component.initializer.count { initializer = initializer.filter { $0.name != nil } }
            failures += wrong
        }
        return Definition(
            id: try engine.container.intern(component.key), key: component.key, scope: scope, type: type,
            initializer: initializer,
            properties: properties, place: component.keyPlace)
    }

    /// What a value of the manifest is for: a text may stand for a number or for bytes.
    private enum Wanted {
        case property(Property)
        case kind(ValueKind?)
    }

    private func source(_ value: ManifestValue, _ wanted: Wanted) throws(Failure) -> Injection.Source {
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
}

extension Failure {
    fileprivate func isSame(as other: Failure) -> Bool {
        code == other.code && message == other.message && path == other.path && place == other.place
    }
}
