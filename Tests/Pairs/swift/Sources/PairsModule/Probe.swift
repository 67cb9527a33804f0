import Invivo
import Synchronization

/// The enumeration of the probes; its numbers are those of probe.c and probe.py.
enum Wave: Int, CaseIterable, InvivoConvertible {
    case sine = 0
    case saw = 1
    case square = 7
}

/// How often probes were created, stopped and disposed of in this process.
enum Count {
    static let made = Atomic<Int>(0)
    static let stopped = Atomic<Int>(0)
    static let disposed = Atomic<Int>(0)
}

/// The component of the pairs, in Swift. Its members are those of probe.c and probe.py.
final class Probe: InvivoObject {
    var label = ""
    var flag = false
    var i8: Int8 = 0
    var i16: Int16 = 0
    var i32: Int32 = 0
    var i64: Int64 = 0
    var u8: UInt8 = 0
    var u16: UInt16 = 0
    var u32: UInt32 = 0
    var u64: UInt64 = 0
    var single: Float = 0
    var number = 0.0
    var data: [UInt8] = []
    var items: [InvivoValue] = []
    var table: [String: InvivoValue] = [:]
    var other: Object?
    var kind: TypeReference?
    var function: Callable?
    var wave = Wave.sine
    var anything = InvivoValue.null

    init(
        label: String?, flag: Bool?, i8: Int8?, i16: Int16?, i32: Int32?, i64: Int64?, u8: UInt8?, u16: UInt16?,
        u32: UInt32?, u64: UInt64?, single: Float?, number: Double?, data: [UInt8]?, items: [InvivoValue]?,
        table: [String: InvivoValue]?, other: Object?, kind: TypeReference?, function: Callable?, wave: Wave?,
        anything: InvivoValue
    ) {
        self.label = label ?? ""
        self.flag = flag ?? false
        self.i8 = i8 ?? 0
        self.i16 = i16 ?? 0
        self.i32 = i32 ?? 0
        self.i64 = i64 ?? 0
        self.u8 = u8 ?? 0
        self.u16 = u16 ?? 0
        self.u32 = u32 ?? 0
        self.u64 = u64 ?? 0
        self.single = single ?? 0
        self.number = number ?? 0
        self.data = data ?? []
        self.items = items ?? []
        self.table = table ?? [:]
        self.other = other
        self.kind = kind
        self.function = function
        self.wave = wave ?? .sine
        self.anything = anything
        Count.made.add(1, ordering: .relaxed)
    }

    deinit { Count.disposed.add(1, ordering: .relaxed) }

    static let invivoType = ObjectType<Probe>(confined: "SwiftProbe") { type in
        type.make(
            "label", "flag", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "single", "number", "data", "items",
            "table", "other", "kind", "function", "wave", "anything", by: Probe.init)
        type.stop { _ in Count.stopped.add(1, ordering: .relaxed) }
        type.property("label", \.label)
        type.property("flag", \.flag)
        type.property("i8", \.i8)
        type.property("i16", \.i16)
        type.property("i32", \.i32)
        type.property("i64", \.i64)
        type.property("u8", \.u8)
        type.property("u16", \.u16)
        type.property("u32", \.u32)
        type.property("u64", \.u64)
        type.property("single", \.single)
        type.property("number", \.number)
        type.property("data", \.data)
        type.property("items", \.items)
        type.property("table", \.table)
        type.property("other", \.other)
        type.property("kind", \.kind)
        type.property("function", \.function)
        type.property("wave", \.wave)
        type.property("anything", \.anything)
        type.property("made", get: { _ in Count.made.load(ordering: .relaxed) }, set: nil)
        type.property("stopped", get: { _ in Count.stopped.load(ordering: .relaxed) }, set: nil)
        type.property("disposed", get: { _ in Count.disposed.load(ordering: .relaxed) }, set: nil)
        echo(&type, "label", String.self)
        echo(&type, "flag", Bool.self)
        echo(&type, "i8", Int8.self)
        echo(&type, "i16", Int16.self)
        echo(&type, "i32", Int32.self)
        echo(&type, "i64", Int64.self)
        echo(&type, "u8", UInt8.self)
        echo(&type, "u16", UInt16.self)
        echo(&type, "u32", UInt32.self)
        echo(&type, "u64", UInt64.self)
        echo(&type, "single", Float.self)
        echo(&type, "number", Double.self)
        echo(&type, "data", [UInt8].self)
        echo(&type, "items", [InvivoValue].self)
        echo(&type, "table", [String: InvivoValue].self)
        echo(&type, "other", Object.self)
        echo(&type, "kind", TypeReference.self)
        echo(&type, "function", Callable.self)
        echo(&type, "wave", Wave.self)
        type.method("echo", "value") { (_: Probe, value: InvivoValue) throws -> InvivoValue in value }
        type.method("apply", "function", "value") {
            (_: Probe, function: Callable, value: InvivoValue) throws -> InvivoValue in
            try function(value)
        }
        type.method("doubler") { (_: Probe) throws -> Callable in
            Callable(name: "twice") { (number: Int) in 2 * number }
        }
        type.method("fail") { (_: Probe) throws -> Void in
            throw InvivoError(
                .range, "too loud", path: "probe.gain", file: "probe.wav", line: 3, column: 7,
                cause: InvivoError(.busy, "the amplifier said so"))
        }
    }

    /// A method that returns its argument, declared as one kind.
    private static func echo<Value: InvivoConvertible>(_ type: inout ObjectType<Probe>, _ name: String, _: Value.Type) {
        type.method("echo_" + name, "value") { (_: Probe, value: Value) throws -> Value in value }
    }
}

@c(invivo_module_entry)
public func entry(table: Module.Table, runtime: Module.Handle, error: Module.ErrorPointer) -> Module.Status {
    Module.enter(table, runtime, error) { runtime in try runtime.register(Probe.invivoType) }
}
