/// Taking what an instance holds exactly, to put it back later.
///
/// What `get` answers is what people read. Memory may hold more: a text that is not UTF-8 or has no end, bytes after the
/// NUL, a boolean that is neither 0 nor 1. An exact value is the same tree with such a field's bytes in the place of its
/// text; `write` takes both.
extension Property {
    /// What is there now, in a form that `restore` puts back without loss.
    @inline(__always)
    public func capture(_ instance: UnsafeMutableRawPointer) throws(Failure) -> Value {
        if kind == .double, isField { return read(instance) }
        return isField ? exact(instance) : try get(instance)
    }

    private func exact(_ base: UnsafeRawPointer) -> Value {
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
        case .map where isNested: return .map(fields.map { (name: $0.name, value: $0.exact(base + offset)) })
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
                pairs.map { pair in (pair.name, fields.first { $0.name == pair.name }?.shown(pair.value) ?? pair.value)
                })
        default: exact
        }
    }
}
