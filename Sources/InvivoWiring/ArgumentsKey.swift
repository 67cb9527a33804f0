internal import InvivoBase

/// Runtime arguments as a key.
///
/// Two keys are equal when all their arguments are: numbers by value, as in pools, objects and callables by identity.
/// Equality never depends on a hash alone.
struct ArgumentsKey: Hashable, Sendable {
    let values: [Value]

    init(_ values: [Value]) { self.values = values }

    static func == (a: ArgumentsKey, b: ArgumentsKey) -> Bool {
        Value.list(a.values).isSame(as: .list(b.values), numbersByWorth: true)
    }

    func hash(into hasher: inout Hasher) {
        var inner: [Value] = []
        for value in values { Self.hash(value, into: &hasher, &inner) }
        // Lists in lists one after the other: they may be deeper than the stack.
        while let value = inner.popLast() { Self.hash(value, into: &hasher, &inner) }
    }

    private static func hash(_ value: Value, into hasher: inout Hasher, _ inner: inout [Value]) {
        if let worth = value.worth { return hasher.combine(worth) }
        hasher.combine(value.kind.rawValue)
        switch value {
        case .bool(let bool): hasher.combine(bool)
        case .string(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .bytes(let bytes): hasher.combine(bytes)
        case .list(let items):
            hasher.combine(items.count)
            inner += items
        // The hash of a map does not depend on its order.
        case .map(let pairs): hasher.combine(pairs.count)
        case .object(let lease): hasher.combine(lease.bits)
        case .callable(let callable): hasher.combine(ObjectIdentifier(callable))
        case .type(let type): hasher.combine(ObjectIdentifier(type))
        case .enumeration(let number, _): hasher.combine(number)
        default: break
        }
    }
}
