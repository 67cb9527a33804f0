import Invivo
import Testing

private class Store: @unchecked Sendable {
    func get(_ name: String) -> String { name }
}

private final class Logged: Store, @unchecked Sendable {
    let inner: Store
    init(_ inner: Store) { self.inner = inner }
    override func get(_ name: String) -> String { "logged \(inner.get(name))" }
}

private final class Slow: Sendable {}

private final class Node {
    var title = ""
    let below: [Node]
    init(_ below: [Node] = []) { self.below = below }

    static let type = ObjectType<Node>(confined: "TreeNode") { type in
        type.make { Node() }
        type.property("title", \.title)
    }
}

extension SwiftAPI {
    @Suite struct Processors {
        @Test func aDecoratorReplacesTheObject() throws {
            try withRuntime { runtime in
                let store: Key<Store> = try runtime.define("app.store") { _ in Store() }
                let other: Key<Store> = try runtime.define("app.other", scope: .prototype) { _ in Store() }
                try runtime.decorate("logged", Store.self, key: "app.store") { Logged($0) }
                #expect(try runtime.resolve(store).get("x") == "logged x")
                #expect(try runtime.resolve(store) === runtime.resolve(store))
                #expect(try runtime.resolve(other).get("x") == "x")
                try runtime.decorate("all", Store.self, priority: -1) { $0 }
                try runtime.unprocess("logged")
                #expect(try runtime.resolve(store).get("x") == "x")
                try runtime.decorate("logged", Store.self) { Logged($0) }
                #expect(try runtime.resolve(other).get("x") == "logged x")
            }
        }

        @Test func anErrorOfADecoratorFailsTheResolve() throws {
            try withRuntime { runtime in
                let store: Key<Store> = try runtime.define("app.store") { _ in Store() }
                try runtime.decorate("failing", Store.self) { _ in throw InvivoError(.host, "on purpose") }
                let error = failure { _ = try runtime.resolve(store) }
                #expect(error.message.contains("on purpose"))
                #expect(failure { try runtime.unprocess("falling") }.code == .notFound)
            }
        }
    }

    @Suite struct Async {
        @Test func anObjectIsAwaited() async throws {
            let before = Live.now
            let runtime = try Runtime()
            let slow: Key<Slow> = try runtime.define("app.slow") { _ in Slow() }
            let failing: Key<Slow> = try runtime.define("app.failing") { _ throws -> Slow in
                throw InvivoError(.host, "on purpose")
            }
            async let first = runtime.resolved(slow)
            async let second = runtime.resolved(slow)
            #expect(try await first === second)
            #expect(try await runtime.resolvedObject("app.slow").instance(as: Slow.self) === first)
            do {
                _ = try await runtime.resolved(failing)
                Issue.record("expected an error")
            } catch { #expect(InvivoError.of(error).message.contains("on purpose")) }
            do {
                _ = try await runtime.resolvedObject("app.missing")
                Issue.record("expected an error")
            } catch { #expect(InvivoError.of(error).code == .notFound) }
            try runtime.close()
            #expect(Live.now == before)
        }
    }

    @Suite struct Trees {
        @Test func aTreeIsInjectedWholeAndAnObjectBecomesSharedWhenAsked() throws {
            try withRuntime { runtime in
                try runtime.define("ui.node", Node.type, scope: .prototype, properties: ["title": .value("node")])
                try runtime.define("ui.main", Node.type, properties: ["title": .value("main")])
                let (leaf, left) = (Node(), Node())
                let inner = Node([leaf])
                let root = Node([inner, left])
                try runtime.injectTree(try runtime.object(for: root), as: "ui.main") { object in
                    try object.instance(as: Node.self).below.map { try runtime.object(for: $0) }
                } keyOf: { object in
                    try object.instance(as: Node.self) === left ? "ui.main" : "ui.node"
                }
                #expect([root, inner, leaf, left].map(\.title) == ["main", "node", "node", "main"])
                let mine = Node()
                try runtime.inject(mine, as: "ui.main", shared: true)
                let main: Node = try runtime.resolve("ui.main")
                #expect(main === mine)
                #expect(
                    failure { try runtime.inject(runtime.object(for: Node()), as: "ui.main", shared: true) }.code
                        == .exists)
            }
        }
    }
}
