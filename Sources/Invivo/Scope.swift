internal import CInvivo

/// How long an instance is shared, and among whom.
public enum Scope: UInt32, Sendable {
    /// A new one for each reference; inside its own making a reference back is itself.
    case prototype = 1
    /// One for each outermost resolve, for everything that is made in it.
    case graph = 2
    /// One, built by the commit that brings the definition.
    case singleton = 3
    /// One, built by the first resolve.
    case lazySingleton = 4
    /// One as long as somebody holds it.
    case weakSingleton = 5
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
