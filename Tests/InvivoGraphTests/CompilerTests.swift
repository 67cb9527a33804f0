import CInvivo
import InvivoBase
import InvivoConfig
import Testing

@testable import InvivoGraph

@Suite struct CompilerTests {
    let known = Definitions()

    init() throws {
        try known.type("Clock")
        try known.type("Server", [("clock", Int(INVIVO_KIND_OBJECT), "Clock"), ("port", Int(INVIVO_KIND_INT32), nil)])
    }

    @Test func names_become_ids_and_constants_are_converted() throws {
        try known.define("app.clock", "Clock")
        try known.define("app.server", "Server") {
            $0.initializer = [
                Injection(name: "port", .value(.int64(80))), Injection(name: "clock", .reference("app.clock")),
            ]
        }
        let (recipe, failures) = known.compile("app.server")
        #expect(failures.isEmpty)
        let slots = try #require(recipe?.slots)
        #expect(slots.map(\.position) == [0, 1])
        #expect(slots.flatMap(\.source.keys) == [known.id("app.clock")])
        #expect(slots[1].source.constant?.isSame(as: .int32(80)) == true)
        #expect(recipe?.references.edges.map(\.id) == [known.id("app.clock")])
        #expect(recipe?.references.edges.map(\.edge) == [.initializer])
    }

    @Test func every_error_has_its_location_key_and_advice() throws {
        try known.define("app.clock", "Clock")
        try known.define("app.server", "Server", line: 4) {
            $0.initializer = [
                Injection(name: "clok", .reference("app.clock")), Injection(name: "port", .value(.string("http"))),
            ]
        }
        let lines = known.compile("app.server").failures.map(\.line)
        #expect(lines.count == 3)
        #expect(
            lines.contains(
                "app.yaml:4:3: app.server: 'Server' has no initializer parameter 'clok'; did you mean 'clock'?"))
        #expect(lines.contains { $0.contains("no argument for the initializer parameter 'clock' (Clock) of 'Server'") })
        #expect(lines.contains { $0.hasPrefix("app.yaml:4:3: app.server: ") && $0.contains("port") })
    }

    @Test func a_missing_key_is_an_error_with_a_suggestion_or_blocks_the_definition() throws {
        try known.define("app.clock", "Clock")
        func server(_ flags: Definition.Flags) throws {
            try known.define("app.server", "Server", line: 2) {
                $0.flags = flags
                $0.initializer = [
                    Injection(name: "clock", .reference("app.clok")), Injection(name: "port", .value(.int32(1))),
                ]
            }
        }
        try server([])
        #expect(
            known.compile("app.server").failures.map(\.line) == [
                "app.yaml:2:3: app.server: initializer parameter 'clock' needs 'app.clok', which is not defined; did you mean "
                    + "'app.clock'?"
            ])
        try server(.waits)
        let (recipe, failures) = known.compile("app.server")
        #expect(failures.isEmpty)
        #expect(recipe?.waits == ["app.clok"])
    }

    @Test func an_object_of_another_type_is_refused() throws {
        try known.type("Lamp")
        try known.define("lamp", "Lamp")
        try known.define("server", "Server") {
            $0.initializer = [
                Injection(name: nil, .reference("lamp")), Injection(name: nil, .value(.int32(1))),
            ]
        }
        #expect(
            known.compile("server").failures.map(\.message) == [
                "initializer parameter 'clock' needs an object of type 'Clock', and 'lamp' is of type 'Lamp'"
            ])
    }

    @Test func a_cycle_of_parents_is_reported_once() throws {
        try known.define("a", "Clock") { $0.parent = "b" }
        try known.define("b", "Clock") { $0.parent = "a" }
        var compiler = known.compiler()
        for key in ["a", "b"] { _ = compiler.compile(try #require(known.all[known.id(key)]), former: nil) }
        #expect(compiler.ownFailures.map(\.code) == [.cycle])
        #expect(compiler.ownFailures.first?.message.hasSuffix("a -> b -> a") == true)
    }

    @Test func a_binding_by_type_stays_until_it_is_greedy() throws {
        let wanted = Injection.TypeQuery(name: "Clock")
        func server(_ query: Injection.TypeQuery) throws {
            try known.define("server", "Server") {
                $0.initializer = [Injection(name: nil, .type(query)), Injection(name: nil, .value(.int32(1)))]
            }
        }
        try known.define("first", "Clock")
        try server(wanted)
        let former = known.compile("server").recipe
        #expect(former?.slots.first?.source.keys == [known.id("first")])
        try known.define("second", "Clock") { $0.rank = 1 }
        #expect(known.compile("server", former: former).recipe?.slots.first?.source.keys == [known.id("first")])
        #expect(known.compile("server").recipe?.slots.first?.source.keys == [known.id("second")])
        try server(Injection.TypeQuery(name: "Clock", isGreedy: true))
        #expect(known.compile("server", former: former).recipe?.slots.first?.source.keys == [known.id("second")])
    }

    @Test func several_candidates_of_equal_rank_are_ambiguous() throws {
        try known.define("first", "Clock")
        try known.define("second", "Clock")
        try known.define("server", "Server") {
            $0.initializer = [
                Injection(name: nil, .type(.init(name: "Clock"))), Injection(name: nil, .value(.int32(1))),
            ]
        }
        let failures = known.compile("server").failures
        #expect(failures.map(\.code) == [.ambiguous])
        #expect(failures.first?.message.contains("several definitions create one: first, second") == true)
    }

    @Test func a_deferred_reference_is_a_late_edge() throws {
        try known.define("clock", "Clock")
        try known.type("Holder", [("clock", Int(INVIVO_KIND_CALLABLE), nil)])
        try known.define("holder", "Holder") { $0.initializer = [Injection(name: nil, .lazy(.reference("clock")))] }
        let (recipe, failures) = known.compile("holder")
        #expect(failures.isEmpty)
        #expect(recipe?.references.edges.map(\.edge) == [.deferred])
        #expect(recipe?.references.held == [known.id("clock")])
    }
}
