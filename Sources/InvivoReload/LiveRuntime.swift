internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

/// The live runtime, as a plan sees it.
struct LiveRuntime: Observed, Registrations {
    private let container: Container
    private let graph: Graph
    private let attached: [UInt32: [Target]]
    private let targets: Targets
    private let moving: IDTable<[Int: RampRun]>

    init(_ container: Container, _ graph: Graph, _ targets: Targets, moving: IDTable<[Int: RampRun]>) {
        self.container = container
        self.moving = moving
        self.graph = graph
        self.targets = targets
        attached = targets.all
    }

    private func ask<Answer>(_ id: UInt32, _ otherwise: Answer, _ body: (Cell) -> Answer) -> Answer {
        guard let cell = graph.cell(id) else { return otherwise }
        return container.monitor.locked { body(cell) }
    }

    func runs(_ id: UInt32) -> [Int: RampRun] { moving[id] ?? [:] }
    func isHeld(_ id: UInt32) -> Bool { ask(id, false) { $0.isHeld() } }
    func isBuilding(_ id: UInt32) -> Bool { ask(id, false) { $0.isBuilding } }
    func sharedObject(_ id: UInt32) -> UInt64 { ask(id, 0) { $0.object } }
    func objects(_ id: UInt32) -> [UInt64] { ask(id, []) { $0.objects().map(\.object) } }
    func trackedObjects(_ id: UInt32) -> [TrackedObject] {
        ask(id, []) { $0.trackedObjects().filter(\.mayExist) }
    }
    func builtKeys(_ scope: Scope) -> Set<UInt32> { container.monitor.locked { container.builds.built(scope) } }

    func children(of keys: some Sequence<UInt32>) -> [UInt64] {
        container.monitor.locked { container.life.owners.children(of: keys) }
    }

    func concerned(
        by changed: [UInt64], owners: [UInt32], settable: Set<UInt64>, rebuilt: IDSet,
        _ ownersOf: (UInt32) -> [UInt32]
    ) -> Owners.Concerned {
        func held(_ id: UInt32) -> [UInt64] {
            guard let cell = graph.cell(id) else { return [] }
            let tracked = cell.trackedObjects().filter(\.mayExist).map(\.object)
            return tracked.isEmpty ? cell.objects().map(\.object) : tracked
        }
        return container.monitor.locked {
            container.life.owners.concerned(
                by: changed, owners: owners.flatMap(held), settable: settable,
                declared: { ownersOf($0).flatMap(held) },
                isReplaced: { (object, id) in
                    guard graph.recipe(id)?.scope.isShared == true else { return false }
                    return rebuilt.contains(id) || graph.cell(id)?.isInstance(object) != true
                })
        }
    }

    var hasCalledObjects: Bool { container.life.owners.areUsed }
    var hasOwners: Bool { container.monitor.locked { !container.life.owners.isEmpty } }
    var hasUnfinished: Bool { container.life.owners.hasUnfinished }

    func recordedDependents(of id: UInt32) -> Set<UInt32> {
        container.monitor.locked { container.builds.dependents(on: id) }
    }

    func recordedDependencies(of id: UInt32) -> Set<UInt32> {
        container.monitor.locked { container.builds.dependencies(of: id) }
    }

    func targets(_ id: UInt32) -> [Target] { attached[id] ?? [] }
    var targetKeys: [UInt32] { Array(attached.keys) }
    func attachment(of object: UInt64) -> Target? { targets.target(of: object) }

    func key(of object: UInt64) -> UInt32? {
        guard let record = ObjectTable.record(object), record.pointee.key > 0 else { return nil }
        return record.pointee.key - 1
    }

    // MARK: registrations

    func type(named name: String) throws(Failure) -> ObjectType { try container.registry.type(named: name) }
    var assemblies: NameTable<AssemblyDescription> { container.registry.assemblies.described }
    func scopeFailure(_ scope: Scope, _ name: String?) -> Failure? { container.registry.scopes.failure(scope, name) }
    func isKind(_ inner: String, inside outer: String) -> Bool {
        container.registry.scopes.isKind(inner, inside: outer)
    }
    func provides(_ key: String, in kind: String) -> Bool { container.registry.scopes.provides(key, in: kind) }
    var fillsNeeds: Bool { container.registry.fillsNeeds }
    func inactiveAssembly(of key: String) -> String? { container.registry.assemblies.inactiveAssembly(of: key) }
    var hostKinds: [UInt32: Set<ValueKind>] { container.monitor.locked { container.registry.configReads.hostKinds } }
    func lookup(_ layers: ConfigLayers) -> ConfigLookup { container.registry.configLookup(layers) }
    var hostPaths: Set<UInt32> { container.monitor.locked { container.registry.configReads.hostPaths } }
    var hasReadPaths: Bool { container.monitor.locked { !container.registry.configReads.isEmpty } }
    var readPaths: PathTrie { container.monitor.locked { container.registry.configReads.paths } }
    func noteRead(_ path: String) -> UInt32? {
        container.monitor.locked { container.registry.configReads.id(of: path) }
    }
}
