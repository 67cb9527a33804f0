import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    /// Setup and teardown: effects and children that belong to instances.
    @Suite struct SetupTests {
        final class Trace: Sendable {
            private let entries = Mutex<[String]>([])
            func add(_ entry: String) { entries.withLock { $0.append(entry) } }
            func take() -> [String] {
                entries.withLock { entries in
                    defer { entries = [] }
                    return entries
                }
            }
        }

        struct NotToday: Error {}

        final class Leaf {
            let size: Int
            let handedOver: Int

            init(size: Int) {
                self.size = size
                handedOver = Runtime.former(Leaf.self).map { $0.handedOver + 1 } ?? 0
            }
        }

        final class Root {
            var leaves: [Leaf] = []
            var reports = 0
        }

        final class Painter {
            var size = 1.0
        }

        /// The types of a test, which write into a trace.
        private struct Types {
            let trace = Trace()
            let leaf: ObjectType<Leaf>
            let root: ObjectType<Root>
            let painter: ObjectType<Painter>
            /// How often the setup of a root fails.
            let failures = Failures()

            final class Failures: Sendable {
                let left = Mutex(0)
                func take() -> Bool {
                    left.withLock { left in
                        defer { left -= left > 0 ? 1 : 0 }
                        return left > 0
                    }
                }
            }

            init(keepsChildren: Bool = false) {
                let (trace, failures) = (trace, failures)
                leaf = ObjectType(confined: "Leaf") { type in
                    type.make("size", by: Leaf.init)
                    type.setup { leaf, setup in
                        trace.add("setup leaf")
                        try setup.effect { trace.add("undo leaf") }
                    }
                }
                root = ObjectType(confined: "Root") { type in
                    type.make(by: Root.init)
                    type.setup { root, setup in
                        root.leaves = [
                            try setup.child("ui.leaf", as: Leaf.self), try setup.child("ui.leaf", as: Leaf.self),
                        ]
                        try setup.effect { trace.add("undo root") }
                        if failures.take() { throw NotToday() }
                    }
                    type.teardown { _ in trace.add("teardown root") }
                    type.refresh { _ in trace.add("refresh root") }
                    if keepsChildren { type.keepsChildren() }
                }
                painter = ObjectType(confined: "Painter") { type in
                    type.make(by: Painter.init)
                    type.property("size", \.size)
                    type.finalize { _ in trace.add("finalize") }
                }
            }

            func define(_ size: Int, in runtime: Runtime) throws {
                try runtime.changes {
                    try $0.define("ui.leaf", leaf, scope: .prototype, initializer: ["size": .value(size)])
                }
            }
        }

        @Test func reloadsLeaveOneOfEverything() throws {
            let types = Types()
            try withRuntime { runtime throws in
                try types.define(0, in: runtime)
                try runtime.changes { try $0.define("ui.root", types.root) }
                let root = try runtime.resolve("ui.root", as: Root.self)
                _ = types.trace.take()
                for size in 1...10 {
                    try types.define(size, in: runtime)
                    #expect(root.leaves.map(\.size) == [size, size])
                    #expect(root.leaves.map(\.handedOver) == [size, size])
                    #expect(
                        types.trace.take() == [
                            "teardown root", "undo root", "setup leaf", "setup leaf", "undo leaf", "undo leaf",
                        ])
                }
                types.failures.left.withLock { $0 = 1 }
                #expect(throws: InvivoError.self) { try types.define(11, in: runtime) }
                #expect(root.leaves.map(\.size) == [10, 10])
                #expect(root.leaves.map(\.handedOver) == [11, 11])
                _ = types.trace.take()
            }
            #expect(types.trace.take() == ["teardown root", "undo root", "undo leaf", "undo leaf"])
        }

        @Test func anOwnerThatKeepsItsChildrenIsRefreshed() throws {
            let types = Types(keepsChildren: true)
            try withRuntime { runtime throws in
                try types.define(0, in: runtime)
                try runtime.changes { try $0.define("ui.root", types.root) }
                let root = try runtime.resolve("ui.root", as: Root.self)
                let leaves = root.leaves
                _ = types.trace.take()
                try types.define(1, in: runtime)
                #expect(zip(root.leaves, leaves).allSatisfy { $0 === $1 })
                #expect(types.trace.take() == ["undo leaf", "setup leaf", "undo leaf", "setup leaf", "refresh root"])
            }
        }

        @Test func valuesAreFinalizedAfterACommit() throws {
            let types = Types()
            try withRuntime { runtime throws in
                try runtime.changes { try $0.define("ui.painter", types.painter) }
                let painter = try runtime.resolve("ui.painter", as: Painter.self)
                #expect(types.trace.take() == ["finalize"])
                let source = try runtime.source("tuning.yaml", "traits: {ui.painter: [Set: {size: 4}]}")
                #expect(painter.size == 4)
                #expect(types.trace.take() == ["finalize"])
                try source.close()
            }
        }

        @Test func aSetupThatHasReturnedRegistersNothing() throws {
            final class Late: Sendable {
                let setup = Mutex<Setup?>(nil)
            }
            let late = Late()
            let type = ObjectType<Root>(confined: "Late") { type in
                type.make(by: Root.init)
                type.setup { _, setup in
                    late.setup.withLock { $0 = setup }
                    _ = try setup.child(making: Painter.self)
                }
            }
            let types = Types()
            try withRuntime { runtime throws in
                try runtime.register(types.painter)
                try runtime.changes { try $0.define("ui.late", type) }
                _ = try runtime.resolve("ui.late", as: Root.self)
                let setup = try #require(late.setup.withLock { $0 })
                let error = #expect(throws: InvivoError.self) {
                    try setup.effect { types.trace.add("undone") }
                }
                #expect(error?.code == .argument)
                #expect(types.trace.take().last == "undone")
            }
        }
    }
}
