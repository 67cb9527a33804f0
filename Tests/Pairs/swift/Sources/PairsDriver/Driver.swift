import Invivo
import Synchronization

/// Exercises a probe of any language through the Swift package: attaches to the runtime of `token`, and returns the
/// number of successful checks, or minus the number of failed ones.
@c(pairs_drive_swift)
public func drive(token: UnsafeRawPointer, component: UnsafePointer<CChar>) -> Int32 {
    let name = String(cString: component)
    var check = Check(name)
    check.succeeds("joining") { check in
        let runtime = try Runtime.attach(Token(address: token))
        let type = try runtime.type(name)
        check.holds(type.name == name, "the type is called \(type.name)")
        try Driver(runtime: runtime, type: type, probe: try runtime.make(type)).run(&check)
    }
    return check.outcome
}

/// A class of the driver: an object of it must return as the identical instance.
private final class Thing: InvivoObject {
    static let invivoType = ObjectType<Thing>(confined: "DriverThing") { _ in }
}

/// The enumeration as the driver declares it.
private enum Wave: Int, CaseIterable, InvivoConvertible {
    case sine = 0
    case saw = 1
    case square = 7
}

private struct Driver {
    let runtime: Runtime
    let type: TypeReference
    let probe: Object

    func run(_ check: inout Check) throws {
        check.succeeds("integers", integers)
        check.succeeds("plain values", plainValues)
        check.succeeds("enumerations", enumerations)
        check.succeeds("handles", handles)
        check.succeeds("callables", callables)
        check.succeeds("errors", errors)
        check.succeeds("constructor", constructor)
        check.succeeds("disposal", disposal)
        if type.name == "CProbe" { check.succeeds("plain struct", plainStruct) }
    }

    /// Through a property, a method of that kind, and a method and a property of any kind.
    private func roundTrip(_ check: inout Check, _ member: String, _ value: some InvivoConvertible & Sendable) {
        check.succeeds(member) { check in
            let crossed = try value.asInvivo()
            try probe.set(member, value)
            let got: InvivoValue = try probe.get(member)
            check.holds(got.kind == crossed.kind, "\(member) is \(got.kind) for \(crossed.kind)")
            check.equal(got, crossed, member)
            let back = try probe.call("echo_" + member, value)
            check.holds(back.kind == crossed.kind, "echo_\(member) is \(back.kind) for \(crossed.kind)")
            check.equal(back, crossed, "echo_\(member)")
            check.equal(try probe.call("echo", value), crossed, "echo of \(member)")
            try probe.set("anything", value)
            check.equal(try probe.get("anything"), crossed, "anything as \(member)")
        }
    }

    private func refuse(_ check: inout Check, _ member: String, _ value: InvivoValue, _ code: InvivoError.Code) {
        check.refused(code, "\(member) = \(value)") { try probe.set(member, value) }
        check.refused(code, "echo_\(member)(\(value))") { try probe.call("echo_" + member, value) }
    }

    private func integers(_ check: inout Check) throws {
        width(&check, "i8", Int8.self)
        width(&check, "i16", Int16.self)
        width(&check, "i32", Int32.self)
        width(&check, "i64", Int64.self)
        width(&check, "u8", UInt8.self)
        width(&check, "u16", UInt16.self)
        width(&check, "u32", UInt32.self)
        width(&check, "u64", UInt64.self)
        refuse(&check, "u8", .int64(300), .range)
    }

    private func width<Number: FixedWidthInteger & InvivoConvertible & Sendable>(
        _ check: inout Check, _ member: String, _: Number.Type
    ) {
        roundTrip(&check, member, Number.min)
        roundTrip(&check, member, Number.max)
        check.succeeds(member) { check in check.holds(try probe.get("anything") == Number.max, "\(member) typed") }
        if Number.bitWidth < 64 {
            refuse(&check, member, .int64(Int64(Number.min) - 1), .range)
            refuse(&check, member, .int64(Int64(Number.max) + 1), .range)
        }
        refuse(&check, member, Number.isSigned ? .uint64(1 << 63) : .int8(-1), .range)
        refuse(&check, member, .double(0.5), .range)
        refuse(&check, member, .string("7"), .type)
    }

