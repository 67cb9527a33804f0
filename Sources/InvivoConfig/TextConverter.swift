public import InvivoBase

/// The requirements of the receiver of a string: the value's kind and unit.
public struct TextFormat: Sendable {
    public var kind: ValueKind
    public var unit: String? { property?.unit }
    /// The property that receives the value; nil for another receiver.
    public var property: Property?
    /// The folder of the document that contains the string; nil if it comes from elsewhere.
    public var folder: String?

    public init(kind: ValueKind = .any, property: Property? = nil, folder: String? = nil) {
        self.kind = kind
        self.property = property
        self.folder = folder
    }
}

/// Reads values from strings. Any thread may use it. Converters of the host run host code.
public final class TextConverter: Sendable {
    public typealias Function = @Sendable (String, TextFormat) throws(Failure) -> Value
    public let name: String
    public let isHosts: Bool
    private let function: Function
    /// Reads values of every kind; nil where it reads strings alone.
    private let reader: (@Sendable (Value) throws(Failure) -> Value)?

    public init(
        _ name: String, isHosts: Bool = false, reader: (@Sendable (Value) throws(Failure) -> Value)? = nil,
        _ function: @escaping Function
    ) {
        self.name = name
        self.isHosts = isHosts
        self.reader = reader
        self.function = function
    }

    /// A copy of this converter that calls its functions through `around`.
    public func within(
        _ around: @escaping @Sendable (_ call: () throws(Failure) -> Value) throws(Failure) -> Value
    ) -> TextConverter {
        var outer: (@Sendable (Value) throws(Failure) -> Value)?
        if let reader {
            outer = { (value) throws(Failure) in try around { () throws(Failure) in try reader(value) } }
        }
        return TextConverter(name, isHosts: isHosts, reader: outer) { [function] (text, format) throws(Failure) in
            try around { () throws(Failure) in try function(text, format) }
        }
    }

    /// The value that the converter reads from a node; nil if the node is no string and the converter reads only
    /// strings.
    public func value(of node: ConfigNode, _ format: TextFormat) throws(Failure) -> Value? {
        if let reader {
            let given = node.value
            guard !given.isNull else { return .null }
            do throws(Failure) { return try reader(given) } catch {
                throw Failure.gathered(error.all.map { node.located($0, expected) }) ?? error
            }
        }
        guard case .value(.string(let text)) = node.content else { return nil }
        do throws(Failure) { return try value(text, format, at: node.location) } catch {
            throw node.masked(error, expected: expected)
        }
    }

    /// The accepted form, for errors without the value.
    public var expected: String { "a value for the converter '\(name)'" }

    /// A failure gets the source location of the string.
    public func value(_ text: String, _ format: TextFormat, at location: Location = Location()) throws(Failure) -> Value
    {
        do throws(Failure) { return try function(text, format) } catch {
            var failure = error
            if failure.location.line == 0 && failure.location.file.isEmpty { failure.location = location }
            throw failure
        }
    }
}

/// The receiver of a value, as far as the value must be converted for it.
public enum Taker {
    case any
    /// A receiver of a known kind, which checks the value itself later.
    case kind(ValueKind)
    case property(Property)
    case parameter(Signature, Signature.Parameter)

    public var kind: ValueKind {
        switch self {
        case .any: .any
        case .kind(let kind): kind
        case .property(let property): property.kind
        case .parameter(_, let parameter): parameter.kind
        }
    }

    /// The accepted kind, for errors without the value.
    public var expected: String {
        if case .parameter(_, let parameter) = self, let type = parameter.typeName { return withArticle(type) }
        if case .property(let property) = self { return property.wanted }
        return kind == .any ? "another kind of value" : kind.withArticle
    }

    /// The converter that reads strings for it; nil if a string stays a string.
    public var converter: String? {
        switch self {
        case .any: return nil
        case .kind(let kind): return Self.converter(for: kind)
        case .property(let property):
            // This converter also reads the codecs of properties.
            if property.codec != .none { return Self.converter(for: .double) }
            return property.isEnumeration ? nil : Self.converter(for: property.kind)
        case .parameter(_, let parameter): return parameter.typeName ?? Self.converter(for: parameter.kind)
        }
    }

    /// The failure without the value of a secret property or parameter. `expected`: what a converter accepts.
    public func masked(_ failure: Failure, expected: String? = nil) -> Failure {
        switch self {
        case .any, .kind: failure
        case .property(let property): property.masked(failure)
        case .parameter(_, let parameter): parameter.masked(failure, expected: expected)
        }
    }

