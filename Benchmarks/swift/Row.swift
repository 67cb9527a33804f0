import Glibc

/// One JSON object per line, as in every benchmark.
func row(_ name: String, _ value: Double, _ unit: String, floor: (String, Double), budget: String, within: Bool) {
    let ratio = floor.1 > 0 ? value / floor.1 : 0
    print(
        "{\"name\": \"\(name)\", \"value\": \(rounded(value)), \"unit\": \"\(unit)\", \"floor\": \"\(floor.0)\", "
            + "\"floor_value\": \(rounded(floor.1)), \"ratio\": \(rounded(ratio)), \"budget\": \"\(budget)\", \"within\": \(within)}"
    )
}

private func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

/// Nanoseconds of this thread's processor time: other work of the machine is not counted.
private func cpuTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// The minimum of `rounds` runs with `count` repetitions, in nanoseconds each.
@inline(__always)
func measure(rounds: Int, count: Int, _ body: () throws -> Void) rethrows -> Double {
    var best = Double.infinity
    for _ in 0..<rounds {
        let begun = cpuTime()
        for _ in 0..<count { try body() }
        best = min(best, (cpuTime() - begun) / Double(count))
    }
    return best
}

/// Keeps a value from being optimized away.
@inline(never) @_optimize(none)
func keep<T>(_ value: borrowing T) {}
