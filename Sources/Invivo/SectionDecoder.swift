/// Decodes sections of the configuration.
///
/// It goes on after the error of a number, a string or a boolean with a placeholder, so that one reading finds all of them. The value
/// that contains placeholders is dropped.
final class SectionDecoder {
    /// The section of one generation.
    struct Section {
        let value: InvivoValue
        /// The strings of values with environment variables, by their paths.
        let variables: [String: InvivoValue]
        /// Errors do not quote values.
        let isPrivate: Bool
    }

    /// Stands for the message of code of the host about a private section.
    static let hiddenMessage = "(its message is not shown, because it could quote a hidden value)"

    /// Reading went no further. The error was noted.
    private struct Stopped: Error {}
    fileprivate static var stopped: any Error { Stopped() }

    private let section: Section
    private var errors: [InvivoError] = []
    /// Keys that are no fields. They come first, because each may be a missing field that is misspelled.
    private var unknown: [InvivoError] = []

    private init(_ section: Section) { self.section = section }

    /// Decodes a section. Throws all errors at once.
    static func decode<Value: Decodable>(_ type: Value.Type, from section: Section) throws -> Value {
        let decoder = SectionDecoder(section)
        let value = try? decoder.decode(type, section.value, [])
        if let error = InvivoError(all: decoder.unknown + decoder.errors) { throw error }
        guard let value else { throw InvivoError(.type, "the section is no \(type)") }
        return value
    }

    // MARK: values

    fileprivate func decode<Value: Decodable>(_ type: Value.Type, _ value: InvivoValue, _ path: [String]) throws
        -> Value
    {
        if let leaf = type as? any SectionLeaf.Type, let found = leaf.read(value, self, path) as? Value { return found }
        do { return try Value(from: PartDecoder(decoder: self, value: value, path: path)) } catch {
            note(error, path, value)
            throw Stopped()
        }
    }

    /// Decodes a single value. Notes an error, and returns the placeholder then.
    fileprivate func leaf<Value>(
        _ value: InvivoValue, _ path: [String], _ expected: String, or placeholder: Value,
        _ read: (InvivoValue) -> Value?
    ) -> Value {
        let variable = section.variables[path.joined(separator: ".")]
        for candidate in [value, variable ?? .null] {
            if let found = read(candidate) { return found }
        }
        fail(.type, "expected \(expected), got \(shown(value, variable))", path)
        return placeholder
    }

    /// The string of a value with environment variables.
    fileprivate func variable(_ path: [String]) -> InvivoValue? {
        section.variables.isEmpty ? nil : section.variables[path.joined(separator: ".")]
    }

    fileprivate func fail(_ code: InvivoError.Code, _ message: String, _ path: [String]) {
        errors.append(InvivoError(code, message, path: path.joined(separator: ".")))
    }

    fileprivate func failUnknown(_ name: String, _ known: [String], _ path: [String]) {
        let message = "there is no field '\(name)'\(Self.suggestion(name, known))"
        unknown.append(InvivoError(.property, message, path: (path + [name]).joined(separator: ".")))
    }

    /// Notes the error of an initializer, unless it is noted already.
    private func note(_ error: any Error, _ path: [String], _ value: InvivoValue) {
        switch error {
        case is Stopped: break
        case is InvivoError where section.isPrivate:
            fail(.conversion, "the value is not accepted \(Self.hiddenMessage)", path)
        case let error as InvivoError:
            for part in error.errors {
                fail(part.code, part.message, path + (part.path.isEmpty ? [] : [part.path]))
            }
        case DecodingError.keyNotFound(let key, _): fail(.notConfigured, "'\(key.stringValue)' is not set", path)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            let isHidden = section.isPrivate || !section.variables.isEmpty
            fail(.conversion, isHidden ? "the value is not accepted" : context.debugDescription, path)
        default:
            fail(.host, section.isPrivate ? "the value is refused \(Self.hiddenMessage)" : "\(error)", path)
        }
    }

