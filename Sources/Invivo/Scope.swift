internal import CInvivo

/// How an instance is shared.
public enum Scope: UInt32, Sendable {
    /// A new one for each resolve.
    case prototype = 0
    /// One, built by the first resolve.
    case lazySingleton = 1
    /// One, built by the commit that brings the definition.
    case singleton = 2
}

/// What is injected: a constant, or what another key resolves to.
public enum Injection {
    case value(InvivoValue)
    /// A key's name; it may be defined later in the same change set.
    case reference(String)
}

extension Injection: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
    public init(integerLiteral value: Int64) { self = .value(.int64(value)) }
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    public init(stringLiteral value: String) { self = .value(.string(value)) }
}

/// What is injected under which name; the empty name goes by position.
public typealias Injections = KeyValuePairs<String, Injection>

extension Core {
    func table(
        _ injections: Injections, _ arena: Arena
    ) throws(InvivoError) -> UnsafePointer<invivo_injection>? {
        let table = arena.memory(injections.count, of: invivo_injection.self)
        for (index, (name, injection)) in injections.enumerated() {
            var entry = invivo_injection()
            entry.name = name.isEmpty ? nil : try arena.name(name)
            switch injection {
            case .value(let value):
                entry.how = UInt32(INVIVO_INJECT_VALUE)
                entry.value = try value.borrowed(arena, self)
            case .reference(let key):
                entry.how = UInt32(INVIVO_INJECT_REFERENCE)
                entry.reference = try arena.name(key)
            }
            table?[index] = entry
        }
        return UnsafePointer(table)
    }
}
