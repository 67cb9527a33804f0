import CInvivo
import InvivoBase
import Testing

/// The suites about the C boundary run one after the other, because each compares the process-wide counts of live
/// errors, callables and types before and after.
@Suite(.serialized, .tags(.concurrent)) enum Border {}

extension Tag {
    /// Suites in which several threads meet: the sanitizers run them (scripts/tagged).
    @Tag static var concurrent: Self
    /// Forks: not under ThreadSanitizer.
    @Tag static var forks: Self
}

/// Runs a test and checks that nothing remains. The counts belong to the whole process, where other suites may run: a
/// remainder counts only if every attempt shows it.
func leavingNothing(
    _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) rethrows {
    func counts() -> [String: Int] {
        [
            "errors": ErrorBox.liveCount, "callables": Callable.liveCount, "types": TypeDescription.liveCount,
            "callable handles": HandleTable.count(of: .callable), "type handles": HandleTable.count(of: .type),
        ]
    }
    var before = counts()
    var after = before
    for _ in 0..<20 {
        before = counts()
        try body()
        after = counts()
        if before == after { return }
    }
    #expect(after == before, sourceLocation: location)
}

/// The error of a closure; records an issue if there is none.
func failure(
    _ location: SourceLocation = #_sourceLocation, _ body: () throws(Failure) -> Void
) -> Failure {
    do throws(Failure) {
        try body()
    } catch {
        return error
    }
    Issue.record("no failure was thrown", sourceLocation: location)
    return Failure(.ok, "no failure was thrown")
}

/// A C literal: its text lives as long as the program, unlike that of a `String` that is passed as a pointer.
func literal(_ text: StaticString) -> invivo_value {
    invivo_string(UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self))
}

extension Value {
    /// Through C and back: owned by C, read from there, freed.
    func throughC() throws(Failure) -> Value {
        var copy = owned()
        defer { Value.free(&copy) }
        return try Value(borrowing: copy)
    }
}

/// Writes tables of type.h; their memory lives as long as this object.
final class Tables {
    let store = CStrings()

    func text(_ text: String) -> UnsafePointer<CChar> { store.string(text) }

    func property(
        _ name: String, _ kind: ValueKind, at offset: Int = 0, size: Int? = nil,
        _ fill: (inout invivo_property) -> Void = { _ in }
    ) -> invivo_property {
        var property = invivo_property()
        property.struct_size = MemoryLayout<invivo_property>.size
        property.name = store.string(name)
        property.kind = kind.rawValue
        property.offset = UInt64(offset)
        property.size = UInt64(size ?? kind.width ?? 0)
        fill(&property)
        return property
    }

    func parameter(_ name: String, _ kind: ValueKind, optional: Bool = false, type: String? = nil) -> invivo_parameter {
        invivo_parameter(
            name: store.string(name), kind: kind.rawValue,
            flags: optional ? UInt32(INVIVO_PARAMETER_OPTIONAL) : 0, type_name: store.string(type))
    }

    func method(
        _ name: String, _ parameters: [invivo_parameter], result: ValueKind = .null, _ call: Method.Call?
    ) -> invivo_method {
        var method = invivo_method()
        method.struct_size = MemoryLayout<invivo_method>.size
        method.name = store.string(name)
        method.parameters = store.table(parameters)
        method.parameter_count = UInt64(parameters.count)
        method.result = result.rawValue
        method.call = call
        return method
    }

    func choices(_ choices: [(String, Int64)], in property: inout invivo_property) {
        property.choices = store.table(choices.map { invivo_choice(name: text($0.0), number: $0.1) })
        property.choice_count = UInt64(choices.count)
    }

    func fields(_ fields: [invivo_property], in property: inout invivo_property) {
        property.fields = store.table(fields)
        property.field_count = UInt64(fields.count)
    }

    func was(_ names: [String], in property: inout invivo_property) {
        property.was = store.table(names.map { name in store.string(Optional(name)) })
        property.was_count = UInt64(names.count)
    }

    func type(
        _ name: String = "Oscillator", size: Int = 64, properties: [invivo_property] = [],
        methods: [invivo_method] = [], _ fill: (inout invivo_type_options) -> Void = { _ in }
    ) throws(Failure) -> TypeDescription {
        var options = invivo_type_options()
        options.struct_size = MemoryLayout<invivo_type_options>.size
        options.name = store.string(name)
        options.size = UInt64(size)
        options.properties = store.table(properties)
        options.property_count = UInt64(properties.count)
        options.methods = store.table(methods)
        options.method_count = UInt64(methods.count)
        fill(&options)
        return try TypeTables.type(&options)
    }
}

/// Random numbers that the seed determines.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
