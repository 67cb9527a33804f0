import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    /// Swift classes as components, used through the runtime like from another language.
    @Suite struct ObjectTypeTests {
        @Test func propertiesAreReadSetAndCheckedByTheirDeclaration() throws {
            try withRuntime { runtime throws in
                try runtime.define("a.player", Player.type)
                let object = try runtime.object("a.player")
                let player = try object.instance(as: Player.self)
                #expect(try object.get("tempo", as: Double.self) == 120)
                try object.set("tempo", 90)
                #expect(player.tempo == 90)
                #expect(failure { try object.set("tempo", 301.0) }.code == .range)
                #expect(failure { try object.set("tempo", "fast") }.code == .type)
                #expect(failure { try object.set("tenpo", 1.0) }.code == .property)
                #expect(failure { try object.set("tenpo", 1.0) }.description.contains("tempo"))
                #expect(failure { try object.set("count", 1) }.code == .readOnly)
                #expect(player.tempo == 90)
            }
        }

        @Test func enumerationsOptionalsAndListsCross() throws {
            try withRuntime { runtime throws in
                try runtime.define("a.player", Player.type)
                let object = try runtime.object("a.player")
                #expect(try object.get("wave", as: Player.Wave.self) == .sine)
                try object.set("wave", "saw")
                #expect(try object.get("wave", as: Player.Wave.self) == .saw)
                #expect(failure { try object.set("wave", "square") }.description.contains("sine"))
                #expect(try object.get("title", as: String?.self) == nil)
                try object.set("title", "Etude")
                #expect(try object.get("title", as: String?.self) == "Etude")
                try object.set("title", String?.none)
                #expect(try object.get("title", as: String?.self) == nil)
                try object.set("notes", [60, 64])
                #expect(try object.get("notes", as: [Int].self) == [60, 64])
            }
        }

        @Test func methodsAreCalledWithCheckedArguments() throws {
            try withRuntime { runtime throws in
                try runtime.define("a.player", Player.type)
                let object = try runtime.object("a.player")
                #expect(try object.call("play", 60) == .null)
                #expect(try object.instance(as: Player.self).notes == [60])
                #expect(try object.call("scaled", 2, 2) == .double(480))
                #expect(try object.call("scaled", 2.0) == .double(240))
                #expect(failure { try object.call("play", "sixty") }.code == .type)
                #expect(failure { try object.call("play") }.code == .arity)
                #expect(failure { try object.call("play", 1, 2) }.code == .arity)
                #expect(failure { try object.call("paly", 1) }.code == .method)
            }
        }

        @Test func aThrownErrorArrivesWithItsCodeMessageAndPath() throws {
            try withRuntime { runtime throws in
                try runtime.define("a.player", Player.type)
                let object = try runtime.object("a.player")
                let error = failure { try object.call("fail") }
                #expect(error.code == .range)
                #expect(error.description.contains("too loud"))
                #expect(error.path == "player.volume")
                #expect(error.file == "etude.mid" && error.line == 3 && error.column == 7)
                let foreign = failure { try object.call("failForeign") }
                #expect(foreign.code == .host)
                #expect(foreign.description.contains("broken"))
            }
        }

        @Test func aSwiftInstanceComesBackIdentical() throws {
            try withRuntime { runtime throws in
                try runtime.define("a.player", Player.type)
                let object = try runtime.object("a.player")
                let own = try object.instance(as: Player.self)
                #expect(try object.call("same", own).get(Player.self) === own)
                let other = Player(clock: nil)
                #expect(try object.call("same", other).get(Player.self) === other)
                #expect(try object.call("same", object).get(Object.self) == object)
            }
        }

        @Test func anInstanceTheGraphHoldsIsPassedAsThatVeryObject() throws {
            try withRuntime { runtime throws in
                let key = try runtime.define("a.player", Player.type)
                let player = try runtime.resolve(key)
                #expect(try runtime.object(for: player) == runtime.object("a.player"))
            }
        }

        @Test func aDescribedClassIsInjectedByKeyIntoAnother() throws {
            try withRuntime { runtime throws in
                try runtime.changes { changes in
                    try changes.define("a.clock", scope: .singleton) { _ in Clock(name: "wall") }
                    try changes.define(
                        "a.player", Player.type, initializer: ["clock": .reference("a.clock")],
                        properties: ["tempo": 60])
                }
                let player = try runtime.resolve("a.player", as: Player.self)
                #expect(player.tempo == 60)
                #expect(try player.clock?.instance(as: Clock.self) === runtime.resolve("a.clock", as: Clock.self))
            }
        }

        @Test func instancesAreReleasedExactlyOnce() throws {
            let before = Counted.alive.load(ordering: .relaxed)
            try withRuntime { runtime throws in
                try runtime.define("a.shared", Counted.type)
                try runtime.define("a.eager", Counted.type, scope: .singleton)
                let fresh = try runtime.define("a.fresh", Counted.type, scope: .prototype)
                _ = try runtime.resolve("a.shared", as: Counted.self)
                for _ in 0..<10 { _ = try runtime.resolve(fresh) }
                _ = try runtime.object("a.fresh")
                let kept = try runtime.resolve(fresh)
                #expect(Counted.alive.load(ordering: .relaxed) == before + 3)
                withExtendedLifetime(kept) {}
            }
            #expect(Counted.alive.load(ordering: .relaxed) == before)
        }

        @Test func aRemovedDefinitionReleasesItsInstance() throws {
            let before = Counted.alive.load(ordering: .relaxed)
            try withRuntime { runtime throws in
                try runtime.define("a.eager", Counted.type, scope: .singleton)
                #expect(Counted.alive.load(ordering: .relaxed) == before + 1)
                try runtime.remove("a.eager")
                try eventually(runtime) { Counted.alive.load(ordering: .relaxed) == before }
            }
        }

        @Test func startAndStopRunOnceEachAroundALife() throws {
            let log = Log<String>()
            let type = ObjectType<Clock>("Started") { type in
                type.make { Clock() }
                type.start { _ in log.add("start") }
                type.stop { _ in log.add("stop") }
            }
            try withRuntime { runtime throws in
                try runtime.define("a.clock", type, scope: .singleton)
                #expect(log.all == ["start"])
            }
            #expect(log.all == ["start", "stop"])
        }

        @Test func aConfinedObjectIsRefusedOnAnotherThread() throws {
            try withRuntime { runtime throws in
                let key = try runtime.define("a.player", Player.type)
                _ = try runtime.resolve(key)
                let codes = Log<InvivoError.Code>()
                onAnotherThread {
                    do { _ = try runtime.resolve(key).tempo } catch { codes.add(InvivoError.of(error).code) }
                }
                #expect(codes.all == [.domain])
            }
        }

        @Test func aTakenTypeNameIsRefused() throws {
            try withRuntime { runtime throws in
                try runtime.register(ObjectType<Clock>("Thing") { $0.make { Clock() } })
                #expect(failure { try runtime.register(ObjectType<Counted>("Thing")) }.code == .exists)
            }
        }

        @Test func tooManyParameterNamesAreAnError() throws {
            try withRuntime { runtime throws in
                let type = ObjectType<Clock>("Named") { $0.method("tick", "one", "two") { (_: Clock, _: Int) in } }
                #expect(failure { try runtime.register(type) }.code == .argument)
            }
        }

        @Test func aTypeWithoutAnInitializerIsAnError() throws {
            try withRuntime { runtime throws in
                let error = failure { try runtime.define("a.thing", ObjectType<Clock>("Unmade"), scope: .singleton) }
                #expect(error.description.contains("Unmade"))
            }
        }
    }
}

final class Counted: Sendable {
    static let alive = Atomic(0)
    init() { Self.alive.add(1, ordering: .relaxed) }
    deinit { Self.alive.subtract(1, ordering: .relaxed) }
    static let type = ObjectType<Counted>("Counted") { $0.make { Counted() } }
}
