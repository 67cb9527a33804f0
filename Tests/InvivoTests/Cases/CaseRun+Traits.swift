import Invivo

private struct Layered {
    var amount: Int64 = 0
    var plus: Int64 = 0
}
private struct Added { var by: Int64 = 1 }

/// A value of a trait type that a case describes. Its functions run on other threads.
private enum Plain: Sendable {
    case null
    case bool(Bool)
    case int64(Int64)
    case double(Double)
    case string(String)
    case map([String: Double])

    init(_ value: InvivoValue) {
        switch value {
        case .bool(let one): self = .bool(one)
        case .int64(let one): self = .int64(one)
        case .double(let one): self = .double(one)
        case .string(let one): self = .string(one)
        case .map: self = (try? [String: Double].fromInvivo(value)).map { .map($0) } ?? .null
        default: self = .null
        }
    }

    var value: InvivoValue {
        switch self {
        case .null: .null
        case .bool(let one): .bool(one)
        case .int64(let one): .int64(one)
        case .double(let one): .double(one)
        case .string(let one): .string(one)
        case .map(let items): .map(items.mapValues { .double($0) })
        }
    }
}

/// The fields of such a type. A string without a value is nil.
private struct Given: Sendable {
    private var values: [Int: Plain] = [:]

    subscript(index: Int) -> Plain {
        get { values[index] ?? .null }
        set { values[index] = newValue }
    }
    subscript<Value: InvivoConvertible>(index: Int, else other: Fallback<Value>) -> Value {
        get { (try? Value.fromInvivo(self[index].value)) ?? other.value }
        set { values[index] = (try? newValue.asInvivo()).map(Plain.init) }
    }
}

/// A step of such a type: an event, or a property that is set to a field or to a constant.
private enum Step: Sendable {
    case event(String)
    case field(String, Int)
    case value(String, Plain)
}

/// The value of a field that has none yet.
private struct Fallback<Value: Sendable>: Hashable, Sendable {
    let value: Value
    static func == (_: Self, _: Self) -> Bool { true }
    func hash(into _: inout Hasher) {}
}

/// Statements of trait types.
extension CaseRun {
    /// Adds one of the trait types that all runners know.
    func addTrait(_ changes: ChangeSet, _ line: Script.Line, _ words: [Script.Word]) throws {
        if line.below.contains(where: { $0.verb == "set" }) {
            try changes.addTrait(try describedTrait(line))
            return
        }
        func labelled(_ label: String) -> String? { words.first { $0.label == label }?.text }
        let (world, name, kind) = (world, words[1].text, words[2].text)
        let times = labelled("times").flatMap { Int64($0) } ?? 1
        let target = labelled("for") ?? "Thing"
        switch kind {
        case "layers":
            try changes.addTrait(
                TraitType(name, Layered()) {
                    $0.target(target)
                    $0.required("amount", \.amount, in: 0...100)
                    $0.field("plus", \.plus)
                    $0.check { fields in
                        try world.event("check(\(name))")
                        if fields.plus > fields.amount { throw TraitRefusal("plus is above amount", field: "plus") }
                    }
                    $0.layers { fields, layers in
                        try layers.scale("number", by: Double(fields.amount * times))
                        try layers.offset("number", by: Double(fields.plus))
                    }
                })
        case "code":
            try changes.addTrait(
                TraitType(name, Added()) {
                    $0.target(target)
                    $0.field("by", \.by)
                    $0.apply(to: Object.self, repeats: words.contains { $0.text == "repeats" }) { object, fields in
                        let added = fields.by * times
                        try world.event("apply(\(name))")
                        try object.set("number", try object.get("number", as: Int64.self) + added)
                        return { object in
                            try world.event("revert(\(name))")
                            try object.set("number", try object.get("number", as: Int64.self) - added)
                        }
                    }
                })
        case "sets":
            try changes.addTrait(
                TraitType(name) {
                    $0.target(target)
                    $0.apply { object, _ in
                        try world.event("apply(\(name))")
                        try object.set("number", 100 * times)
                        try world.event("applied(\(name))")
                    }
                })
        default: throw Script.Problem(description: "'\(kind)' is no kind of a trait type")
        }
    }
}

