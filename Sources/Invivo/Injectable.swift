internal import CInvivo

/// A type that determines its injection itself, instead of a lookup by type.
protocol Injectable {
    static var injection: Injection { get }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> Self
    /// Whether this package creates the injected object, without a value of the library.
    static var isOwn: Bool { get }
}

extension Injectable {
    static var isOwn: Bool { false }
}

extension Injection {
    /// The injection for a parameter or property of a type.
    static func wanted(_ type: Any.Type) -> Injection {
        (type as? any Injectable.Type)?.injection ?? Injection(.type(type))
    }
}

extension Optional: Injectable {
    static var injection: Injection { Injection.wanted(Wrapped.self).optional }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> Wrapped? {
        let isOwn = (Wrapped.self as? any Injectable.Type)?.isOwn == true
        return value.kind == InvivoKind.null.rawValue && !isOwn ? nil : try core.take(value, as: Wrapped.self)
    }
}

extension Array: Injectable {
    static var injection: Injection { Injection(.all(Element.self)) }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> [Element] {
        guard value.kind == InvivoKind.list.rawValue else {
            if let bytes = try InvivoValue(reading: value, core, .component).bytes as? [Element] { return bytes }
            throw InvivoError(.type, "expected a list, got \(value.kindName)")
        }
        var elements: [Element] = []
        for item in UnsafeBufferPointer(start: value.as.list.items, count: Int(value.as.list.count)) {
            elements.append(try core.take(item, as: Element.self))
        }
        return elements
    }
}

/// A type whose parameters are injected with one object of each definition.
private protocol AllOfAType {}
extension Array: AllOfAType {}

extension Dictionary: Injectable where Key == String {
    static var injection: Injection { Injection(.type(self)) }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> [String: Value] {
        guard value.kind == InvivoKind.map.rawValue else {
            throw InvivoError(.type, "expected a map, got \(value.kindName)")
        }
        var values: [String: Value] = [:]
        for pair in UnsafeBufferPointer(start: value.as.map.pairs, count: Int(value.as.map.count)) {
            values[try InvivoValue.text(pair.name, pair.length)] = try core.take(pair.value, as: Value.self)
        }
        return values
    }
}

extension Provider: Injectable {
    /// Lists of all objects of a type are resolved here: a provider of the runtime returns one object.
    static var isOwn: Bool { Value.self is any AllOfAType.Type }
    static var injection: Injection { isOwn ? Injection(.own) : .provider(of: .wanted(Value.self)) }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> Provider<Value> {
        if isOwn { return try found(core) }
        if let none = nothing(value, as: Value.self) { return Provider { _ throws(InvivoError) in none } }
        let callable = try InvivoValue(reading: value, core, .component).get(Callable.self)
        return Provider { arguments throws(InvivoError) in try callable.call(arguments, core, as: Value.self) }
    }
}

extension Lazy: Injectable {
    static var injection: Injection { .lazy(of: .wanted(Value.self)) }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> Lazy<Value> {
        if let none = nothing(value, as: Value.self) { return Lazy { () throws(InvivoError) in none } }
        let callable = try InvivoValue(reading: value, core, .component).get(Callable.self)
        return Lazy { () throws(InvivoError) in try callable.call([], core, as: Value.self) }
    }
}

extension Weak: Injectable {
    static var injection: Injection { .weak(of: .wanted(Value.self)) }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> Weak<Value> {
        // There is no definition, which is allowed for an optional.
        if nothing(value, as: Value.self) != nil { return Weak { _ throws(InvivoError) in nil } }
        let callable = try InvivoValue(reading: value, core, .component).get(Callable.self)
        return Weak { arguments throws(InvivoError) in try callable.call(arguments, core, as: Value?.self) }
    }
}

/// The null value of a type that has one.
private func nothing<Value>(_ value: invivo_value, as type: Value.Type) -> Value? {
    guard value.kind == InvivoKind.null.rawValue, type is any OptionalValue.Type else { return nil }
    return Optional<Any>.none as Any as? Value
}

extension Resolver: Injectable {
    static var isOwn: Bool { true }
    static var injection: Injection { Injection(.own) }
    static func taken(_ value: invivo_value, _ core: Core) throws(InvivoError) -> Resolver { Resolver(core, nil) }
}

extension Core {
    /// A value of the C side as a Swift value of any type. It stays the caller's.
    func take<Value>(_ value: invivo_value, as type: Value.Type) throws(InvivoError) -> Value {
        if let special = type as? any Injectable.Type {
            // The object of a definition may itself be a list or a map.
            if value.kind == InvivoKind.object.rawValue, !(type is any OptionalValue.Type), type != Resolver.self {
                return try self.value(of: value.as.object, as: type, .component)
            }
            if let taken = try special.taken(value, self) as? Value { return taken }
        } else if value.kind == InvivoKind.object.rawValue, type != InvivoValue.self {
            return try self.value(of: value.as.object, as: type, .component)
        } else if let convertible = type as? any InvivoConvertible.Type {
            let read = try InvivoValue(reading: value, self, .component)
            if let taken = try convertible.fromInvivo(read) as? Value { return taken }
        }
        throw value.kind == InvivoKind.null.rawValue
            ? InvivoError(.null, "null where \(article(type)) is expected")
            : InvivoError(.type, "expected \(article(type)), got \(value.kindName)")
    }

}

extension invivo_value {
    var kindName: String { InvivoKind(rawValue: kind).map { "\($0)" } ?? "the unknown kind \(kind)" }
}

extension InvivoValue {
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}

/// Reads the arguments of a factory or a step, one after the other.
struct Arguments {
    let values: UnsafeBufferPointer<invivo_value>
    let core: Core
    private var index = 0

    init(_ values: UnsafePointer<invivo_value>?, _ count: Int, _ core: Core) {
        self.values = UnsafeBufferPointer(start: values, count: count)
        self.core = core
    }

    mutating func next<Value>(_ type: Value.Type) throws(InvivoError) -> Value {
        let value = index < values.count ? values[index] : invivo_null()
        index += 1
        do { return try core.take(value, as: type) } catch {
            var error = error
            error.message = "argument \(index): \(error.message)"
            throw error
        }
    }
}
