import Invivo

/// A typical user module: a class, described by its key paths.
final class LowPass {
    var frequency = 1_000.0

    static var invivoType: ObjectType<LowPass> {
        ObjectType(confined: "LowPass") { type in
            type.make(by: LowPass.init)
            type.property("frequency", \.frequency, in: 20...20_000, unit: "Hz")
        }
    }
}

@c(invivo_module_entry)
public func entry(table: Module.Table, runtime: Module.Handle, error: Module.ErrorPointer) -> Module.Status {
    Module.enter(table, runtime, error) { runtime in try runtime.register(LowPass.invivoType) }
}