/// Trait types that a case describes.
extension CaseRun {
    private func describedTrait(_ line: Script.Line) throws -> TraitType<Given> {
        let (name, kind, world) = (line.words[1].text, line.words[2].text, world)
        let parts = ["field", "refuse", "set", "event", "reversal", "fails", "finds"]
        if let other = line.below.first(where: { !parts.contains($0.verb) }) {
            throw Script.Problem(description: "a trait has no part '\(other.verb)'")
        }
        let fields = line.below.filter { $0.verb == "field" }
        let names = fields.map { $0.words[1].text }
        // The values of words are read here: the functions of the trait run on other threads.
        let steps = try line.below.filter { $0.verb == "set" || $0.verb == "event" }.map { try step($0, names) }
        let perform: @Sendable (Given, (String, InvivoValue) throws -> Void) throws -> Void = { given, set in
            for step in steps {
                let (property, value): (String, InvivoValue)
                switch step {
                case .event(let name):
                    try world.event(name)
                    continue
                case .field(let target, let index): (property, value) = (target, given[index].value)
                case .value(let target, let constant): (property, value) = (target, constant.value)
                }
                if case .null = value { continue }
                try set(property, value)
            }
        }
        let refusals = try line.below.filter { $0.verb == "refuse" }.map { part in
            (field: part.words[1].text, value: Plain(try value(part.words[2])), text: part.words[3].text)
        }
        var initial = Given()
        for (index, field) in fields.enumerated() {
            if let word = field.words.first(where: { $0.label == "default" }) {
                initial[index] = Plain(try value(word))
            }
        }
        let isReversed = line.below.contains { $0.verb == "reversal" }
        var problem: Script.Problem?
        let described = TraitType(name, initial) { type in
            if let target = line.labelled("for") { if target != "none" { type.target(target) } }
            for (index, field) in fields.enumerated() {
                do throws(Script.Problem) { try Self.add(field, at: index, to: &type) } catch { problem = error }
            }
            if !refusals.isEmpty {
                type.check { given in
                    for refusal in refusals {
                        guard let index = names.firstIndex(of: refusal.field) else { continue }
                        if Self.isEqual(given[index].value, refusal.value.value) {
                            throw TraitRefusal(refusal.text, field: refusal.field)
                        }
                    }
                }
            }
            switch (kind, isReversed) {
            case ("layers", _):
                type.layers { given, layers in try perform(given) { try layers.set($0, $1) } }
            case ("code", false):
                type.apply { object, given in try perform(given) { try object.set($0, $1) } }
            case ("code", true):
                type.apply(to: Object.self) { object, given in
                    var former: [(property: String, value: Plain)] = []
                    try perform(given) { property, value in
                        former.append((property, Plain(try object.get(property, as: InvivoValue.self))))
                        try object.set(property, value)
                    }
                    return { [former] object in
                        try world.event("revert(\(name))")
                        for (property, value) in former.reversed() { try object.set(property, value.value) }
                    }
                }
            default: problem = Script.Problem(description: "'\(kind)' is no kind of a trait that a case describes")
            }
        }
        if let problem { throw problem }
        return described
    }

    private func step(_ line: Script.Line, _ names: [String]) throws -> Step {
        if line.verb == "event" { return .event(Self.event(line.words[1])) }
        let (property, word) = (line.words[1].text, line.words[2])
        if !word.isQuoted, word.items == nil, let index = names.firstIndex(of: word.text) {
            return .field(property, index)
        }
        return .value(property, Plain(try value(word)))
    }

    /// `field NAME KIND [required] [codec=CODEC] [default=VALUE]`.
    private static func add(
        _ line: Script.Line, at index: Int, to type: inout TraitType<Given>
    ) throws(Script.Problem) {
        let (name, hasDefault) = (line.words[1].text, line.labelled("default") != nil)
        let codecs: [String: PropertyCodec] = [
            "color": .color, "size": .size, "percent": .percent, "duration": .duration,
        ]
        let codec = line.labelled("codec").flatMap { codecs[$0] } ?? .none
        func add<Value: InvivoConvertible & Sendable>(_ other: Value) {
            let path: any WritableKeyPath<Given, Value> & Sendable = \Given[index, else: Fallback(value: other)]
            if line.says("required", from: 3) {
                type.required(name, path, codec: codec)
            } else {
                type.field(name, path, codec: codec)
            }
        }
        switch line.words[2].text {
        case "double": add(0.0)
        case "int64": add(Int64(0))
        case "map": add([String: Double]())
        case "string" where hasDefault || line.says("required", from: 3): add("")
        case "string": add(String?.none)
        default: throw Script.Problem(description: "a field has no kind '\(line.words[2].text)'")
        }
    }
}
