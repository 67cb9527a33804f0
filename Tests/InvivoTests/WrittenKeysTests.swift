import Invivo
import Testing

extension SwiftAPI {
    /// Compiles the Swift output of `invivo keys`: `WrittenKeys.swift` is the golden file itself, which Tests/C/keys.c
    /// compares.
    @Suite struct WrittenKeys {
        private final class Thing: Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
        }

        @Test func aKeyIsAFunctionThatTheCompilerChecks() throws {
            final class Camelot: Assembly {
                let table = lazySingleton { Thing(12) }
                let knight = prototype { (_: Resolver, quest: Thing, number: Int?) in
                    Thing(quest.number + (number ?? 0))
                }
            }
            try withRuntime { runtime throws in
                try runtime.activate(Camelot())
                let table = try runtime.camelotKeys.table()
                let knight: KnightHandle = try runtime.camelotKeys.knight(quest: table, number: 7)
                #expect(try knight.object.instance(as: Thing.self).number == 19)
                let plain = try runtime.camelotKeys.knight(quest: table)
                #expect(try plain.object.instance(as: Thing.self).number == 12)
                #expect(failure { _ = try runtime.rootKeys.ghostKey() }.code == .notFound)
            }
        }

        @Test func aFunctionKnowsItsKeyInEveryRuntimeAndGeneration() throws {
            final class Camelot: Assembly { let table = lazySingleton { Thing(12) } }
            for _ in 1...2 {
                try withRuntime { first throws in
                    try withInner(Camelot()) { second, inner throws in
                        let camelot = try first.activate(Camelot())
                        for _ in 1...3 {
                            let table = try first.camelotKeys.table().object.instance(as: Thing.self)
                            #expect(try table === camelot.table())
                            #expect(try second.camelotKeys.table().object.instance(as: Thing.self) === inner.table())
                            try first.remove(camelot)
                            #expect(failure { _ = try first.camelotKeys.table() }.code == .notFound)
                            try first.activate(camelot)
                        }
                    }
                }
            }
        }

        private func withInner<Part: Assembly>(_ assembly: Part, _ body: (Runtime, Part) throws -> Void) throws {
            let runtime = try Runtime()
            try body(runtime, runtime.activate(assembly))
            try runtime.close()
        }
    }
}
