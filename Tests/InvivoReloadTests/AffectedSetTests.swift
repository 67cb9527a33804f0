import CInvivo
import Glibc
import CPlatform
import InvivoBase
import InvivoGraph
import InvivoReload
import InvivoWiring
import Testing

@Suite(.serialized, .tags(.concurrent)) struct AffectedSetTests {
    /// An object that records its dependencies, from the initializer or properties.
    private func nodeType(in container: Container) throws -> ObjectType {
        let names = (0..<3).map { strdup("in\($0)") } + (0..<3).map { strdup("set\($0)") }
        defer { names.forEach { free($0) } }
        let parameters = (0..<3).map {
            invivo_parameter(
                name: names[$0], kind: invivo_kind(INVIVO_KIND_OBJECT), flags: UInt32(INVIVO_PARAMETER_OPTIONAL),
                type_name: nil)
        }
        let properties = (0..<3).map { index -> invivo_property in
            var property = invivo_property()
            property.struct_size = MemoryLayout<invivo_property>.size
            property.name = UnsafePointer(names[3 + index])
            property.kind = invivo_kind(INVIVO_KIND_OBJECT)
            property.get = { _, _, out, _ in
                out?.pointee = invivo_null()
                return 0
            }
            property.set = { _, _, _, _ in 0 }
            return property
        }
        return try "Node".withCString { name in
            try parameters.withUnsafeBufferPointer { parameters in
                try properties.withUnsafeBufferPointer { properties in
                    var options = invivo_type_options()
                    options.struct_size = MemoryLayout<invivo_type_options>.size
                    options.name = name
                    (options.size, options.alignment) = (8, 8)
                    (options.parameters, options.parameter_count) = (parameters.baseAddress, 3)
                    (options.properties, options.property_count) = (properties.baseAddress, 3)
                    return try container.register(try TypeTables.type(&options))
                }
            }
        }
    }

    /// Random graphs of singletons; definitions are replaced one after the other. Exactly the dependents through
    /// initializers are replaced; all other objects keep their identity.
    @Test(arguments: [11, 12, 13, 14, 15] as [UInt64]) func exactlyTheInitializerDependentsAreRebuilt(seed: UInt64)
        throws
    {
        var dice = Dice(seed: seed)
        let count = 24
        let engine = try Engine.open(EngineOptions())
        let container = engine.container
        let type = try nodeType(in: container)
        var initializers: [[Int]] = []
        var properties: [[Int]] = []
        func definition(_ index: Int) throws -> Definition {
            Definition(
                id: try container.intern("n.k\(index)"), key: "n.k\(index)", scope: .singleton, type: type,
                initializer: initializers[index].enumerated().map {
                    Injection(name: "in\($0)", .reference("n.k\($1)"))
                },
                properties: properties[index].enumerated().map { Injection(name: "set\($0)", .reference("n.k\($1)")) })
        }
        var set = ChangeSet()
        for index in 0..<count {
            func some() -> [Int] {
                index == 0 ? [] : Array(Set((0..<dice.next(3)).map { _ in dice.next(index) })).sorted()
            }
            initializers.append(some())
            properties.append(some())
            set.definitions.append(try definition(index))
        }
        try engine.commit(set)
        func objects() -> [UInt64] {
            let graph = container.currentGraph()
            return (0..<count).map { index in
                (try? container.definedKey("n.k\(index)")).flatMap { graph.cell($0)?.object } ?? 0
            }
        }
        var before = objects()
        #expect(!before.contains(0))
        for step in 0..<60 {
            let changed = dice.next(count)
            var expected: Set<Int> = [changed]
            for index in 0..<count where !expected.isDisjoint(with: initializers[index]) { expected.insert(index) }
            var set = ChangeSet()
            set.definitions = [try definition(changed)]
            try engine.commit(set)
            let after = objects()
            let remade = Set((0..<count).filter { before[$0] != after[$0] })
            #expect(remade == expected, "seed \(seed), step \(step): replaced k\(changed)")
            before = after
        }
        #expect(engine.inspect().objects == UInt64(count))
        try engine.close(deferring: false)
    }

    /// After a failing reload every object keeps its identity, wherever it fails.
    @Test func aRefusedDefinitionLeavesEveryObject() throws {
        let engine = try Engine.open(EngineOptions())
        let container = engine.container
        let type = try nodeType(in: container)
        var set = ChangeSet()
        for index in 0..<4 {
            set.definitions.append(
                Definition(
                    id: try container.intern("f.k\(index)"), key: "f.k\(index)", scope: .singleton, type: type,
                    initializer: index == 0 ? [] : [Injection(name: "in0", .reference("f.k\(index - 1)"))]))
        }
        try engine.commit(set)
        let graph = container.currentGraph()
        var broken = ChangeSet()
        broken.definitions = [
            Definition(
                id: try container.intern("f.k0"), key: "f.k0", scope: .singleton, type: type,
                initializer: [Injection(name: "in0", .reference("f.k3"))])
        ]
        #expect(throws: Failure.self) { try engine.commit(broken) }
        broken.definitions = [
            Definition(
                id: try container.intern("f.k0"), key: "f.k0", scope: .singleton, type: type,
                initializer: [Injection(name: "in0", .reference("f.nowhere"))])
        ]
        do {
            try engine.commit(broken)
            Issue.record("a missing reference was accepted")
        } catch {
            #expect(error.code == .notFound)
            #expect(error.text.contains("'f.nowhere', which is not defined"))
        }
        #expect(container.currentGraph() === graph)
        try engine.close(deferring: false)
    }
}
