internal import InvivoBase
internal import InvivoConfig
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoReload
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

/// The start of an application: its manifest and its documents take effect as one reload. A start that fails reports
/// every error of both, each once.
struct ApplicationStart {
    let engine: Engine
    let reader: ManifestReader
    /// Modules that could not be loaded: a type that is not known may be one of theirs.
    let unloaded: [Failure]
    /// The host's change set, which replaces the manifest's assemblies.
    let given: ChangeSet
    let waits: Bool

    var manifest: AppManifest { reader.manifest }

    init(_ engine: Engine, _ manifest: AppManifest, unloaded: [Failure], given: ChangeSet, waits: Bool) {
        self.engine = engine
        reader = ManifestReader(manifest, in: engine.container.registry)
        self.unloaded = unloaded
        self.given = given
        self.waits = waits
    }

    func run(_ specs: [SpecSource]) throws(Failure) {
        let input = try read(specs)
        var whole = input.wiring
        for document in input.documents { whole.openBelow(document) }
        do throws(Failure) { try engine.commit(whole) } catch {
            // The documents of a set that failed are closed. They are read again, for sets of their own.
            guard !waits, let again = try? read(specs) else { throw error }
            var failures = error.all
            for other in wiringFailures(again.wiring) + documentFailures(again.outlines, again.documents)
            where !failures.contains(where: other.isSame(as:)) {
                failures.append(other)
            }
            throw Failure.gathered(failures) ?? error
        }
    }

    /// Checks the application without creating objects. Logs the warnings. Throws all errors, or returns the wiring that it would have.
    func check(_ specs: [SpecSource]) throws(Failure) -> WiringFacts? {
        let input = try read(specs)
        var whole = input.wiring
        if !waits { for document in input.documents { whole.openBelow(document) } }
        var found = engine.examine(whole)
        for warning in found.warnings { engine.container.log(.warning, warning.text, warning.fields) }
        if !waits && !found.failures.isEmpty {
            for other in wiringFailures(input.wiring) + documentFailures(input.outlines, input.documents)
            where !found.failures.contains(where: other.isSame(as:)) {
                found.failures.append(other)
            }
        }
        if let failure = Failure.gathered(found.failures) { throw failure }
        return found.facts
    }

    /// Reads the documents into one change set. Throws all errors if a document cannot be read.
    private func read(_ specs: [SpecSource]) throws(Failure) -> (
        wiring: ChangeSet, outlines: ChangeSet, documents: [NewDocument]
    ) {
        var wiring = ChangeSet(Cause(.manifest, manifest.file))
        // Every component with its type alone: enough to check the documents.
        var outlines = ChangeSet(Cause(.manifest, manifest.file))
        var typeless: NameSet = []
        var failures = unloaded
        declareContexts(&failures)
        activate(in: &wiring, &failures)
        for secret in manifest.secrets {
            wiring.declare(secret: ConfigPath.whole(secret.name), true, at: secret.location)
        }
        bindSettings(in: &wiring, &failures)
        outlines.declareSecrets(of: wiring)
        var reader = reader
        reader.secrets = engine.secretPaths(with: wiring)
        outlines.definitions = wiring.definitions
        outlines.assemblies = wiring.assemblies
        for component in manifest.components {
            var type: ObjectType?
            do throws(Failure) {
                type = try component.type.map { name throws(Failure) in try engine.container.registry.type(named: name)
                }
            } catch {
                if unloaded.isEmpty {
                    failures.append(
                        Failure(error.code, error.message, path: component.path, at: component.typeLocation))
                }
            }
            let outline = Definition(
                id: try engine.container.intern(component.key), key: component.key, scope: .prototype,
                type: type ?? reader.type(of: component), location: component.keyLocation
            ).with { body in
                body.isPartial = true
                body.specKey = component.life.specKey
            }
            let isKnown = type != nil || component.type == nil
            if outline.type != nil { outlines.definitions.append(outline) }
            if reader.lacksType(component) { typeless.insert(component.key) }
            if isKnown {
                let inlines = InlineDefinitions()
                wiring.definitions.append(try reader.definition(component, type, &failures, inlines))
                wiring.definitions += inlines.definitions
                outlines.definitions += inlines.definitions.filter { $0.type != nil }.map {
                    Definition(id: $0.id, key: $0.key, scope: .prototype, type: $0.type, location: $0.location)
                        .with { $0.isPartial = true }
                }
            } else {
                wiring.definitions.append(outline)
            }
        }
        // Errors that reading finds are errors of the wiring, too.
        for index in failures.indices where failures[index].path.hasPrefix("components.") {
            failures[index].finding = failures[index].finding ?? Finding(failures[index].code)
        }
        for decorator in manifest.decorators { wiring.process(try reader.processor(decorator)) }
        if let config = manifest.config {
            wiring.openBelow(engine.newDocument(.config(try ConfigNode(document: config)), name: manifest.file))
        }
        let documents = specs.map { $0.document(of: engine, waits: waits) }
        guard failures.isEmpty else {
            let wrong = waits ? [] : documentFailures(outlines, documents)
            var whole = wiring
            for document in documents { whole.openBelow(document) }
            // Missing configuration values are reported only when all documents are valid.
            for other in (waits || !wrong.isEmpty ? wiringFailures(wiring) : engine.check(whole)) + wrong
            where !failures.contains(where: other.isSame(as:)) {
                failures.append(other)
            }
            // Errors that follow from an unknown type are not reported: the type was reported.
            failures.removeAll { failure in
                typeless.contains(failure.path)
                    || failure.path.hasPrefix("traits.") && typeless.contains(String(failure.path.dropFirst(7)))
            }
            throw Failure.gathered(failures) ?? Failure(.spec, "the manifest is wrong", path: manifest.file)
        }
        return (wiring, outlines, documents)
    }

    /// The errors of the wiring alone. Settings and missing configuration values are excluded, because the spec files may set them.
    private func wiringFailures(_ wiring: ChangeSet) -> [Failure] {
        var others = wiring.withoutSettings
        others.declareSecrets(of: wiring)
        return engine.check(others).filter { $0.code != .notConfigured }
    }

    /// The errors of each document, independent of errors in the wiring.
    private func documentFailures(_ outlines: ChangeSet, _ documents: [NewDocument]) -> [Failure] {
        // Components without a type of their own, such as choices, have no outline, and are defined all the same.
        let outlined = NameSet(outlines.definitions.map(\.key))
        let others = NameSet(
            manifest.components.map(\.key).filter { !outlined.contains($0) }.flatMap {
                ["wiring.\($0)", "traits.\($0)"]
            })
        return documents.flatMap { document in
            var set = outlines
            set.open(document)
            return engine.check(set).filter { !others.contains($0.path) }
        }
    }
}
