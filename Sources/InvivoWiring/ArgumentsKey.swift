internal import InvivoBase

/// Runtime arguments as a key: equal when each is the same value, numbers by what they are worth, as in pools, objects and
/// callables by identity. Never by a hash alone.
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
        // Maps are the same whatever their order.
        case .map(let pairs): hasher.combine(pairs.count)
        case .object(let lease): hasher.combine(lease.bits)
        case .callable(let callable): hasher.combine(ObjectIdentifier(callable))
        case .type(let type): hasher.combine(ObjectIdentifier(type))
        case .enumeration(let number, _): hasher.combine(number)
        default: break
        }
    }
}
