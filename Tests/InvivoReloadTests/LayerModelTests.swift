import CInvivo
import Glibc
import InvivoBase
import InvivoGraph
import InvivoReload
import InvivoWiring
import Testing

/// A separate generator, so that a failing run can be repeated from its printed seed.
struct Dice {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(bound, 1)))
    }
}

/// A type with three numbers in a plain struct, instance or block.
func numbersType(_ name: String, inBlock: Bool, in container: Container) throws -> ObjectType {
    let names = ["a", "b", "c"]
    let texts = names.map { strdup($0) }
    defer { texts.forEach { free($0) } }
    var properties = texts.enumerated().map { index, text -> invivo_property in
        var property = invivo_property()
        property.struct_size = MemoryLayout<invivo_property>.size
        property.name = UnsafePointer(text)
        property.kind = invivo_kind(INVIVO_KIND_DOUBLE)
        property.flags = inBlock ? UInt32(INVIVO_PROPERTY_BLOCK) : 0
        property.offset = UInt64(index * 8)
        property.size = 8
        property.initial = Double(index + 1)
        property.min = 0
        property.max = 100
        return property
    }
    return try name.withCString { name in
        try properties.withUnsafeMutableBufferPointer { properties in
            var options = invivo_type_options()
            options.struct_size = MemoryLayout<invivo_type_options>.size
            options.name = name
            options.properties = UnsafePointer(properties.baseAddress)
            options.property_count = 3
            if inBlock { options.block_size = 24 } else { (options.size, options.alignment) = (24, 8) }
            return try container.register(try TypeTables.type(&options))
        }
    }
}

@Suite(.serialized, .tags(.concurrent)) struct LayerModelTests {
    /// Documents are added, changed, removed and fail in random order. After each step an object and a block equal a
    /// model: the base, then every document in order; a later layer wins.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func layersAlwaysShowTheBasePlusTheDocuments(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let engine = try Engine.open(EngineOptions())
        let container = engine.container
        for (key, inBlock) in [("m.object", false), ("m.block", true)] {
            var set = ChangeSet()
            let type = try numbersType(inBlock ? "Block" : "Object", inBlock: inBlock, in: container)
            set.definitions = [Definition(id: try container.intern(key), key: key, scope: .singleton, type: type)]
            try engine.commit(set)
        }
        let objectID = try container.definedKey("m.object")
        let blockID = try container.definedKey("m.block")
        let object = try container.resolve(objectID)
        let record = try #require(ObjectTable.record(object))
        let documents = try (0..<3).map {
            try engine.openDocument(engine.newDocument(.bytes(Array("{}".utf8)), name: "d\($0).yaml"))
        }
        // [document: [(property, value)] in order]
        var model: [[(Int, Double)]] = [[], [], []]
        for step in 0..<400 {
            let which = dice.next(3)
            let layers = (0..<dice.next(5)).map { _ in (dice.next(3), Double(dice.next(100))) }
            let breaks = dice.next(5) == 0
            var text = "traits:\n"
            for key in ["m.object", "m.block"] {
                text += "  \(key):\n"
                for (property, value) in layers { text += "    - Set: { \(["a", "b", "c"][property]): \(value) }\n" }
                if breaks { text += "    - Set: { a: 101 }\n" }
                if layers.isEmpty && !breaks { text += "    []\n" }
            }
            let before = container.currentGraph().generation
            do {
                try engine.update(documents[which], text: Array(text.utf8))
                #expect(!breaks, "seed \(seed), step \(step)")
                model[which] = layers
            } catch {
                #expect(breaks, "seed \(seed), step \(step): \(error)")
                #expect(container.currentGraph().generation == before)
            }
            var expected = [1.0, 2.0, 3.0]
            for (property, value) in model.flatMap({ $0 }) { expected[property] = value }
            let instance = try #require(record.pointee.instance)
            let seen = (0..<3).map { instance.load(fromByteOffset: $0 * 8, as: Double.self) }
            let block = try #require(container.currentGraph().block(blockID))
            let shown = (0..<3).map { block.bytes.load(fromByteOffset: $0 * 8, as: Double.self) }
            #expect(seen == expected && shown == expected, "seed \(seed), step \(step)")
        }
        #expect(ObjectTable.release(object))
        try engine.close(deferring: false)
    }
}
