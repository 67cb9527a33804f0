import Glibc
import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    /// Tests with many threads; also run with `--sanitize=thread` and `--sanitize=address`.
    @Suite struct ConcurrencyTests {
        struct Stamp {
            var first: UInt64 = 0
            var second: UInt64 = 0
        }

        @Test func aColdInstanceIsBuiltOnceUnder64Threads() throws {
            for _ in 0..<20 {
                try withRuntime { runtime throws in
                    let built = Log<Int>()
                    let key = try runtime.define("a.clock") { _ in
                        built.add(1)
                        return Clock()
                    }
                    let seen = Log<ObjectIdentifier>()
                    onThreads(64) { _ in
                        if let clock = try? runtime.resolve(key) { seen.add(ObjectIdentifier(clock)) }
                    }
                    #expect(built.all.count == 1)
                    #expect(seen.all.count == 64 && Set(seen.all).count == 1)
                }
            }
        }

        @Test func readersSeeWholeGenerationsWhileReloadsCommit() throws {
            try withRuntime { runtime throws in
                let stamp = try runtime.define(
                    Block("a.stamp", Stamp()) {
                        $0.field("first", \.first)
                        $0.field("second", \.second)
                    })
                let object = try runtime.define("a.object", scope: .singleton) { _ in Clock(name: "0") }
                let source = try runtime.source("s.yaml", "traits: {}")
                let isDone = Atomic(false)
                let mixed = Atomic(0)
                let reads = Atomic(0)
                let failures = Log<InvivoError>()
                let reading: @Sendable (Int) -> Void = { index in
                    if index == 0 {
                        defer { isDone.store(true, ordering: .releasing) }
                        // A busy machine may start the readers late.
                        while reads.load(ordering: .relaxed) == 0 { sched_yield() }
                        for number in 1...300 {
                            do {
                                if number % 2 == 0 {
                                    try runtime.define("a.object", scope: .singleton) { _ in Clock(name: "\(number)") }
                                } else {
                                    try source.update(
                                        "traits: { a.stamp: [Set: { first: \(number), second: \(number) }] }")
                                }
                            } catch { failures.add(InvivoError.of(error)) }
                        }
                        return
                    }
                    while !isDone.load(ordering: .acquiring) {
                        runtime.view { view in
                            let read = view[stamp]
                            if read.first != read.second { mixed.add(1, ordering: .relaxed) }
                            if view.with(object, { $0.name.isEmpty }) != false { mixed.add(1, ordering: .relaxed) }
                        }
                        do { _ = try runtime.resolve(object).name } catch { failures.add(InvivoError.of(error)) }
                        reads.add(1, ordering: .relaxed)
                    }
                }
                onThreads(5, reading)
                #expect(mixed.load(ordering: .relaxed) == 0)
                #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
            }
        }

        @Test func prototypesAreMadeAndReleasedOnceOnManyThreads() throws {
            let before = Counted.alive.load(ordering: .relaxed)
            try withRuntime { runtime throws in
                let key = try runtime.define("a.fresh", Counted.type, scope: .prototype)
                let failures = Log<InvivoError>()
                onThreads(8) { _ in
                    for _ in 0..<500 {
                        do { _ = try runtime.resolve(key) } catch { failures.add(InvivoError.of(error)) }
                    }
                }
                #expect(failures.all.isEmpty)
            }
            #expect(Counted.alive.load(ordering: .relaxed) == before)
        }

        @Test func handlesCallablesAndTypesAreUsedFromManyThreads() throws {
            try withRuntime { runtime throws in
                let key = try runtime.define("a.echo", ValueTests.Echo.type)
                _ = try runtime.resolve(key)
                let failures = Log<InvivoError>()
                onThreads(8) { index in
                    do {
                        for number in 0..<200 {
                            let echo = try runtime.object("a.echo")
                            let triple = Callable { (value: Int) in value * 3 }
                            if try echo.call("apply", triple, number) != .int64(Int64(number * 3)) {
                                failures.add(InvivoError(.internal, "wrong result"))
                            }
                            let name = "plain.\(number % 10)"
                            if index < 2 { try runtime.define("\(name)\(index)") { _ in Clock() } }
                        }
                    } catch { failures.add(InvivoError.of(error)) }
                }
                #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
            }
        }

        @Test func closeWaitsForRunningBuilds() throws {
            let before = Live.now
            let runtime = try Runtime()
            let begun = Atomic<Bool>(false)
            let goOn = Atomic<Bool>(false)
            let slow = try runtime.define("a.slow") { _ in
                begun.store(true, ordering: .releasing)
                while !goOn.load(ordering: .acquiring) { sched_yield() }
                return Clock()
            }
            let other = try runtime.define("a.other", scope: .prototype) { _ in Clock() }
            let problems = Log<InvivoError>()
            onThreads(3) { index in
                if index == 0 {
                    do { _ = try runtime.resolve(slow) } catch { problems.add(InvivoError.of(error)) }
                    return
                }
                while !begun.load(ordering: .acquiring) { sched_yield() }
                guard index == 1 else {
                    // Refused as soon as close has begun.
                    while (try? runtime.resolve(other)) != nil { sched_yield() }
                    return goOn.store(true, ordering: .releasing)
                }
                var refused = true
                while refused {
                    do {
                        try runtime.close()
                        refused = false
                    } catch {
                        // The first thread may hold its latest object.
                        refused = InvivoError.of(error).code == .busy
                        if !refused { problems.add(InvivoError.of(error)) }
                    }
                }
            }
            #expect(problems.all.isEmpty, "\(problems.all.first.map { "\($0)" } ?? "")")
            #expect(Live.now == before)
        }

        @Test func manyRuntimesOpenAndCloseAtOnce() throws {
            let before = Live.now
            let failures = Log<InvivoError>()
            onThreads(8) { _ in
                do {
                    for _ in 0..<20 {
                        let runtime = try Runtime()
                        let key = try runtime.define("a.clock") { _ in Clock() }
                        _ = try runtime.resolve(key)
                        try runtime.close()
                    }
                } catch { failures.add(InvivoError.of(error)) }
            }
            #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
            #expect(Live.now == before)
        }
    }
}