    private func plainValues(_ check: inout Check) throws {
        let nested: [InvivoValue] = [
            .null, .bool(true), .int64(.min), .uint64(.max), .double(0.5), .string("x"), .bytes([0, 255]),
            .list([.list([])]),
            .map([:]),
        ]
        for value in [false, true] { roundTrip(&check, "flag", value) }
        for value: Float in [0.5, -.greatestFiniteMagnitude, -0.0, .infinity, .leastNonzeroMagnitude] {
            check.succeeds("single") { check in
                try probe.set("single", value)
                check.equal(try probe.get("single"), .float(value), "single")
                check.equal(try probe.call("echo_single", value), .float(value), "echo_single")
            }
        }
        for value in [0.1, .greatestFiniteMagnitude, -.leastNormalMagnitude, .leastNonzeroMagnitude, -0.0, -.infinity] {
            roundTrip(&check, "number", value)
        }
        for value in ["", "text \u{1F3B9}", "a\0b"] { roundTrip(&check, "label", value) }
        for value: [UInt8] in [[], [0, 255, 1, 0]] { roundTrip(&check, "data", value) }
        for value in [[], nested] { check.succeeds("items") { check in try list(&check, value) } }
        for value: InvivoValue in [.map([:]), .map(["a": .map(["b": .list(nested)]), "": .int64(1), "ä": .null])] {
            check.succeeds("table") { check in
                try probe.set("table", value)
                check.equal(try probe.get("table"), value, "table")
                check.equal(try probe.call("echo_table", value), value, "echo_table")
                check.equal(try probe.call("echo", value), value, "echo of table")
            }
        }
        refuse(&check, "single", .double(1e300), .range)
        refuse(&check, "number", .uint64(.max), .range)
        refuse(&check, "flag", .int64(1), .type)
        refuse(&check, "label", .int64(1), .type)
        refuse(&check, "items", .map([:]), .type)
    }

    private func list(_ check: inout Check, _ value: [InvivoValue]) throws {
        try probe.set("items", value)
        check.equal(try probe.get("items"), .list(value), "items")
        check.equal(try probe.call("echo_items", value), .list(value), "echo_items")
        check.equal(try probe.call("echo", value), .list(value), "echo of items")
    }

    private func enumerations(_ check: inout Check) throws {
        for wave in Wave.allCases {
            try probe.set("wave", wave)
            check.holds(try probe.get("wave") == wave, "wave as an enumeration of ours")
            check.equal(try probe.get("wave"), .enumeration(number: Int64(wave.rawValue), name: "\(wave)"), "wave")
            check.holds(try probe.call("echo_wave", wave).get() == wave, "echo_wave")
            check.equal(try probe.call("echo", wave), try wave.asInvivo(), "echo of wave")
            try probe.set("anything", wave)
            check.holds(try probe.get("anything") == wave, "anything as wave")
        }
        try probe.set("wave", InvivoValue.enumeration(number: 7, name: nil))
        check.holds(try probe.get("wave") == Wave.square, "a wave by its number")
        try probe.set("wave", InvivoValue.enumeration(number: 99, name: "saw"))
        check.holds(try probe.get("wave") == Wave.saw, "a wave by its name")
        check.refused(.range, "a wave of no name") {
            try probe.set("wave", InvivoValue.enumeration(number: 0, name: "noise"))
        }
        check.refused(.range, "a wave of no number") {
            try probe.set("wave", InvivoValue.enumeration(number: 5, name: nil))
        }
    }

    private func handles(_ check: inout Check) throws {
        roundTrip(&check, "other", probe)
        roundTrip(&check, "kind", type)
        let thing = Thing()
        try probe.set("other", thing)
        check.holds(try probe.get("other", as: Thing.self) === thing, "an instance of ours is the identical one")
        check.holds(try probe.call("echo_other", thing).get(Thing.self) === thing, "an instance comes back identical")
        check.holds(
            try probe.call("echo", [thing]).get([Thing].self).first === thing,
            "an instance in a list comes back identical")
        for member in ["other", "kind", "anything"] { try probe.set(member, InvivoValue.null) }
    }

    private func callables(_ check: inout Check) throws {
        let calls = Mutex(0)
        weak var gone: Callable?
        try {
            let ours = Callable(name: "of the driver") { (number: Int) in
                calls.withLock { $0 += 1 }
                return number + 1
            }
            gone = ours
            check.holds(try probe.call("apply", ours, 41).get() == 42, "a callable is called")
            try probe.set("function", ours)
            check.holds(try probe.get("function", as: Callable.self) === ours, "a callable is the identical one")
            check.holds(
                try probe.call("echo_function", ours).get(Callable.self) === ours, "a callable comes back identical")
            let doubler = try probe.call("doubler").get(Callable.self)
            check.holds(try doubler(21).get() == 42, "their callable is called")
            check.holds(try probe.call("apply", doubler, 4).get() == 8, "their callable, passed back, is called")
            try probe.set("function", InvivoValue.null)
        }()
        check.holds(calls.withLock { $0 } == 1, "a callable is called once")
        check.holds(gone == nil, "nobody holds a callable that was given back")
    }