    /// This receiver, or one of `kind` if it accepts every value.
    public func orKind(_ kind: ValueKind) -> Taker {
        switch self {
        case .any: kind == .any ? self : .kind(kind)
        default: self
        }
    }

    public static func converter(for kind: ValueKind) -> String? {
        kind.isNumber ? "number" : kind == .bool ? "bool" : kind == .bytes ? "base64" : nil
    }

    /// The value in the receiver's kind. Fails if it is outside the receiver's range.
    public func checked(_ value: Value) throws(Failure) -> Value {
        switch self {
        case .any: value
        case .kind(let kind): value.isNull ? value : try value.converted(to: kind)
        case .property(let property): try property.check(value)
        case .parameter(let signature, let parameter): try signature.checked(value, parameter)
        }
    }
}

extension ConfigNode {
    /// The node's value for a receiver. Strings are read by the converter that the receiver names. A failure has the
    /// source location of the wrong part, down to the field of a map.
    public func value(for taker: Taker, _ converter: (String) -> TextConverter?) throws(Failure) -> Value {
        let property: Property? = if case .property(let property) = taker { property } else { nil }
        let found: Value
        do throws(Failure) { found = try read(property, taker.kind, taker.converter, converter) } catch {
            throw taker.masked(error)
        }
        do throws(Failure) { return try taker.checked(found) } catch {
            throw Failure.gathered(error.all.map { located($0, taker.expected) }) ?? error
        }
    }

    /// The failure with the source location of its part of the node. Its path leads to that part after the first name.
    /// `expected` is for an error about the value of an environment variable, which is not shown.
    fileprivate func located(_ failure: Failure, _ expected: String) -> Failure {
        var located = failure
        guard located.location.line == 0 else { return masked(located, expected: expected) }
        var node = self
        var isWhole = true
        for name in failure.path.split(separator: ".").dropFirst() {
            isWhole = false
            guard let inner = node.inner(String(name)) else { break }
            node = inner
            isWhole = true
        }
        // An unknown field has the location of its key.
        located.location = failure.code == .property && isWhole ? node.keyLocation : node.location
        return node.masked(located, expected: expected)
    }

    /// The entry of a map by its name, the item of a list by its number.
    public func inner(_ name: String) -> ConfigNode? {
        guard case .list(let items) = content else { return self[name] }
        return Int(name).flatMap { items.indices.contains($0) ? items[$0] : nil }
    }

    private func read(
        _ property: Property?, _ kind: ValueKind, _ name: String?, _ converter: (String) -> TextConverter?
    ) throws(Failure) -> Value {
        switch content {
        case .value(.string(let text)):
            guard let converter = name.flatMap(converter) else { return .string(text) }
            return try read(text, kind, property, by: converter)
        case .value(let value):
            // A value of a variable is a string until its receiver asks for something else.
            guard let text = variables?.text, !kind.isNumber, kind != .bool else { return value }
            if let converter = name.flatMap(converter) { return try read(text, kind, property, by: converter) }
            return kind == .string ? .string(text) : value
        case .list(let items): return .list(items.map(\.value))
        case .map(let map):
            var values: [(name: String, value: Value)] = []
            for pair in map {
                let field = property?.fields.property(named: pair.name)
                let name = field.flatMap { Taker.property($0).converter }
                do throws(Failure) {
                    values.append((pair.name, try pair.node.read(field, field?.kind ?? .any, name, converter)))
                } catch {
                    guard let property else { throw error }
                    // The path begins with the property's name, as that of its check does.
                    let rest = error.path.split(separator: ".").dropFirst().map { "." + $0 }.joined()
                    var failure = error
                    failure.path = "\(property.name).\(pair.name)\(rest)"
                    throw failure
                }
            }
            return .map(values)
        }
    }

    private func read(
        _ text: String, _ kind: ValueKind, _ property: Property?, by converter: TextConverter
    ) throws(Failure) -> Value {
        let format = TextFormat(kind: kind, property: property, folder: folder)
        do throws(Failure) { return try converter.value(text, format, at: location) } catch {
            let masked = masked(
                error, expected: property?.wanted ?? (kind == .any ? "a '\(converter.name)'" : kind.withArticle))
            throw property?.masked(masked) ?? masked
        }
    }

    /// The folder of the document that contains the node.
    public var folder: String? {
        guard let slash = location.file.lastIndex(of: "/") else { return nil }
        return slash == location.file.startIndex ? "/" : String(location.file[..<slash])
    }
}
