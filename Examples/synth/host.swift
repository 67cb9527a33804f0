import Glibc
import Invivo

/// The synthesizer with a Swift host: the same components, and a short sequencer whose tempo is a block.
@main
struct Host {
    struct Sequencer: BitwiseCopyable { var tempo = 120.0 }

    static func main() {
        do { try run() } catch {
            print(error)
            exit(1)
        }
    }

    static func run() throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 10
        let runtime = try Runtime()
        for module in ["oscillator.so", "libfilter.so", "mixer.so"] { try runtime.loadModule("build/\(module)") }
        let sequencer = try runtime.define(
            Block("synth.sequencer", Sequencer()) { $0.field("tempo", \.tempo, in: 30...3000, unit: "bpm") })
        try runtime.define(
            "synth.lead", type: "Oscillator", scope: .singleton, properties: ["wave": "saw", "gain": 0.3])
        try runtime.define("synth.filter", type: "LowPass", scope: .singleton)
        try runtime.watch("tuning.yaml")
        let observer = try runtime.observe { print($0) }
        try runtime.define(
            "synth.mixer", type: "Mixer", scope: .singleton,
            initializer: ["source": .reference("synth.lead"), "effect": .reference("synth.filter")],
            properties: ["file": "output/swift"])

        try play(try runtime.object("synth.lead"), for: seconds, runtime, sequencer)
        try observer.close()
        try runtime.close()
    }

    static func play(_ lead: Object, for seconds: Int, _ runtime: Runtime, _ sequencer: BlockKey<Sequencer>) throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        for step in 0... where clock.now < end {
            let note = [57, 60, 64, 69, 67, 64, 60, 64][step % 8]
            _ = try lead.call("play", 440 * exp2(Double(note - 69) / 12))
            let next = clock.now + .seconds(60 / runtime[sequencer].tempo)  // the next step sees an edit
            while clock.now < min(next, end) { try runtime.poll(timeout: min(next, end) - clock.now) }
            if clock.now >= end { return }
        }
    }
}
