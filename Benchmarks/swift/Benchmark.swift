import CInvivo
import Glibc
import Invivo
import InvivoBase
import InvivoGraph
import InvivoTraits
import InvivoWiring

/// A plain Swift class that any thread may use.
final class Clock: Sendable {
    let ticks = 1
}

/// The same as a property and as a method of an assembly.
final class Clocks: Assembly {
    let clock = lazySingleton(Clock.init)
    let _main = lazySingleton(Clocks.main)
    func main() throws -> Clock { try _main { Clock() } }
}

@inline(never) func byHand(_ clock: Clock) -> Clock { clock }

struct Voice {
    var gain: Double
    var cutoff: Double
}

/// The cost for Swift hosts, and of one trait with one property.
@main
enum Benchmark {
    static func main() throws {
        let quick = CommandLine.arguments.contains("--quick")
        let (rounds, count) =
            CommandLine.arguments.contains("--tiny") ? (1, 30_000) : quick ? (3, 300_000) : (5, 3_000_000)
        if CommandLine.arguments.contains("--graphs") { return try graphs(rounds, count / 10) }
        if !CommandLine.arguments.contains("--traits") {
            try objects(rounds, count)
            try contexts(rounds, count / 10)
            try graphs(rounds, count / 10)
            try reading(rounds, max(1, count / 300_000))
        }
        try traits(rounds, CommandLine.arguments.contains("--traits") ? count : count / 10)
    }

    static func objects(_ rounds: Int, _ count: Int) throws {
        let runtime = try Runtime()
        let key: Key<Clock> = try runtime.define("bench.clock") { _ in Clock() }
        let clock = try runtime.resolve(key)
        // The floor: one strong reference passed through a call and released.
        let pair = measure(rounds: rounds, count: count) {
            let strong = Unmanaged.passUnretained(clock).retain()
            keep(byHand(clock).ticks)
            strong.release()
        }
        let strong = try measure(rounds: rounds, count: count) { keep(try runtime.resolve(key).ticks) }
        row("swift.shared", strong, "ns", floor: ("an ARC pair", pair), budget: "<= 35 ns", within: strong <= 35)
        let borrowed = runtime.view { view in
            measure(rounds: rounds, count: count) { view.with(key) { keep($0.ticks) } }
        }
        row("swift.borrowed", borrowed, "ns", floor: ("an ARC pair", pair), budget: "<= 8 ns", within: borrowed <= 8)
        withExtendedLifetime(clock) {}
        let clocks = try runtime.activate(Clocks())
        let called = try measure(rounds: rounds, count: count) { keep(try clocks.clock().ticks) }
        row("swift.called", called, "ns", floor: ("an ARC pair", pair), budget: "<= 35 ns", within: called <= 35)
        let method = try measure(rounds: rounds, count: count) { keep(try clocks.main().ticks) }
        row("swift.method", method, "ns", floor: ("an ARC pair", pair), budget: "<= 35 ns", within: method <= 35)
        let empty = measure(rounds: rounds, count: count) { runtime.view { _ in } }
        let pin = try measure(rounds: rounds, count: count) { try runtime.pinned {} }
        row("swift.pin", pin, "ns", floor: ("an empty view", empty), budget: "<= 300 ns", within: pin <= 300)
        try runtime.close()
    }

    /// A value of a context three levels up.
    static func contexts(_ rounds: Int, _ count: Int) throws {
        let runtime = try Runtime()
        let key = ContextKey<Int>("bench.number")
        let root = try runtime.context(nil, [.set(key, to: 7)])
        let middle = try runtime.context(parent: .context(root))
        let inner = try runtime.context(parent: .context(middle))
        let leaf = try runtime.context(parent: .context(inner))
        let empty = measure(rounds: rounds, count: count) { runtime.view { _ in } }
        let get = try measure(rounds: rounds, count: count) { keep(try leaf[key]) }
        row("swift.context.get", get, "ns", floor: ("an empty view", empty), budget: "recorded", within: true)
        withExtendedLifetime((root, middle, inner, leaf)) {}
        try runtime.close()
    }

    /// Properties of a C struct: layers applied, read back and removed, base values restored and read back.
    static func traits(_ rounds: Int, _ count: Int) throws {
        let one = try traits(properties: 1, rounds, count)
        row("trait.apply", one, "ns", floor: ("nothing", 0), budget: "<= 300 ns", within: one <= 300)
        let several = 8
        let each = try traits(properties: several, rounds, count / several) / Double(several)
        row(
            "trait.apply.\(several)", each, "ns", floor: ("one property", one), budget: "<= 300 ns a property",
            within: each <= 300)
    }

    /// Nanoseconds for `several` properties of one object.
    private static func traits(properties several: Int, _ rounds: Int, _ count: Int) throws -> Double {
        var runtime = invivo_runtime()
        guard invivo_runtime_open(&runtime, nil, nil) == 0 else { return 0 }
        defer { _ = invivo_runtime_close(runtime, nil) }
        let names = (0..<several).map { strdup("gain\($0)") }
        defer { for name in names { free(name) } }
        let properties = names.enumerated().map { index, name in
            var gain = invivo_property()
            gain.struct_size = MemoryLayout<invivo_property>.size
            gain.name = UnsafePointer(name)
            gain.kind = invivo_kind(INVIVO_KIND_DOUBLE)
            gain.offset = UInt64(index * 8)
            gain.size = 8
            gain.max = 2
            return gain
        }
        let type: InvivoGraph.ObjectType = try "BenchVoice".withCString { typeName in
            try properties.withUnsafeBufferPointer { properties in
                var options = invivo_type_options()
                options.struct_size = MemoryLayout<invivo_type_options>.size
                options.name = typeName
                options.size = UInt64(several * 8)
                options.alignment = 8
                options.properties = properties.baseAddress
                options.property_count = UInt64(several)
                let container = try Container.find(runtime.bits, .runtime)
                return try container.register(try TypeTables.type(&options))
            }
        }
        let tuning = Tuning()
        var voice = Array(repeating: 1.0, count: several)
        let half = (0..<several).map { Layer(property: $0, value: .double(0.5)) }
        return try voice.withUnsafeMutableBytes { bytes in
            guard let instance = bytes.baseAddress else { return 0.0 }
            return try measure(rounds: rounds, count: count) {
                // Two commits, each with its own undo steps.
                var undo = Undo()
                keep(try tuning.change(type, instance, to: half, undo: &undo))
                undo = Undo()
                keep(try tuning.change(type, instance, to: [], undo: &undo))
            }
        }
    }
}