    /// A value as errors show it. `variable`: its entry among the values that errors must not quote.
    private func shown(_ value: InvivoValue, _ variable: InvivoValue?) -> String {
        if case .string? = variable { return "the value of an environment variable" }
        if variable != nil || section.isPrivate { return "\(value.kind)" }
        return switch value {
        case .string(let text): "'\(text)'"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let bool): "\(bool)"
        default: "\(value.kind)"
        }
    }

    /// "; did you mean 'x'?", or nothing.
    private static func suggestion(_ name: String, _ known: [String]) -> String {
        let near = known.map { (name: $0, distance: distance(Array(name.utf8), Array($0.utf8))) }
            .filter { $0.distance <= max(1, name.utf8.count / 3) }
            .min { $0.distance < $1.distance }
        return near.map { "; did you mean '\($0.name)'?" } ?? ""
    }

    /// The number of insertions, deletions, substitutions and swaps of neighbours.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for i in 0..<left.count {
            var row = [i + 1]
            for j in 0..<right.count {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}

// MARK: - Single values

/// A type that is read from a single value.
private protocol SectionLeaf {
    /// Notes an error, and returns the placeholder then.
    static func read(_ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String]) -> Self
    static var placeholder: Self { get }
}

extension SectionLeaf where Self: InvivoConvertible {
    /// A number or boolean: also from a string, as environment variables give it.
    fileprivate static func scalar(
        _ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String], _ expected: String,
        _ parse: (String) -> Self?
    ) -> Self {
        decoder.leaf(value, path, expected, or: placeholder) { value in
            if case .string(let text) = value { return parse(text) }
            return value == .null ? nil : try? Self.fromInvivo(value)
        }
    }
}

extension SectionLeaf where Self: FixedWidthInteger & InvivoConvertible {
    fileprivate static func read(_ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String]) -> Self {
        let expected =
            Self.isSigned && Self.bitWidth == 64 ? "an integer" : "an integer from \(Self.min) to \(Self.max)"
        return scalar(value, decoder, path, expected) { Self($0) }
    }
    fileprivate static var placeholder: Self { 0 }
}

extension Int: SectionLeaf {}
extension Int8: SectionLeaf {}
extension Int16: SectionLeaf {}
extension Int32: SectionLeaf {}
extension Int64: SectionLeaf {}
extension UInt: SectionLeaf {}
extension UInt8: SectionLeaf {}
extension UInt16: SectionLeaf {}
extension UInt32: SectionLeaf {}
extension UInt64: SectionLeaf {}

extension Double: SectionLeaf {
    fileprivate static var placeholder: Double { 0 }

    fileprivate static func read(_ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String]) -> Double {
        scalar(value, decoder, path, "a number") { Double($0) }
    }
}

extension Float: SectionLeaf {
    fileprivate static var placeholder: Float { 0 }

    fileprivate static func read(_ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String]) -> Float {
        scalar(value, decoder, path, "a number") { Float($0) }
    }
}

extension Bool: SectionLeaf {
    fileprivate static var placeholder: Bool { false }

    fileprivate static func read(_ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String]) -> Bool {
        scalar(value, decoder, path, "true or false") { $0 == "true" ? true : $0 == "false" ? false : nil }
    }
}

extension String: SectionLeaf {
    fileprivate static var placeholder: String { "" }

    /// The string of a variable, as it is in the environment.
    fileprivate static func read(_ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String]) -> String {
        let variable = decoder.variable(path) ?? value
        return decoder.leaf(variable == .null ? value : variable, path, "a string", or: "") {
            if case .string(let text) = $0 { text } else { nil }
        }
    }
}

extension Duration: SectionLeaf {
    fileprivate static var placeholder: Duration { .zero }

    /// "250 ms", "1 h 30 min", or a number of seconds.
    fileprivate static func read(_ value: InvivoValue, _ decoder: SectionDecoder, _ path: [String]) -> Duration {
        decoder.leaf(value, path, "a duration such as '250 ms' or '1 h 30 min', or a number of seconds", or: .zero) {
            value in
            switch value {
            case .int64(let seconds): .seconds(seconds)
            case .double(let seconds): .seconds(seconds)
            case .string(let text): parse(text)
            default: nil
            }
        }
    }

