internal import InvivoBase
internal import InvivoContexts
internal import InvivoReload
internal import InvivoSpec

extension ApplicationStart {
    /// The assemblies of the start: the manifest's, or those that the host gives.
    func activate(in wiring: inout ChangeSet, _ failures: inout [Failure]) {
        let cause = wiring.cause
        wiring = given
        wiring.cause = cause
        wiring.started()
        if let first = manifest.assemblies.first, !given.assemblies.isEmpty {
            failures.append(
                Failure(
                    .exists,
                    "the manifest lists assemblies, and the host gives others: use only one of the two",
                    path: first.path, at: first.location))
            return
        }
        for assembly in manifest.assemblies {
            do throws(Failure) {
                wiring.assemblies.append(.activate(try activation(assembly)))
            } catch {
                // One that is not known may be of a module that could not be loaded.
                guard unloaded.isEmpty else { continue }
                failures.append(Failure(error.code, error.message, path: assembly.path, at: assembly.location))
            }
        }
    }

    /// Declares the kinds of contexts, which follow those that modules have declared.
    func declareContexts(_ failures: inout [Failure]) {
        for kind in manifest.contexts {
            do throws(Failure) {
                let provides = try kind.provides.map { provided throws(Failure) in
                    ContextKind.Provided(key: try engine.container.intern(provided.key), isLive: provided.isLive)
                }
                try engine.container.registry.contexts.kinds.declare([
                    ContextKind(name: kind.name, policy: ContextKind.follows, provides: provides)
                ])
            } catch { failures.append(Failure(error.code, error.message, path: kind.path, at: kind.location)) }
        }
    }

    /// The sections of the manifest that are settings, each bound by its type.
    func bindSettings(in wiring: inout ChangeSet, _ failures: inout [Failure]) {
        for settings in manifest.settings {
            do throws(Failure) {
                let bind = try engine.modules.settings.bind(settings.type)
                try bind(engine, &wiring, settings.name, settings.section)
            } catch {
                // The type may be one of a module that could not be loaded.
                guard error.code != .notFound || unloaded.isEmpty else { continue }
                failures += error.all.map { failure in
                    Failure(
                        failure.code, failure.message, path: settings.path, at: settings.location,
                        cause: failure.cause.first)
                }
            }
        }
    }

    private func activation(_ assembly: ManifestAssembly) throws(Failure) -> AssemblyChange.Activation {
        let container = engine.container
        let known = container.registry.assemblies.described
        guard let description = known[assembly.name] else {
            let hint = suggestion(for: assembly.name, among: known.keys.sorted())
            throw Failure(
                .notFound,
                "no module describes an assembly '\(assembly.name)'"
                    + (hint.isEmpty && !known.isEmpty
                        ? "; there are: \(known.keys.sorted().listed())" : hint))
        }
        return AssemblyChange.Activation(
            name: assembly.prefix ?? assembly.name, description: description,
            remaps: assembly.remaps.map { AssemblyRemap(from: $0.from, to: $0.to) })
    }
}
