/// Captures the exact value of a property, to restore it later.
///
/// `get` returns a value for readers. Memory may hold more: a string that is not UTF-8 or has no end, bytes after the
/// NUL, a boolean that is neither 0 nor 1. An exact value is the same tree, with the bytes of such a field instead of
/// its string. `write` accepts both.
extension Property {
    /// The exact current value, as far as a value can express it.
    @inline(__always)
    public func exact(_ instance: UnsafeMutableRawPointer) throws(Failure) -> Value {
        if kind == .double, isField { return read(instance) }
        return isField ? exactField(instance) : try get(instance)
    }

    /// Whether the host captures more than a value can express; never for a nested struct, whose fields are captured
    /// one by one.
    public var keepsMore: Bool { keeping != nil && !isNested }

    /// Whether the value is the whole content: no nested struct, and no capture by the host.
    public var isPlain: Bool { !isNested && keeping == nil }

    /// Returns the current value, and stores the host's own capture of it in `kept`.
    public func capture(_ instance: UnsafeMutableRawPointer, _ kept: inout Kept?) throws(Failure) -> Value {
        guard let keeping else { return try exact(instance) }
        var token: UnsafeMutableRawPointer?
        // A callback that fails keeps nothing.
        let value = try CallbackResult.run("the capture function of '\(name)'") { (result, error) in
            keeping.capture(instance, keeping.userData.raw, result, &token, error)
        }
        kept = Kept(keeping, HostPointer(token))
        return try presented(value)
    }

    /// Restores a captured value.
    public func restore(
        _ instance: UnsafeMutableRawPointer, _ value: Value, _ kept: Kept?
    ) throws(Failure) {
        guard let kept else { return try set(instance, value) }
        try CallbackResult.run("the restore function of '\(name)'") { error in
            kept.keeping.restore(instance, kept.keeping.userData.raw, kept.token.raw, error)
        }
    }

    /// A value that the host has captured: held until no restore can need it.
    public final class Kept: Sendable {
        let keeping: Keeping
        let token: HostPointer

        init(_ keeping: Keeping, _ token: HostPointer) {
            self.keeping = keeping
            self.token = token
        }

        deinit { keeping.forget(keeping.userData.raw, token.raw) }
    }

    private func exactField(_ base: UnsafeRawPointer) -> Value {
        switch kind {
        case .string:
            let bytes = UnsafeRawBufferPointer(start: base + offset, count: size)
            let count = bytes.firstIndex(of: 0) ?? size
            let isPlain = count < size && bytes[count...].allSatisfy { $0 == 0 }
            guard isPlain, let text = String(validating: bytes[..<count], as: UTF8.self) else {
                return .bytes(Array(bytes))
            }
            return .string(text)
        case .bool where !isEnumeration:
            let byte = (base + offset).load(as: UInt8.self)
            return byte < 2 ? .bool(byte == 1) : .uint8(byte)
        case .map where isNested: return .map(fields.map { (name: $0.name, value: $0.exactField(base + offset)) })
        default: return read(base)
        }
    }

    /// An exact value as `get` would answer it.
    public func shown(_ exact: Value) -> Value {
        guard kind == .string || kind == .bool || kind == .map else { return exact }
        return switch (kind, exact) {
        case (.string, .bytes(let bytes)): .string(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        case (.bool, .uint8): .bool(true)
        case (.map, .map(let pairs)) where isNested && isField:
            .map(
                pairs.map { pair in
                    (pair.name, fields.property(named: pair.name)?.shown(pair.value) ?? pair.value)
                })
        default: exact
        }
    }
}
