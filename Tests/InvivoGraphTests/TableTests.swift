import CInvivo
import InvivoBase
import Testing

@testable import InvivoGraph

@Suite struct KeyNamesTests {
    @Test func ids_are_dense_and_stay() throws {
        let names = KeyNames()
        var ids: [UInt32] = []
        for number in 0..<5000 { ids.append(try names.intern("key.\(number)")) }
        #expect(ids == Array(0..<5000))
        #expect(try names.intern("key.42") == 42)
        #expect(names.id(of: "key.4999") == 4999 && names.name(4999) == "key.4999")
        #expect(names.id(of: "key.5000") == nil && names.name(5000) == "?")
    }

    @Test func a_path_is_no_key() throws {
        let names = KeyNames()
        let path = try names.intern(config: "http.port")
        #expect(names.id(of: "http.port") == nil && names.id(ofConfig: "http.port") == path)
        #expect(names.configPath(path) == "http.port")
        #expect(names.configPath(try names.intern("http.port")) == nil)
        #expect(throws: Failure.self) { try names.intern("\u{1}http.port") }
        #expect(throws: Failure.self) { try names.intern("") }
    }

    @Test func names_differ_by_their_bytes() throws {
        let names = KeyNames()
        #expect(try names.intern("caf\u{e9}") != names.intern("cafe\u{301}"))
    }
}

@Suite struct TypeIndexTests {
    let known = Definitions()

    @Test func the_highest_rank_then_the_declared_order() throws {
        try known.type("Disk", supertypes: ["Store"])
        try known.define("a", "Disk")
        try known.define("b", "Disk")
        try known.define("c", "Disk") { $0.rank = 1 }
        #expect(known.index.all("Store", isExact: false).map(\.id) == ["c", "a", "b"].map(known.id))
        #expect(known.index.all("Store", isExact: true).isEmpty)
        guard case .one(let best) = known.index.best(of: known.index.all("Store", isExact: false), for: "Store") else {
            Issue.record("the highest rank is unique")
            return
        }
        #expect(best == known.id("c"))
    }

    @Test func hidden_abstract_and_alias_definitions_are_not_found() throws {
        try known.type("Disk", supertypes: ["Store"])
        try known.define("hidden", "Disk") { $0.flags = [.hiddenClass, .hiddenInterface] }
        try known.define("abstract", "Disk") { $0.flags = .abstract }
        try known.define("other") { $0.alias = "hidden" }
        try known.define("class", "Disk") { $0.flags = .hiddenInterface }
        #expect(known.index.all("Disk", isExact: false).map(\.id) == [known.id("class")])
        #expect(known.index.all("Store", isExact: false).isEmpty)
    }

    @Test func a_changed_definition_leaves_its_former_lists() throws {
        try known.type("Disk")
        try known.type("Tape")
        try known.define("store", "Disk")
        try known.define("store", "Tape")
        #expect(known.index.all("Disk", isExact: false).isEmpty)
        #expect(known.index.names == ["Tape"])
    }
}

@Suite struct GraphTests {
    let known = Definitions()

    private func slot(_ key: String) throws -> GraphSlot {
        GraphSlot(try #require(known.compile(key).recipe))
    }

    @Test func a_packed_slot_returns_an_equal_recipe() throws {
        try known.type("Clock")
        try known.type("Server", [("clock", Int(INVIVO_KIND_OBJECT), "Clock")])
        try known.define("clock", "Clock")
        try known.define("server", "Server") { $0.initializer = [Injection(name: "clock", .reference("clock"))] }
        let slot = try slot("server")
        #expect(slot.isPacked && slot.id == known.id("server") && slot.scope == .singleton)
        #expect(slot.definition.isSame(as: try #require(known.all[slot.id])))
        #expect(slot.recipe.references.edges.map(\.id) == [known.id("clock")])
        #expect(slot.isMade(by: try #require(known.compile("server").recipe)))
        try known.define("server", "Server") { $0.initializer = [Injection(name: nil, .reference("clock"))] }
        #expect(!slot.isMade(by: try #require(known.compile("server").recipe)))
    }

    @Test func a_packed_slot_has_a_location_an_assembly_and_constant_properties() throws {
        try known.type("Voice", properties: ["gain", "cutoff"])
        func define(_ gain: Value, line: UInt32 = 7) throws -> Definition {
            try known.define("voice", "Voice", line: line) {
                $0.assembly = "synth"
                $0.properties = [
                    Injection(name: "cutoff", .value(.double(900))), Injection(name: "gain", .value(gain)),
                ]
            }
        }
        let described = DefinitionList([try define(.double(0.5))])
        #expect(described.unpacked.isEmpty)
        let slot = try slot("voice")
        #expect(slot.isPacked && slot.definition.isSame(as: described[0]))
        #expect(slot.definition.location == Location(file: "app.yaml", line: 7, column: 3))
        #expect(slot.definition.body.assembly == "synth")
        let steps = slot.recipe.steps.map { step -> String in
            guard case .property(let index, .value(.double(let value))) = step else { return "?" }
            return "\(index) = \(value)"
        }
        #expect(steps == ["1 = 900.0", "0 = 0.5"])
        #expect(slot.isMade(by: try #require(known.compile("voice").recipe)))
        _ = try define(.double(0.5), line: 8)
        #expect(!slot.isMade(by: try #require(known.compile("voice").recipe)))
        _ = try define(.double(0.25))
        #expect(!slot.isMade(by: try #require(known.compile("voice").recipe)))
        // The compiled constant is not the described one.
        _ = try define(.int32(1))
        #expect(!(try self.slot("voice").isPacked))
    }

    @Test func an_active_definition_shares_the_details_of_its_description() throws {
        try known.type("Voice", properties: ["gain"])
        let described = DefinitionList([
            try known.define("voice", "Voice", line: 7) {
                $0.assembly = "synth"
                $0.properties = [Injection(name: "gain", .value(.double(0.5)))]
            }
        ])
        let active = described[0].with { $0.order = DefinitionOrder(number: 3) }
        var compiler = known.compiler()
        let recipe = compiler.compile(active, former: nil)
        let slot = GraphSlot(try #require(recipe))
        #expect(slot.definition.body.order.number == 3)
        #expect(slot.definition.details != nil && slot.definition.details === described[0].details)
    }

    @Test func an_edited_graph_shares_what_stays() throws {
        try known.type("Clock")
        var editor = GraphEditor(Graph(generation: 0, keys: known.names.table))
        for number in 0..<300 { try known.define("clock.\(number)", "Clock") }
        for number in 0..<300 { editor.set(try slot("clock.\(number)"), at: known.id("clock.\(number)")) }
        let first = editor.finish(generation: 1, keys: known.names.table)
        var next = GraphEditor(first)
        next.set(nil as GraphSlot?, at: known.id("clock.7"))
        next.set(nil as Recipe?, at: known.id("clock.7"))
        let second = next.finish(generation: 2, keys: known.names.table)
        #expect(first.generation == 1 && second.generation == 2)
        #expect(first.isDefined(known.id("clock.7")) && !second.isDefined(known.id("clock.7")))
        #expect(first.slot(known.id("clock.299")) === second.slot(known.id("clock.299")))
        var count = 0
        second.forEachSlot { _, _ in count += 1 }
        #expect(count == 299)
    }
}
