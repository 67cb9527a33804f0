internal import InvivoBase

/// The definitions under `$defs` that the parts of a schema share.
struct SchemaDefinitions {
    private(set) var members: [JsonText.Member] = []
    private var taken: Set<String> = []

    /// Reserves a name. It contains only characters that a reference may contain.
    mutating func name(_ wanted: String) -> String {
        let plain = String(
            wanted.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "_") ? $0 : "_" })
        var name = plain
        var count = 1
        while !taken.insert(name).inserted {
            count += 1
            name = "\(plain)_\(count)"
        }
        return name
    }

    /// Defines a name that `name` has reserved.
    mutating func define(_ name: String, _ value: JsonText) { members.append((name, value)) }

    /// Adds a definition, and returns a reference to it.
    mutating func add(_ wanted: String, _ members: [JsonText.Member]) -> JsonText {
        let name = name(wanted)
        define(name, .object(members))
        return Self.reference(name)
    }

    static func reference(_ name: String) -> JsonText { .object([("$ref", .string("#/$defs/\(name)"))]) }
}
