import Invivo
import Testing

extension SwiftAPI {
    @Suite struct LifeTests {
        final class Engine: Sendable {}
        final class Screen: Sendable {
            let engine: Engine
            init(engine: Engine) { self.engine = engine }
        }

        static func type(_ log: Log<String>, fails: String? = nil) -> ObjectType<Engine> {
            ObjectType<Engine>("Engine") { type in
                type.make { Engine() }
                type.prepare { _ in log.add("prepare") }
                type.start { _ in
                    log.add("start")
                    if fails == "start" { throw InvivoError(.host, "on purpose") }
                }
                type.stop { _ in
                    log.add("stop")
                    if fails == "stop" { throw InvivoError(.host, "on purpose") }
                }
            }
        }

        @Test func objectsArePreparedStartedAndStoppedWithTheirStates() throws {
            let log = Log<String>()
            try withRuntime { runtime throws in
                let key = try runtime.define("a.engine", Self.type(log))
                #expect(try runtime.states.map(\.state) == [.cold])
                try runtime.stop(key)
                try runtime.start(key)
                try runtime.start(key)
                #expect(try runtime.states.map(\.key) == ["a.engine"])
                #expect(try runtime.states.map(\.state) == [.started])
                #expect(try runtime.states.map(\.objects) == [1])
                try runtime.stop(key)
                #expect(try runtime.states[0].state == .stopped)
            }
            #expect(log.all == ["prepare", "start", "stop"])
        }

        @Test func aFailingStartFailsTheReload() throws {
            let log = Log<String>()
            try withRuntime { runtime throws in
                let error = failure {
                    try runtime.define("a.engine", Self.type(log, fails: "start"), scope: .singleton)
                }
                #expect(error.message.contains("on purpose"))
                #expect(try runtime.states.isEmpty)
            }
            #expect(log.all == ["prepare", "start"])
        }

        @Test func stopsThatFailAreThrownByCloseWhichCloses() throws {
            let log = Log<String>()
            let runtime = try Runtime()
            try runtime.define("a.engine", Self.type(log, fails: "stop"), scope: .singleton)
            #expect(failure { try runtime.close() }.code == .stop)
            try runtime.close()
        }

        final class Rack: Assembly {
            let screen = lazySingleton(Screen.init).parameter(0, .reference("other.engine")).waits()
        }

        @Test func aDefinitionThatWaitsIsBlockedUntilItsDependenciesExist() throws {
            try withRuntime { runtime throws in
                let rack = try runtime.activate(Rack())
                #expect(try runtime.states.map(\.waits) == [["other.engine"]])
                #expect(failure { _ = try rack.screen() }.code == .dormant)
                try runtime.define("other.engine", scope: .lazySingleton) { _ in Engine() }
                _ = try rack.screen()
                try runtime.remove("other.engine")
                #expect(failure { _ = try rack.screen() }.code == .dormant)
            }
        }

        @Test func keysAndScopesAreReset() throws {
            try withRuntime { runtime throws in
                let key = try runtime.define("a.engine", scope: .lazySingleton) { _ in Engine() }
                let first = try runtime.resolve(key)
                try runtime.reset("a.engine")
                let second = try runtime.resolve(key)
                #expect(first !== second)
                try runtime.reset(.lazySingleton)
                #expect(try runtime.states[0].state == .cold)
                #expect(failure { try runtime.reset("a.engin") }.code == .notFound)
            }
        }
    }
}
