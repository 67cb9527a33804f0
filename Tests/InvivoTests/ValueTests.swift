import Invivo
import Testing

extension SwiftAPI {
    /// Values pass through C and return: as arguments, results, and through callables.
    @Suite struct ValueTests {
        final class Echo: Sendable {
            static let type = ObjectType<Echo>("Echo") { type in
                type.make { Echo() }
                type.method("echo", "value") { (_: Echo, value: InvivoValue) -> InvivoValue in value }
                type.method("byte", "value") { (_: Echo, value: UInt8) -> UInt8 in value }
                type.method("apply", "function", "value") { (_: Echo, function: Callable, value: InvivoValue) in
                    try function(value)
                }
            }
        }

        private func withEcho(_ body: (Runtime, Object) throws -> Void) throws {
            try withRuntime { runtime throws in
                try runtime.define("a.echo", Echo.type)
                try body(runtime, try runtime.object("a.echo"))
            }
        }

        @Test func everyKindComesBackAsItWas() throws {
            try withEcho { runtime, echo throws in
                let values: [InvivoValue] = [
                    .null, .bool(true), .int8(-128), .int16(-32768), .int32(.min), .int64(.min), .uint8(255),
                    .uint16(.max),
                    .uint32(.max), .uint64(.max), .float(0.1), .double(-1e300), .string(""), .string("größer 𝄞"),
                    .bytes([]), .bytes([0, 255]), .list([]), .list([.int8(1), .string("x"), .list([.null])]),
                    .map([:]), .map(["a": .uint64(.max), "b": .map(["ü": .bool(false)])]), .object(echo),
                    .type(try echo.type), .enumeration(number: 3, name: "saw"),
                ]
                for value in values { #expect(try echo.call("echo", value) == value) }
            }
        }

        @Test func swiftTypesComeBackAsTheyWere() throws {
            try withEcho { _, echo throws in
                func comesBack<Value: InvivoConvertible & Equatable>(_ value: Value) throws {
                    #expect(try echo.call("echo", value).get(Value.self) == value)
                }
                try comesBack(true)
                try comesBack(Int.min)
                try comesBack(UInt.max)
                try comesBack(UInt64.max)
                try comesBack(Int8(-1))
                try comesBack(Float(1.5))
                try comesBack(Double.pi)
                try comesBack("text")
                try comesBack([UInt8]([1, 2]))
                try comesBack([1.5, 2.5])
                try comesBack(["a": [1], "b": []])
                try comesBack(Int?.none)
                try comesBack(Int?.some(4))
                try comesBack(Player.Wave.saw)
            }
        }

        @Test func nothingIsLostByNarrowing() throws {
            try withEcho { _, echo throws in
                #expect(failure { try echo.call("byte", 300) }.code == .range)
                #expect(failure { try echo.call("byte", -1) }.code == .range)
                #expect(failure { try echo.call("byte", 1.5) }.code == .range)
                #expect(try echo.call("byte", 255) == .uint8(255))
                #expect(failure { _ = try InvivoValue.uint64(.max).get(Int64.self) }.code == .range)
                #expect(failure { _ = try InvivoValue.int64((1 << 53) + 1).get(Double.self) }.code == .range)
                #expect(failure { _ = try InvivoValue.double(1e300).get(Float.self) }.code == .range)
                #expect(failure { _ = try InvivoValue.string("1").get(Int.self) }.code == .type)
                #expect(failure { _ = try InvivoValue.null.get(Int.self) }.code == .null)
                let nested = failure { _ = try InvivoValue.map(["a": [1, "x"]]).get([String: [Int]].self) }
                #expect(nested.path == "a[1]")
            }
        }

        @Test func aClosureIsCalledBackAndItsErrorComesThrough() throws {
            try withEcho { _, echo throws in
                let double = Callable(name: "double") { (number: Int) in number * 2 }
                #expect(try echo.call("apply", double, 21) == .int64(42))
                let error = failure { try echo.call("apply", double, "x") }
                #expect(error.code == .type)
                #expect(error.description.contains("argument 1"))
                let failing = Callable { (_: [InvivoValue]) in
                    throw InvivoError(.busy, "later", cause: InvivoError(.cold, "frost"))
                }
                let thrown = failure { try echo.call("apply", failing, 1) }
                #expect(thrown.code == .busy)
                var causes = [thrown]
                while let cause = causes.last?.cause { causes.append(cause) }
                #expect(causes.contains { $0.code == .cold && $0.message.contains("frost") })
            }
        }

        @Test func aClosureThatComesBackIsTheIdenticalOne() throws {
            try withEcho { _, echo throws in
                let callable = Callable { (_: Int) in 1 }
                #expect(try echo.call("echo", callable).get(Callable.self) === callable)
            }
        }

        @Test func aClosureIsReleasedWithItsLastHolder() throws {
            let before = Counted.alive.load(ordering: .relaxed)
            try withEcho { _, echo throws in
                do {
                    let counted = Counted()
                    let callable = Callable { (number: Int) in
                        withExtendedLifetime(counted) {}
                        return number
                    }
                    try echo.call("apply", callable, 1)
                    #expect(Counted.alive.load(ordering: .relaxed) == before + 1)
                }
                #expect(Counted.alive.load(ordering: .relaxed) == before)
            }
        }

        @Test func aNameWithNULIsRefused() throws {
            try withRuntime { runtime throws in
                #expect(failure { try runtime.define("a.b\0c") { _ in Clock() } }.code == .argument)
            }
        }
    }
}
