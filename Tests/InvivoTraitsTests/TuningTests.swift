import CInvivo
import Glibc
import InvivoBase
import InvivoGraph
import InvivoObjects
import InvivoSpec
import InvivoTraits
import InvivoWiring
import Testing

extension Tag {
    /// Suites of code that uses unsafe pointers: the sanitizers run them (scripts/tagged).
    @Tag static var rawMemory: Self
}

/// The layers of one instance in plain memory are compared with a simple model, without a runtime.
@Suite(.tags(.rawMemory)) struct TuningTests {
    /// An instance of the type "Numbers". Its properties a, b and c have the range 0 to 100 and the initial values 1, 2 and 3.
    private final class Instance {
        static let names = ["a", "b", "c"]
        private let container: Container
        let type: ObjectType
        let memory: UnsafeMutablePointer<Double>
        let tuning = Tuning()

        init() throws {
            let texts = Self.names.map { strdup($0) }
            defer { texts.forEach { free($0) } }
            let properties = texts.map { text in
                var property = invivo_property()
                property.struct_size = MemoryLayout<invivo_property>.size
                property.name = UnsafePointer(text)
                property.kind = invivo_kind(INVIVO_KIND_DOUBLE)
                property.size = 8
                (property.min, property.max) = (0, 100)
                return property
            }
            // The container holds the types and is never opened.
            let (core, tag) = try #require(Readers.takeCore())
            Readers.freeCore(core)
            let container = Container(
                core: core, tag: tag, name: "test",
                defaultDomain: Domain(name: "test", kind: .thread(identity: currentThread().identity)),
                options: LiveOptions(log: Log(level: 0, sink: nil)), fillsNeeds: true)
            self.container = container
            type = try properties.enumerated().map { index, property in
                var property = property
                property.offset = UInt64(index * 8)
                property.initial = Double(index + 1)
                return property
            }.withUnsafeBufferPointer { properties in
                try "Numbers".withCString { name in
                    var options = invivo_type_options()
                    options.struct_size = MemoryLayout<invivo_type_options>.size
                    options.name = name
                    options.properties = properties.baseAddress
                    options.property_count = 3
                    (options.size, options.alignment) = (24, 8)
                    return try container.register(try TypeTables.type(&options))
                }
            }
            memory = .allocate(capacity: 3)
            for index in 0..<3 { memory[index] = Double(index + 1) }
        }

        deinit {
            memory.deallocate()
            // A container and its types refer to each other.
            container.forget()
        }

        var values: [Double] { (0..<3).map { memory[$0] } }

        func change(to layers: [Layer], bases: [Tuning.Base] = [], undo: inout Undo) throws(Failure) -> [Tuning.Outcome]
        {
            try tuning.change(type, UnsafeMutableRawPointer(memory), to: layers, bases: bases, undo: &undo)
        }

        @discardableResult func change(to layers: [Layer], bases: [Tuning.Base] = []) throws(Failure) -> [Tuning
            .Outcome]
        {
            var undo = Undo()
            return try change(to: layers, bases: bases, undo: &undo)
        }
    }

    private func layer(_ property: Int, _ value: Double) -> Layer {
        Layer(property: property, value: .double(value))
    }

    @Test func theBaseValueIsRestoredWithTheLastLayer() throws {
        let instance = try Instance()
        try instance.change(to: [layer(0, 10), layer(1, 20)])
        #expect(instance.values == [10, 20, 3])
        try instance.change(to: [layer(1, 25)])
        #expect(instance.values == [1, 25, 3])
        try instance.change(to: [])
        #expect(instance.values == [1, 2, 3])
    }

    @Test func aBaseValueThatChangesUnderALayerAppliesWhenTheLayerIsRemoved() throws {
        let instance = try Instance()
        try instance.change(to: [layer(0, 10)])
        try instance.change(to: [layer(0, 10)], bases: [(0, .double(7))])
        #expect(instance.values[0] == 10)
        try instance.change(to: [])
        #expect(instance.values[0] == 7)
    }

    @Test func aPropertyThatOtherCodeChangedIsReportedAndNotOverwritten() throws {
        let instance = try Instance()
        try instance.change(to: [layer(2, 30)])
        instance.memory[2] = 31
        let outcomes = try instance.change(to: [])
        #expect(instance.values[2] == 31)
        #expect(outcomes.count == 1)
        guard case .left(let expected, let found)? = outcomes.first?.what else {
            Issue.record("the change is not reported")
            return
        }
        #expect(expected.isSame(as: .double(30)) && found.isSame(as: .double(31)))
    }

    /// Random changes, each of which may be undone. In the model a property has the value of its layer, or else its base value.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func anInstanceEqualsTheModel(_ seed: UInt64) throws {
        var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        let instance = try Instance()
        var bases = [1.0, 2, 3]
        var layers: [Int: Double] = [:]
        for step in 0..<500 {
            var next: [Int: Double] = [:]
            for property in 0..<3 where random(2) == 0 { next[property] = Double(random(100)) }
            var nextBases = bases
            var changed: [Tuning.Base] = []
            if random(4) == 0 {
                let property = random(3)
                nextBases[property] = Double(random(100))
                changed.append((property, .double(nextBases[property])))
            }
            // A value that the host sets to a property without a layer is its new base value.
            let free = (0..<3).filter { layers[$0] == nil }
            if random(4) == 0, let property = free.first {
                instance.memory[property] = Double(random(100))
                if !changed.contains(where: { $0.index == property }) {
                    nextBases[property] = instance.memory[property]
                }
                bases[property] = instance.memory[property]
            }
            var undo = Undo()
            let order = next.keys.sorted { ($0 + step) % 3 < ($1 + step) % 3 }
            let outcomes = try instance.change(to: order.map { layer($0, next[$0] ?? 0) }, bases: changed, undo: &undo)
            #expect(outcomes.isEmpty)
            #expect(instance.values == (0..<3).map { next[$0] ?? nextBases[$0] }, "step \(step)")
            if random(3) == 0 {
                #expect(undo.run().isEmpty && undo.isEmpty)
                #expect(instance.values == (0..<3).map { layers[$0] ?? bases[$0] }, "step \(step), undone")
            } else {
                (layers, bases) = (next, nextBases)
            }
        }
        try instance.change(to: [])
        #expect(instance.values == bases)
    }

    // MARK: layers

    @Test func theTopmostLayerOfAPropertyIsEffective() throws {
        let type = try Instance().type
        let layers = try TargetLayers(
            type: type,
            [(0, 1.0), (1, 2), (0, 3)].map { .layer(DeclaredLayer(property: $0, .set, .double($1))) })
        #expect(layers.effective.mapValues { "\($0.value)" } == [0: "\(Value.double(3))", 1: "\(Value.double(2))"])
        #expect(layers.live.map(\.property) == [0, 1])
        #expect(layers.atCreation.isEmpty)
    }

    private let table = TraitTable(TraitTypes()) { _, _, _ in [] }

    private func traits(_ text: String) throws -> [FlatTrait] {
        let bytes = Array("traits:\n  key:\n\(text)\n".utf8)
        let document = try bytes.withUnsafeBytes { try TraitDocument.read($0, file: "test.yaml", format: .yaml) }
        return try #require(try document["key"]).traits.map { FlatTrait($0, isActive: true) }
    }

    @Test func traitsBecomeLayersInTheirOrder() throws {
        let type = try Instance().type
        let layers = try table.layers(
            for: "key", type: type, traits("    - Set: { b: 5, a: 6 }\n    - Set: { a: 7 }"), .init(warn: { _, _ in }))
        #expect(layers.live.map(\.property) == [1, 0])
        #expect(layers.effective[0]?.value.isSame(as: .double(7)) == true)
        #expect(layers.effective[0]?.location.location.line == 4)
    }

    @Test func allErrorsOfAKeyAreReportedAtOnce() throws {
        let type = try Instance().type
        let traits = try traits("    - Set: { d: 5, a: 101 }\n    - Sett: { a: 7 }")
        do throws(Failure) {
            _ = try table.layers(for: "key", type: type, traits, .init(warn: { _, _ in }))
            Issue.record("invalid traits are accepted")
        } catch {
            #expect(error.all.count == 3)
            #expect(error.all.map(\.location.line) == [3, 3, 4])
        }
    }

    // MARK: relative layers

    private func shown(_ text: String, over base: [Double]) throws -> [Double] {
        let instance = try Instance()
        for index in 0..<3 { instance.memory[index] = base[index] }
        let layers = try table.layers(for: "key", type: instance.type, traits(text), .init(warn: { _, _ in }))
        try instance.change(to: layers.live)
        let values = instance.values
        try instance.change(to: [])
        #expect(instance.values == base)
        return values
    }

    @Test func scalesAndOffsetsChangeTheValueBelow() throws {
        #expect(try shown("    - Scale: { a: 0.5 }\n    - Offset: { a: 3 }", over: [8, 2, 3]) == [7, 2, 3])
        #expect(try shown("    - Offset: { a: 3 }\n    - Scale: { a: 0.5 }", over: [8, 2, 3]) == [5.5, 2, 3])
        #expect(try shown("    - Set: { a: 20 }\n    - Scale: { a: 50 % }", over: [8, 2, 3]) == [10, 2, 3])
        #expect(try shown("    - Scale: { a: 9 }\n    - Set: { a: 4 }", over: [80, 2, 3]) == [4, 2, 3])
        #expect(throws: Failure.self) { try shown("    - Scale: { a: 2 }", over: [80, 2, 3]) }
        #expect(throws: Failure.self) { try shown("    - Set: { a: 60 }\n    - Scale: { a: 2 }", over: [8, 2, 3]) }
    }

    @Test func aRelativeLayerFollowsANewBaseValue() throws {
        let instance = try Instance()
        let layers = try table.layers(
            for: "key", type: instance.type, traits("    - Scale: { a: 3 }"), .init(warn: { _, _ in }))
        try instance.change(to: layers.live)
        #expect(instance.values[0] == 3)
        try instance.change(to: layers.live, bases: [(0, .double(5))])
        #expect(instance.values[0] == 15)
        // An unchanged layer is not applied twice.
        try instance.change(to: layers.live)
        #expect(instance.values[0] == 15)
        try instance.change(to: [])
        #expect(instance.values[0] == 5)
    }

    // MARK: undo

    @Test func allStepsAreUndoneInReverseOrderThoughOneFails() throws {
        let order = Order()
        var undo = Undo()
        #expect(undo.isEmpty)
        for number in 1...3 {
            undo.add { () throws(Failure) in
                order.numbers.append(number)
                if number == 2 { throw Failure(.host, "step \(number)") }
            }
        }
        #expect(undo.run().map(\.message) == ["step 2"])
        #expect(order.numbers == [3, 2, 1])
        #expect(undo.isEmpty && undo.run().isEmpty)
    }

    private final class Order { var numbers: [Int] = [] }
}
