import Invivo
import Testing

private final class Store: @unchecked Sendable {
    var title = ""
    var size = 0
    init() {}

    static let type = ObjectType<Store>("VisitedStore") { type in
        type.make { Store() }
        type.property("title", \.title)
        type.property("size", \.size)
    }
}

private class Bulb: @unchecked Sendable { var isLit = false }
private final class Lantern: Bulb, @unchecked Sendable {}

extension SwiftAPI {
    /// Processors of definitions.
    @Suite struct VisitorTests {
        @Test func aProcessorChangesDefinitionsBeforeTheyAreCompiled() throws {
            try withRuntime { runtime in
                try runtime.define("app.store", Store.type, scope: .prototype, properties: ["title": .value("first")])
                let log = Log<String>()
                try runtime.process("titles", Store.self) { definition in
                    log.add("\(definition.key) \(definition.type ?? "?") \(definition.properties)")
                    try definition.inject("title", "second")
                    try definition.inject("size", 3)
                    definition.scope = .lazySingleton
                    definition.rank = 7
                }
                let store: Store = try runtime.resolve("app.store")
                #expect(store.title == "second" && store.size == 3)
                #expect(try runtime.resolve("app.store", as: Store.self) === store)
                #expect(log.all.first == "app.store VisitedStore [\"title\"]")
                #expect(try runtime.wiring.nodes.first { $0.key == "app.store" }?.rank == 7)
                try runtime.process("titles", Store.self) { definition in definition.leaveOut("title") }
                #expect(try runtime.resolve("app.store", as: Store.self).title == "")
                try runtime.unprocess("titles")
                #expect(try runtime.resolve("app.store", as: Store.self).title == "first")
            }
        }

        @Test func aProcessorReplacesOrAddsToDefinitionsOfAnAssembly() throws {
            final class Hall: Assembly {
                let lamp = lazySingleton { Bulb() }
                let other = lazySingleton { Bulb() }.hidden()
            }
            try withRuntime { runtime in
                let hall = try runtime.activate(Hall())
                try runtime.changes { changes in
                    try changes.process("lanterns", key: "hall.lamp") { definition in
                        definition.replace(with: lazySingleton { Lantern() as Bulb })
                    }
                    try changes.process("light", Bulb.self, priority: 1) { definition in
                        try definition.after(Bulb.self) { $0.isLit = true }
                        definition.hide(from: nil)
                    }
                }
                #expect(try hall.lamp() is Lantern && hall.lamp().isLit)
                #expect(try hall.other() is Lantern == false && hall.other().isLit)
                #expect(try runtime.all(of: Bulb.self).count == 2)
            }
        }

        @Test func anErrorOfAProcessorFailsTheReload() throws {
            try withRuntime { runtime in
                try runtime.define("app.store", Store.type)
                let error = failure {
                    try runtime.process("failing") { _ in throw InvivoError(.host, "on purpose") }
                }
                #expect(error.description.contains("on purpose"))
                #expect(try runtime.resolve("app.store", as: Store.self).title == "")
            }
        }
    }
}
