import Glibc
import Invivo
import SynthStage

/// The filter: a Swift module. A resonant low-pass (a state variable filter), tuned through its block.
///
/// Only the real-time thread calls `render` and uses the filter state; the rest is constant. Hence `@unchecked
/// Sendable`.
final class LowPass: @unchecked Sendable {
    struct Tuning: BitwiseCopyable {
        var cutoff = 1200.0
        var resonance = 0.3
    }

    private struct Memory {
        var first = 0.0
        var second = 0.0
    }

    private let memory: UnsafeMutablePointer<Memory>
    private let stage: UnsafeMutablePointer<synth_stage>

    init() {
        memory = .allocate(capacity: 1)
        memory.initialize(to: Memory())
        stage = .allocate(capacity: 1)
        stage.initialize(to: synth_stage(render: Self.render, state: UnsafeMutableRawPointer(memory)))
    }

    deinit {
        stage.deallocate()
        memory.deallocate()
    }

    private static let render:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeMutablePointer<Float>?, Int
        ) -> Void = { state, block, frames, count in
            guard let state, let block, let frames else { return }
            let tuning = block.load(as: Tuning.self)
            let memory = state.assumingMemoryBound(to: Memory.self)
            let g = tan(Double.pi * tuning.cutoff / Double(SYNTH_RATE))
            let k = 2 - 1.9 * tuning.resonance
            let a1 = 1 / (1 + g * (g + k))
            var (first, second) = (memory.pointee.first, memory.pointee.second)
            for index in 0..<count {
                let v3 = Double(frames[index]) - second
                let v1 = a1 * (first + g * v3)
                let v2 = second + g * v1
                first = 2 * v1 - first
                second = 2 * v2 - second
                frames[index] = Float(v2)
            }
            memory.pointee = Memory(first: first, second: second)
        }

    static let invivoType = ObjectType<LowPass>("LowPass") { type in
        type.make(by: LowPass.init)
        type.property("stage", get: { UInt64(UInt(bitPattern: $0.stage)) }, set: nil)
        type.block(Tuning()) {
            $0.field("cutoff", \.cutoff, in: 20...20000, unit: "Hz")
            $0.field("resonance", \.resonance, in: 0...1)
        }
    }
}

@c(invivo_module_entry)
public func entry(table: Module.Table, runtime: Module.Handle, error: Module.ErrorPointer) -> Module.Status {
    Module.enter(table, runtime, error) { runtime in try runtime.register(LowPass.invivoType) }
}
