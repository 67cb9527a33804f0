import InvivoBase
import InvivoConfig
import InvivoTraits
import Testing

@testable import InvivoGraph
@testable import InvivoReload
@testable import InvivoWiring

/// Plans are pure functions: these tests have no runtime, no lock, no thread and no file.
@Suite(.tags(.rawMemory)) struct PlannerTests {
    /// Answers about instances from dictionaries.
    private struct Instances: Observed {
        var held: Set<UInt32> = []
        func isHeld(_ id: UInt32) -> Bool { held.contains(id) }
        func runs(_ id: UInt32) -> [Int: RampRun] { [:] }
        func isBuilding(_ id: UInt32) -> Bool { false }
        func sharedObject(_ id: UInt32) -> UInt64 { 0 }
        func objects(_ id: UInt32) -> [UInt64] { [] }
        func trackedObjects(_ id: UInt32) -> [TrackedObject] { [] }
        func builtKeys(_ scope: Scope) -> Set<UInt32> { [] }
        func recordedDependents(of id: UInt32) -> Set<UInt32> { [] }
        func recordedDependencies(of id: UInt32) -> Set<UInt32> { [] }
        func targets(_ id: UInt32) -> [Target] { [] }
        func children(of keys: some Sequence<UInt32>) -> [UInt64] { [] }
        func concerned(
            by changed: [UInt64], owners: [UInt32], settable: Set<UInt64>, rebuilt: IDSet,
            _ ownersOf: (UInt32) -> [UInt32]
        ) -> Owners.Concerned { Owners.Concerned() }
        var hasCalledObjects: Bool { true }
        var hasOwners: Bool { false }
        var hasUnfinished: Bool { false }
        var targetKeys: [UInt32] { [] }
        func attachment(of object: UInt64) -> Target? { nil }
        func key(of object: UInt64) -> UInt32? { nil }
    }

    private struct NoTypes: Registrations {
        var assemblies = NameTable<AssemblyDescription>()
        func type(named name: String) throws(Failure) -> ObjectType {
            throw Failure(.notFound, "no type '\(name)' is registered")
        }
        func inactiveAssembly(of key: String) -> String? { nil }
        var hostKinds: [UInt32: Set<ValueKind>] { [:] }
        func lookup(_ layers: ConfigLayers) -> ConfigLookup { .none }
        var hostPaths: Set<UInt32> { [] }
        var hasReadPaths: Bool { false }
        var readPaths: PathTrie { PathTrie() }
        func noteRead(_ path: String) -> UInt32? { nil }
        func scopeFailure(_ scope: Scope, _ name: String?) -> Failure? { nil }
        func isKind(_ inner: String, inside outer: String) -> Bool { false }
        func provides(_ key: String, in kind: String) -> Bool { false }
        var fillsNeeds: Bool { true }
    }

    /// A sequence of generations without a runtime.
    private final class World {
        let keys = KeyTable(owner: 0)
        let names: KeyNames
        var snapshot = Snapshot()
        var graph: Graph
        var registrations = NoTypes()

        init() {
            names = KeyNames(keys, guardedBy: Monitor())
            graph = Graph(generation: 0, keys: keys)
        }

        func id(_ key: String) throws(Failure) -> UInt32 { try names.intern(key) }

        func plan(_ set: ChangeSet) throws(Failure) -> Plan {
            let planner = Planner(
                before: snapshot, graph: graph, names: names, observed: Instances(), registrations: registrations,
                declare: { _, _, _ in [] }, call: { _ in [] }, limits: Planner.Limits(), manifest: "")
            var warnings: [Report.Warning] = []
            return try planner.plan(Staged(set), &warnings)
        }

        func commit(_ set: ChangeSet) throws(Failure) {
            let plan = try plan(set)
            let next = plan.editor.finish(generation: graph.generation + 1, keys: keys)
            snapshot = snapshot.applying(
                plan.wiring, plan.findings, plan.dependencies, plan.restarts, former: graph, next: next, names)
            graph = next
        }

        /// A blocked definition of a type that is not registered, optionally with a reference.
        func blocked(_ key: String, _ reference: String? = nil) throws(Failure) -> Definition {
            var body = Definition.Body()
            body.typeName = "Clock"
            body.flags = [.waits]
            if let reference {
                body.properties = [Injection(name: "next", .reference(reference, arguments: [], isOptional: false))]
            }
            return Definition(id: try id(key), key: key, body)
        }

        func alias(_ key: String, of target: String) throws(Failure) -> Definition {
            var body = Definition.Body()
            body.alias = target
            return Definition(id: try id(key), key: key, body)
        }
    }

    private func set(_ definitions: Definition...) -> ChangeSet {
        var set = ChangeSet()
        set.definitions = definitions
        return set
    }

    @Test func aPlanChangesNothingOfTheSnapshotThatItReads() throws {
        let world = World()
        try world.commit(set(try world.blocked("a.clock")))
        let before = world.snapshot
        let plan = try world.plan(set(try world.blocked("a.second"), try world.alias("a.other", of: "a.clock")))
        #expect(plan.wiring.definitions.changed.count == 2)
        #expect(plan.wiring.compiled.blocked.count == 3)
        #expect(before.blocked.keys.map { world.names.name($0) } == ["a.clock"])
        #expect(world.snapshot.definitions[try world.id("a.second")] == nil)
        #expect(world.graph.generation == 1)
    }

    @Test func aFormerSnapshotStaysAsItWas() throws {
        let world = World()
        try world.commit(set(try world.blocked("a.clock")))
        let former = world.snapshot
        let clock = try world.id("a.clock")
        try world.commit(set(try world.alias("a.alias", of: "a.clock")))
        var removal = ChangeSet()
        removal.removed = [KeyChanges.Removal(try world.id("a.alias"), "a.alias")]
        #expect(world.snapshot.links.aliases[clock].count == 1)
        #expect(former.links.aliases[clock].isEmpty)
        try world.commit(removal)
        #expect(world.snapshot.links.aliases[clock].isEmpty)
        #expect(former.blocked[clock] == ["Clock"])
    }

    @Test func allErrorsAreReportedAtOnce() throws {
        let world = World()
        var unknown = ChangeSet()
        unknown.removed = [
            KeyChanges.Removal(try world.id("a.x"), "a.x"), KeyChanges.Removal(try world.id("a.y"), "a.y"),
        ]
        do {
            _ = try world.plan(unknown)
            Issue.record("the plan must fail")
        } catch {
            #expect(error.all.map(\.path) == ["a.x", "a.y"])
            #expect(error.all.allSatisfy { $0.code == .notFound })
        }
    }

    @Test func theDefinitionsOfAnAssemblyComeAndGoWithIt() throws {
        let world = World()
        let description = AssemblyDescription(
            name: "a", definitions: [try world.blocked("a.clock"), try world.blocked("a.second")], collaborators: [],
            kinds: ["a"], location: Location(), keys: world.names)
        var activation = ChangeSet()
        activation.assemblies = [.activate(AssemblyChange.Activation(name: "a", description: description))]
        try world.commit(activation)
        #expect(world.snapshot.assemblies["a"]?.members.count == 2)
        #expect(world.snapshot.definitions[try world.id("a.second")]?.body.assembly == "a")
        var again = try world.plan(activation)
        #expect(again.wiring.definitions.changed.isEmpty)
        var removal = ChangeSet()
        removal.assemblies = [.deactivate("a")]
        again = try world.plan(removal)
        #expect(again.wiring.definitions.changedAssemblies == ["a"])
        try world.commit(removal)
        #expect(world.snapshot.assemblies["a"] == nil)
        #expect(world.snapshot.definitions[try world.id("a.second")] == nil)
        #expect(world.snapshot.blocked.isEmpty)
    }
}
