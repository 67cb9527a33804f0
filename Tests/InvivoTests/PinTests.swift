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