    private func errors(_ check: inout Check) throws {
        let failing = Callable { (_: InvivoValue) throws -> InvivoValue in
            throw InvivoError(
                .timeout, "too late", path: "driver.clock", file: "driver.mid", line: 2, column: 5,
                cause: InvivoError(.busy, "the clock said so"))
        }
        failure(&check, "too loud", .range, "probe.gain", "probe.wav:3:7", "the amplifier said so") {
            try probe.call("fail")
        }
        failure(&check, "too late", .timeout, "driver.clock", "driver.mid:2:5", "the clock said so") {
            try probe.call("apply", failing)
        }
        check.refused(.property, "an unknown property read") { _ = try probe.get("nowhere", as: Int.self) }
        check.refused(.property, "an unknown property set") { try probe.set("nowhere", 1) }
        check.refused(.readOnly, "a property that is read only") { try probe.set("made", 1) }
        check.refused(.method, "an unknown method") { try probe.call("nowhere") }
        check.refused(.arity, "too many arguments") { try probe.call("echo", 1, 2, 3) }
        check.refused(.arity, "too few arguments") { try probe.call("echo_u8") }
    }

    private func failure(
        _ check: inout Check, _ message: String, _ code: InvivoError.Code, _ path: String, _ place: String,
        _ cause: String,
        _ body: () throws -> Void
    ) {
        do {
            try body()
            check.holds(false, "\(message): no error")
        } catch let error as InvivoError {
            check.holds(error.code == code, "\(error.code) for \(code)")
            check.holds(error.message == message, "'\(error.message)' for '\(message)'")
            check.holds(error.path == path, "'\(error.path)' for '\(path)'")
            let found = "\(error.file):\(error.line):\(error.column)"
            check.holds(found == place, "'\(found)' for '\(place)'")
            check.holds(error.cause?.code == .busy, "the cause: \(String(describing: error.cause))")
            check.holds(error.cause?.message == cause, "the cause: \(String(describing: error.cause))")
        } catch { check.holds(false, "\(error)") }
    }

    private func constructor(_ check: inout Check) throws {
        let function = Callable { (number: Int) in number + 1 }
        let given: [(String, any InvivoConvertible)] = [
            ("label", "made"), ("flag", true), ("i8", Int8.min), ("i16", Int16.min), ("i32", Int32.min),
            ("i64", Int64.min),
            ("u8", UInt8.max), ("u16", UInt16.max), ("u32", UInt32.max), ("u64", UInt64.max), ("single", Float(0.25)),
            ("number", 0.1), ("data", [UInt8]([0, 255])), ("items", [UInt64.max]), ("table", ["a": UInt64.max]),
            ("other", probe), ("kind", type), ("function", function), ("wave", Wave.square), ("anything", UInt64.max),
        ]
        func make(_ values: [any InvivoConvertible]) throws -> Object { try runtime.make(type, with: values) }
        let made = try make(given.map(\.1))
        for (member, value) in given { check.equal(try made.get(member), try value.asInvivo(), "argument \(member)") }
        for (wrong, code): (any InvivoConvertible, InvivoError.Code) in [(300, .range), ("7", .type)] {
            var values = given.map(\.1)
            values[6] = wrong
            check.refused(code, "a constructor's argument \(wrong)") { _ = try make(values) }
        }
    }

    private func disposal(_ check: inout Check) throws {
        func counts() throws -> [Int] { [try probe.get("made"), try probe.get("disposed"), try probe.get("stopped")] }
        let before = try counts()
        var held: Object?
        try {
            let probes = try (0..<8).map { _ in try runtime.make(type) }
            try probes[0].set("other", probes[7])
            held = probes[1]
        }()
        var after = try counts()
        check.holds(after[0] == before[0] + 8 && after[1] == before[1] + 7, "made, disposed of: \(before) -> \(after)")
        check.holds(held != nil, "one is held")
        held = nil
        after = try counts()
        check.holds(
            after[1] == before[1] + 8 && after[2] == before[2] + 8, "disposed of, stopped: \(before) -> \(after)")
    }

    private func plainStruct(_ check: inout Check) throws {
        try probe.set("spot", InvivoValue.map(["x": .double(0.1), "y": .int32(.min)]))
        check.equal(try probe.get("spot"), .map(["x": .double(0.1), "y": .int32(.min)]), "a nested struct")
        check.refused(.range, "a field out of range") { try probe.set("spot", ["x": 0, "y": Int64(Int32.max) + 1]) }
        try probe.set("block", [UInt8]([1, 0, 255, 4]))
        check.equal(try probe.get("block"), .bytes([1, 0, 255, 4]), "bytes of a fixed size")
        try probe.set("short_label", "short")
        check.equal(try probe.get("short_label"), .string("short"), "text of a fixed size")
        check.refused(.range, "a text too long") { try probe.set("short_label", "longer than its sixteen bytes") }
    }
}
