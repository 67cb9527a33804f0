import Invivo
import Testing

extension SwiftAPI {
    /// Pins: a closure reads one generation.
    @Suite struct PinTests {
        final class Part: Sendable {
            let number: Int
            init(number: Int) { self.number = number }
        }
        final class Made {
            let number: Int
            init(number: Int) { self.number = number }
        }
        final class Holder {
            let part: Part
            let later: Provider<Part>
            init(part: Part, later: Provider<Part>) {
                self.part = part
                self.later = later
            }
        }
        final class App: Assembly {
            let part = lazySingleton(wired(.config("number", default: 1), by: Part.init))
            let made = prototype(wired(.config("number", default: 1), by: Made.init))
            let holder = graph(Holder.init)
        }

        private func numbers(_ runtime: Runtime, _ app: App) throws -> Set<Int> {
            let holder = try app.holder()
            return [
                try app.part().number, try app.made().number, holder.part.number, try holder.later().number,
                try runtime.resolve(Part.self).number, try runtime.configuration("app.number", as: Int.self),
            ]
        }

        @Test(arguments: [0, 3]) func aClosureReadsOneGenerationAlsoByPlans(calls: Int) throws {
            try withRuntime { runtime throws in
                try runtime.configure("app.number", 1)
                let app = try runtime.activate(App())
                for _ in 0..<calls { #expect(try numbers(runtime, app) == [1]) }
                let result = try runtime.pinned { () throws -> String in
                    try runtime.configure("app.number", 2)
                    for _ in 0..<3 { #expect(try numbers(runtime, app) == [1]) }
                    try runtime.pinned {
                        try runtime.configure("app.number", 3)
                        #expect(try numbers(runtime, app) == [1])
                    }
                    return "done"
                }
                #expect(result == "done")
                for _ in 0..<3 { #expect(try numbers(runtime, app) == [3]) }
            }
        }

        @Test func theStatusShowsPinsAndFormerGenerations() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                _ = try app.part()
                try runtime.pinned {
                    let pinned = try runtime.generation
                    try runtime.configure("app.number", 2)
                    let status = try runtime.status
                    #expect(status.generation == pinned + 1)
                    #expect(status.pins.map(\.generation) == [pinned])
                    #expect(status.pins.first?.place.contains("PinTests.swift:") == true)
                    #expect(status.former.map(\.generation) == [pinned])
                    #expect(status.running == nil && status.waitingSets == 0)
                    #expect(status.kept.isEmpty && status.diverged.isEmpty && status.unrestored.isEmpty)
                }
                #expect(try runtime.status.pins.isEmpty)
            }
        }

        @Test func aPinIsRefusedInAViewOfAnotherGenerationAndInAClosedRuntime() throws {
            let runtime = try Runtime()
            runtime.view { _ in
                #expect(throws: Never.self) { try runtime.configure("a.number", 1) }
                let refused = #expect(throws: InvivoError.self) { try runtime.pinned {} }
                #expect(refused?.code == .busy)
            }
            struct Stop: Error {}
            #expect(throws: Stop.self) { try runtime.pinned { throw Stop() } }
            try runtime.close()
            let refused = #expect(throws: InvivoError.self) { try runtime.pinned {} }
            #expect(refused?.code == .closed)
        }

        /// Its objects may be used on all threads.
        final class Shared: Assembly {
            let part = lazySingleton(wired(.config("number", default: 1), by: Part.init))
        }

        private static func shared(_ runtime: Runtime) throws -> Set<Int> {
            [try runtime.resolve(Part.self).number, try runtime.configuration("shared.number", as: Int.self)]
        }

        actor Reader {
            func read(_ runtime: Runtime) throws -> Set<Int> { try PinTests.shared(runtime) }
        }

        @Test func aPinFollowsATaskAndItsChildTasks() async throws {
            let runtime = try Runtime()
            try runtime.configure("shared.number", 1)
            try runtime.activate(Shared())
            let reader = Reader()
            let result = try await runtime.pinned { () async throws -> String in
                try await Task.detached { try runtime.configure("shared.number", 2) }.value
                #expect(try Self.shared(runtime) == [1])
                async let child = Self.shared(runtime)
                #expect(try await child == [1])
                try await withThrowingTaskGroup(of: Set<Int>.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            await Task.yield()
                            return try Self.shared(runtime)
                        }
                    }
                    for try await numbers in group { #expect(numbers == [1]) }
                }
                #expect(try await reader.read(runtime) == [1])
                try await runtime.pinned {
                    await Task.yield()
                    try runtime.configure("shared.number", 3)
                    await Task.yield()
                    #expect(try Self.shared(runtime) == [1])
                }
                #expect(try runtime.pinned { try Self.shared(runtime) } == [1])
                #expect(try await MainActor.run { try Self.shared(runtime) } == [1])
                #expect(try await Task { try Self.shared(runtime) }.value == [1])
                #expect(try await Task.detached { try Self.shared(runtime) }.value == [3])
                return "done"
            }
            #expect(result == "done")
            #expect(try Self.shared(runtime) == [3])
            try runtime.close()
        }

        @Test func tasksWithAndWithoutAPinShareAnActor() async throws {
            let runtime = try Runtime()
            try runtime.configure("shared.number", 1)
            try runtime.activate(Shared())
            let reader = Reader()
            try await runtime.pinned {
                try await Task.detached { try runtime.configure("shared.number", 2) }.value
                let outside = (0..<200).map { _ in Task.detached { try await reader.read(runtime) } }
                try await withThrowingTaskGroup(of: Set<Int>.self) { group in
                    for _ in 0..<200 { group.addTask { try await reader.read(runtime) } }
                    for try await numbers in group { #expect(numbers == [1]) }
                }
                for task in outside { #expect(try await task.value == [2]) }
            }
            try runtime.close()
        }

        @Test func aPinOfATaskEndsWithTheErrorOfItsBodyAndWithClose() async throws {
            struct Stop: Error {}
            let runtime = try Runtime()
            try runtime.configure("shared.number", 1)
            try runtime.activate(Shared())
            await #expect(throws: Stop.self) {
                try await runtime.pinned {
                    await Task.yield()
                    throw Stop()
                }
            }
            try runtime.configure("shared.number", 2)
            #expect(try Self.shared(runtime) == [2])
            try await runtime.pinned {
                await Task.yield()
                try await Task.detached { try runtime.close() }.value
                #expect(failure { _ = try runtime.configuration("shared.number", as: Int.self) }.code == .closed)
            }
            let refused = await #expect(throws: InvivoError.self) { try await runtime.pinned { await Task.yield() } }
            #expect(refused?.code == .closed)
        }

        @Test func anOldPinIsLoggedWithItsPlace() throws {
            let log = Log<String>()
            var options = Runtime.Options()
            options.pinMaximumAge = .milliseconds(1)
            options.log = { log.add($0.message) }
            let runtime = try Runtime(options)
            try runtime.pinned {
                while log.all.isEmpty { try runtime.poll(timeout: .milliseconds(1)) }
            }
            #expect(log.all.first?.hasPrefix("InvivoTests/PinTests.swift:") == true)
            try runtime.close()
        }
    }
}