    private static let units: [Substring: Double] = [
        "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400,
    ]

    private static func parse(_ text: String) -> Duration? {
        var total = 0.0
        var rest = text.drop { $0 == " " }
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { "0123456789.".contains($0) }
            rest = rest.dropFirst(number.count).drop { $0 == " " }
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count).drop { $0 == " " }
            guard let amount = Double(number), let factor = units[unit] else { return nil }
            total += amount * factor
        }
        return .seconds(total)
    }
}

// MARK: - Containers

/// The decoder of one part of a section.
private struct PartDecoder: Decoder, SingleValueDecodingContainer {
    let decoder: SectionDecoder
    let value: InvivoValue
    let path: [String]

    var codingPath: [any CodingKey] { path.map { PartKey(stringValue: $0) } }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let entries) = value else { throw mismatch("a map") }
        return KeyedDecodingContainer(KeyedPart<Key>(decoder, entries, path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let items) = value else { throw mismatch("a list") }
        return ListPart(decoder: decoder, items: items, path: path)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type, value, path) }

    private func mismatch(_ expected: String) -> InvivoError {
        InvivoError(.type, "expected \(expected), got \(value.kind)")
    }
}

private struct PartKey: CodingKey {
    let stringValue: String
    var intValue: Int? { Int(stringValue) }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { stringValue = "\(intValue)" }
}

/// The entries of a map.
private final class KeyedPart<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: SectionDecoder
    private let entries: [String: InvivoValue]
    private let path: [String]
    private var asked: [String] = []
    private let unknown: [String]

    init(_ decoder: SectionDecoder, _ entries: [String: InvivoValue], _ path: [String]) {
        self.decoder = decoder
        self.entries = entries
        self.path = path
        unknown = entries.keys.filter { Key(stringValue: $0) == nil }.sorted()
    }

    /// The names that the type has asked for are known when it is decoded.
    deinit {
        for name in unknown {
            decoder.failUnknown(name, asked, path)
        }
    }

    var codingPath: [any CodingKey] { path.map { PartKey(stringValue: $0) } }
    var allKeys: [Key] { entries.keys.sorted().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool {
        asked.append(key.stringValue)
        return entries[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) -> Bool { (entries[key.stringValue] ?? .null) == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        asked.append(key.stringValue)
        let inner = path + [key.stringValue]
        if let value = entries[key.stringValue] { return try decoder.decode(type, value, inner) }
        decoder.fail(.notConfigured, "'\(key.stringValue)' is not set", inner)
        // A placeholder, so that the errors of the other fields are found too.
        if let leaf = type as? any SectionLeaf.Type, let found = leaf.placeholder as? Value { return found }
        throw SectionDecoder.stopped
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try part(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try part(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { PartDecoder(decoder: decoder, value: .map(entries), path: path) }
    func superDecoder(forKey key: Key) throws -> any Decoder { part(key) }

    private func part(_ key: Key) -> PartDecoder {
        asked.append(key.stringValue)
        return PartDecoder(
            decoder: decoder, value: entries[key.stringValue] ?? .null, path: path + [key.stringValue])
    }
}

/// The items of a list.
private struct ListPart: UnkeyedDecodingContainer {
    let decoder: SectionDecoder
    let items: [InvivoValue]
    let path: [String]
    private(set) var currentIndex = 0

    init(decoder: SectionDecoder, items: [InvivoValue], path: [String]) {
        self.decoder = decoder
        self.items = items
        self.path = path
    }

    var codingPath: [any CodingKey] { path.map { PartKey(stringValue: $0) } }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, items[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let part = try next()
        return try decoder.decode(type, part.value, part.path)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
    {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> PartDecoder {
        guard !isAtEnd else { throw InvivoError(.range, "the list has only \(items.count) items") }
        defer { currentIndex += 1 }
        return PartDecoder(decoder: decoder, value: items[currentIndex], path: path + ["\(currentIndex)"])
    }
}
