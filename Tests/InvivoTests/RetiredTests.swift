import Dispatch
import Glibc
import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    /// Replaced objects are stopped when nothing uses them any more, and not before.
    @Suite struct RetiredTests {
        final class Pool: Sendable {
            let isStopped = Atomic(false)
            /// Whether it may be used.
            func use() -> Bool { !isStopped.load(ordering: .acquiring) }
        }
        final class Request: Sendable {
            let pool: Pool
            init(pool: Pool) { self.pool = pool }
        }

        /// The stops of pools.
        final class Stops: Sendable {
            private let stopped = DispatchSemaphore(value: 0)
            private let number = Atomic(0)
            var count: Int { number.load(ordering: .acquiring) }

            var type: ObjectType<Pool> {
                ObjectType<Pool>("Pool") { type in
                    type.make { Pool() }
                    type.stop { [self] pool in
                        pool.isStopped.store(true, ordering: .releasing)
                        number.add(1, ordering: .releasing)
                        stopped.signal()
                    }
                }
            }

            /// Waits for the next one.
            func next() -> Bool { stopped.wait(timeout: .now() + 60) == .success }
        }

        @Test func anObjectThatAVariableHoldsIsStoppedWhenItIsGone() throws {
            let stops = Stops()
            try withRuntime { runtime throws in
                let key = try runtime.define("a.pool", stops.type)
                var pool: Pool? = try runtime.resolve(key)
                try runtime.define("a.pool", stops.type)
                #expect(try runtime.resolve(key) !== pool)
                #expect(pool?.use() == true && stops.count == 0)
                let retired = try runtime.retired
                #expect(retired.map(\.key) == ["a.pool"] && retired[0].type == "Pool")
                #expect(retired[0].reason == .referenced && retired[0].leases == 0 && retired[0].age > .zero)
                pool = nil
                #expect(stops.next())
                #expect(stops.count == 1)
            }
            #expect(stops.count == 2)
        }

        @Test func anObjectThatNothingUsesIsStoppedByTheCommit() throws {
            let stops = Stops()
            try withRuntime { runtime throws in
                let key = try runtime.define("a.pool", stops.type)
                #expect(try runtime.resolve(key).use())
                try runtime.define("a.pool", stops.type)
                #expect(stops.count == 1)
                #expect(try runtime.retired.isEmpty)
            }
        }

        @Test func aPrototypeAndAHandleKeepIt() throws {
            let stops = Stops()
            try withRuntime { runtime throws in
                let key = try runtime.define("a.pool", stops.type)
                var request: Request? = Request(pool: try runtime.resolve(key))
                try runtime.define("a.pool", stops.type)
                #expect(request?.pool.use() == true)
                request = nil
                #expect(stops.next())
                var object: Object? = try runtime.object("a.pool")
                try runtime.define("a.pool", stops.type)
                #expect(try runtime.retired.map(\.reason) == [.leased])
                #expect(stops.count == 1 && object != nil)
                object = nil
                #expect(stops.next())
            }
        }

        @Test func closeStopsObjectsInVariables() throws {
            let stops = Stops()
            var pool: Pool?
            try withRuntime { runtime throws in
                let key = try runtime.define("a.pool", stops.type)
                pool = try runtime.resolve(key)
                try runtime.define("a.pool", stops.type)
                #expect(pool?.use() == true)
            }
            #expect(pool?.use() == false)
        }

        @Test func afterTheGraceTimeItIsStoppedWithAWarning() throws {
            let stops = Stops()
            let warnings = Log<String>()
            var options = Runtime.Options()
            options.stopGrace = .milliseconds(1)
            options.logLevel = .warning
            options.log = { warnings.add($0.path + ": " + $0.message) }
            try withRuntime(options) { runtime throws in
                let key = try runtime.define("a.pool", stops.type)
                let pool = try runtime.resolve(key)
                try runtime.define("a.pool", stops.type)
                #expect(stops.next())
                #expect(!pool.use())
                #expect(warnings.all.first?.hasPrefix("a.pool: 'a.pool' of type 'Pool' is stopped although") == true)
            }
        }

        @Test func aResetObjectIsStoppedWhenNothingUsesIt() throws {
            let stops = Stops()
            try withRuntime { runtime throws in
                let key = try runtime.define("a.pool", stops.type, scope: .singleton)
                let pool = try runtime.resolve(key)
                try runtime.reset("a.pool")
                #expect(pool.use())
            }
            #expect(stops.count == 2)
        }

        @Test func noThreadUsesAStoppedObjectDuringReloads() throws {
            let stops = Stops()
            try withRuntime { runtime throws in
                let key = try runtime.define("a.pool", stops.type)
                #expect(try runtime.resolve(key).use())  // each commit rebuilds built objects
                let isOver = Atomic(false)
                let uses = Atomic(0)
                let usedAfterStop = Atomic(0)
                let failures = Log<String>()
                onThreads(9) { index in
                    do {
                        if index == 0 {
                            defer { isOver.store(true, ordering: .releasing) }
                            for _ in 0..<100 {
                                let before = uses.load(ordering: .relaxed)
                                try runtime.define("a.pool", stops.type)
                                while uses.load(ordering: .relaxed) < before + 16, failures.all.isEmpty {
                                    sched_yield()
                                }
                            }
                            return
                        }
                        while !isOver.load(ordering: .acquiring) {
                            let request = Request(pool: try runtime.resolve(key))
                            for _ in 0..<50 where !request.pool.use() { usedAfterStop.add(1, ordering: .relaxed) }
                            uses.add(1, ordering: .relaxed)
                        }
                    } catch { failures.add("\(error)") }
                }
                #expect(failures.all.isEmpty)
                #expect(usedAfterStop.load(ordering: .relaxed) == 0)
                for _ in 0..<100 { #expect(stops.next()) }
                #expect(try runtime.retired.isEmpty)
            }
            #expect(stops.count == 101)
        }
    }
}
