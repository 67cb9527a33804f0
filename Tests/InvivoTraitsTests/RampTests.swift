import InvivoBase
import Testing

@testable import InvivoTraits

@Suite struct RampTests {
    private func movement(_ start: Value, _ end: Value, over milliseconds: UInt64 = 10) -> RampRun? {
        RampRun.between(start, end, over: Ramp(duration: milliseconds * 1_000_000, from: nil), of: nil)
    }

    @Test func aValueLiesBetweenStartAndEnd() throws {
        let run = try #require(movement(.double(1), .double(3)))
        #expect(run.value(at: 100).isSame(as: .double(1)) && !run.isOver(at: .max))
        run.begin(at: 5_000_000)
        // A second call is a no-op.
        run.begin(at: 0)
        for (now, expected) in [(0, 1.0), (5, 1.0), (10, 2.0), (14, 1 * (1 - 0.9) + 3 * 0.9), (15, 3.0), (900, 3.0)] {
            #expect(run.value(at: UInt64(now) * 1_000_000).isSame(as: .double(expected)), "at \(now) ms")
        }
        #expect(!run.isOver(at: 14_999_999) && run.isOver(at: 15_000_000))
    }

    @Test func integersAreRoundedAndStayInOrder() throws {
        let ends: [(Value, Value)] = [
            (.int64(.min), .int64(.max)), (.int64(.max), .int64(.min)), (.uint64(0), .uint64(.max)),
            (.uint64(.max), .uint64(0)), (.int8(-3), .int8(3)), (.int64(1 << 53), .int64(1 << 53 + 7)),
            (.uint8(9), .uint8(2)),
        ]
        for (start, end) in ends {
            let run = try #require(movement(start, end, over: 1000))
            run.begin(at: 0)
            var former = start
            for tick in 0...1000 {
                let value = run.value(at: UInt64(tick) * 1_000_000)
                #expect(value.kind == end.kind)
                if let (a, b, z) = wide(former, value, end, start) { #expect(a <= b && b <= z || a >= b && b >= z) }
                former = value
            }
            #expect(former.isSame(as: end))
        }
        let run = try #require(movement(.int64(-5), .int64(0), over: 10))
        run.begin(at: 0)
        #expect(run.value(at: 1_000_000).isSame(as: .int64(-5)), "-4.5, half away from zero")
        #expect(run.value(at: 2_000_000).isSame(as: .int64(-4)))
    }

    /// The former value, the value and the end, as comparable numbers.
    private func wide(_ former: Value, _ value: Value, _ end: Value, _ start: Value) -> (Int64, Int64, Int64)? {
        guard let a = former.signedInteger, let b = value.signedInteger, let c = end.signedInteger else { return nil }
        return (a, b, c)
    }

    @Test func kindsAreThoseOfTheEnd() throws {
        let run = try #require(movement(.int64(2), .double(4)))
        run.begin(at: 0)
        #expect(run.value(at: 5_000_000).isSame(as: .double(3)) && run.value(at: 0).isSame(as: .double(2)))
        let map = try #require(
            movement(.map([("x", .double(1)), ("y", .double(9))]), .map([("x", .double(3))])))
        map.begin(at: 0)
        #expect(map.value(at: 5_000_000).isSame(as: .map([("x", .double(2))])))
    }

    @Test func whatHasNoWayIsSetAtOnce() {
        for (start, end) in [
            (Value.double(.nan), Value.double(1)), (.double(.infinity), .double(1)), (.string("a"), .double(1)),
            (.null, .double(1)), (.double(1), .double(1)), (.map([]), .map([("x", .double(1))])),
        ] { #expect(movement(start, end) == nil) }
        #expect(movement(.double(0), .double(1), over: 0) == nil)
    }

    @Test func randomWaysEndExactly() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let (start, end) = (
                Double.random(in: -1e300...1e300, using: &random), Double.random(in: -1...1, using: &random)
            )
            guard let run = movement(.double(start), .double(end)) else { continue }
            run.begin(at: 7)
            guard case .double(let middle) = run.value(at: 5_000_007) else {
                Issue.record("no number")
                return
            }
            #expect(middle.isFinite && min(start, end) <= middle && middle <= max(start, end))
            #expect(run.value(at: 10_000_007).isSame(as: .double(end)))
        }
    }
}
