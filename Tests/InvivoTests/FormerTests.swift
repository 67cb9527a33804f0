import Invivo
import Testing

extension SwiftAPI {
    /// The object that a reload replaces, for the creator of the new one.
    @Suite struct FormerTests {
        final class Counter: @unchecked Sendable {
            let step: Int
            var count: Int
            let replaced: Counter?
            init(step: Int) throws {
                self.step = step
                replaced = Runtime.former()
                count = replaced?.count ?? 0
                if step == 13 { throw Refused() }
            }
        }
        struct Refused: Error {}
        final class Inner {
            let former = Runtime.former(Counter.self)
        }
        final class App: Assembly {
            let counter = lazySingleton(wired(.config("step", default: 1), by: Counter.init))
            let inner = prototype(Inner.init)
            let holder = lazySingleton(wired(.config("step", default: 1), by: { (step: Int) in Holder(step) }))
                .inject { (holder: Holder, resolver) in
                    holder.atInjection = Runtime.former(Holder.self)
                    for _ in 0..<3 { holder.inner.append(try resolver(\App.inner).former) }
                }
        }
        final class Holder: @unchecked Sendable {
            let step: Int
            let former = Runtime.former(Holder.self)
            var atInjection: Holder?
            var inner: [Counter?] = []
            init(_ step: Int) { self.step = step }
        }

        @Test func anInitializerCopiesFromTheObjectThatItReplaces() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                let first = try app.counter()
                #expect(first.replaced == nil)
                first.count = 5
                try runtime.configure("app.step", 2)
                let second = try app.counter()
                #expect(second.replaced === first && second.count == 5 && second.step == 2)
                // A failed replacement changes nothing.
                #expect(throws: InvivoError.self) { try runtime.configure("app.step", 13) }
                #expect(try app.counter() === second && second.count == 5)
                #expect(Runtime.former(Counter.self) == nil)
            }
        }

        @Test func factoriesAndInjectionsHaveItAndObjectsCreatedMeanwhileHaveTheirOwn() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                let first = try app.holder()
                #expect(first.former == nil && first.atInjection == nil)
                try runtime.configure("app.step", 2)
                let second = try app.holder()
                #expect(second.former === first && second.atInjection === first)
                #expect(second.inner.count == 3 && second.inner.allSatisfy { $0 == nil })
            }
        }
    }
}
