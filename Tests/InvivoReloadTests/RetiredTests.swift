import CInvivo
import Glibc
import InvivoBase
import InvivoGraph
import InvivoReload
import InvivoWiring
import Synchronization
import Testing

@Suite(.serialized, .tags(.concurrent)) struct RetiredTests {
    /// A type with one number, whose language refers to each instance twice: one reference more than at first.
    private func referredType(in container: Container) throws -> ObjectType {
        try "Referred".withCString { name in
            try "number".withCString { number in
                var property = invivo_property()
                property.struct_size = MemoryLayout<invivo_property>.size
                property.name = number
                property.kind = invivo_kind(INVIVO_KIND_DOUBLE)
                (property.offset, property.size) = (8, 8)
                property.initial = 1
                var options = invivo_type_options()
                options.struct_size = MemoryLayout<invivo_type_options>.size
                options.name = name
                (options.make, options.release) = (
                    { out, _, _, _, _, _ in
                        out?.pointee = calloc(1, 16)
                        return 0
                    }, { instance, _ in free(instance) }
                )
                options.stop = { _, _, _ in 0 }
                // The first call concerns the new object.
                options.count_references = { instance, _, out, _ in
                    let calls = instance?.assumingMemoryBound(to: UInt64.self)
                    out?.pointee = calls?.pointee ?? 0
                    calls?.pointee += 1
                    return 0
                }
                return try withUnsafePointer(to: property) { property in
                    (options.properties, options.property_count) = (property, 1)
                    return try container.register(try TypeTables.type(&options))
                }
            }
        }
    }

    /// The last lease has been released, and the releasing thread has not disposed of the object yet.
    @Test func aTraitReachesAWeakSingletonWhoseLastLeaseIsBeingGivenBack() throws {
        let engine = try Engine.open(EngineOptions())
        let container = engine.container
        var set = ChangeSet()
        let type = try referredType(in: container)
        let id = try container.intern("a.weak")
        set.definitions = [Definition(id: id, key: "a.weak", scope: .weakSingleton, type: type)]
        try engine.commit(set)
        let object = try container.resolve(id)
        let instance = try #require(ObjectTable.record(object)?.pointee.instance)
        func number() -> Double { instance.load(fromByteOffset: 8, as: Double.self) }

        let last = try #require(ObjectTable.giveBack(object))
        let document = engine.newDocument(
            .bytes(Array("traits: { a.weak: [ { Set: { number: 2 } } ] }".utf8)), name: "traits.yaml")
        _ = try engine.openDocument(document)
        ObjectTable.dispose(last)

        #expect(try container.resolve(id) == object)
        #expect(number() == 2)
        #expect(ObjectTable.release(object))
        try engine.close(deferring: false)
    }

    /// Counts and callbacks of the type of the test below. One test at a time uses it.
    private enum Counted {
        static let references = Atomic<UInt64>(0)
        static let stops = Atomic<UInt64>(0)
        static let whileCounting = Mutex<(@Sendable () -> Void)?>(nil)
    }

    private func countedType(in container: Container) throws -> ObjectType {
        try "Counted".withCString { name in
            var options = invivo_type_options()
            options.struct_size = MemoryLayout<invivo_type_options>.size
            options.name = name
            (options.make, options.release) = (
                { out, _, _, _, _, _ in
                    out?.pointee = calloc(1, 16)
                    return 0
                }, { instance, _ in free(instance) }
            )
            options.stop = { _, _, _ in
                Counted.stops.add(1, ordering: .relaxed)
                return 0
            }
            options.count_references = { _, _, out, _ in
                out?.pointee = Counted.references.load(ordering: .relaxed)
                Counted.whileCounting.withLock { action in
                    defer { action = nil }
                    return action
                }?()
                return 0
            }
            return try container.register(try TypeTables.type(&options))
        }
    }

    /// The last reference ends, and another thread requests a check, while the object's references are being counted.
    @Test func aLookThatIsAskedForDuringALookIsNotLost() throws {
        let engine = try Engine.open(EngineOptions())
        let container = engine.container
        // No timer checks again.
        container.retiredObjects.onWaiting = nil
        Counted.references.store(0, ordering: .relaxed)
        Counted.stops.store(0, ordering: .relaxed)
        var set = ChangeSet()
        let id = try container.intern("a.pool")
        set.definitions = [
            Definition(id: id, key: "a.pool", scope: .lazySingleton, type: try countedType(in: container))
        ]
        try engine.commit(set)
        #expect(ObjectTable.release(try container.resolve(id)))

        Counted.references.store(1, ordering: .relaxed)
        var removal = ChangeSet()
        removal.removed = [KeyChanges.Removal(id, "a.pool")]
        try engine.commit(removal)
        #expect(Counted.stops.load(ordering: .relaxed) == 0)

        Counted.whileCounting.withLock { action in
            action = {
                Counted.references.store(0, ordering: .relaxed)
                do {
                    try OwnThread("other") { container.retiredObjects.end() }.join()
                } catch { Issue.record(error) }
            }
        }
        container.retiredObjects.end()
        #expect(Counted.stops.load(ordering: .relaxed) == 1)
        try engine.close(deferring: false)
    }
}
