public import CInvivo

/// A name in the graph, with the Swift type of its object. Cheap to copy and to use; valid as long as its runtime is
/// open.
public struct Key<Value>: Sendable {
    @usableFromInline let handle: invivo_key
    /// The registered type that was checked against `Value`; an entry of any other type is checked again. 0: none.
    @usableFromInline let type: UInt64
    /// Whether the instance is a box around a value that is no class instance.
    @usableFromInline let isBoxed: Bool
    /// The name, `assembly.name`.
    public let name: String

    init(_ handle: invivo_key, type: UInt64, isBoxed: Bool, name: String) {
        self.handle = handle
        self.type = type
        self.isBoxed = isBoxed
        self.name = name
    }

    /// The value of an instance whose entry is of the checked type.
    @inlinable @inline(__always)
    func value(at instance: UnsafeMutableRawPointer) -> Value {
        valueOf(instance, isBoxed: isBoxed, as: Value.self)
    }
}

extension Key: CustomStringConvertible {
    public var description: String { name }
}

extension Key: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.handle.bits == right.handle.bits }
    public func hash(into hasher: inout Hasher) { hasher.combine(handle.bits) }
}

/// The key of a block, with its struct.
public struct BlockKey<Content: BitwiseCopyable & Sendable>: Sendable {
    @usableFromInline let handle: invivo_key
    @usableFromInline let type: UInt64
    /// The initial content of the block. Reads return it when the key was removed or the runtime is closed.
    public let initial: Content
    /// The name, `assembly.name`.
    public let name: String

    init(_ handle: invivo_key, type: UInt64, initial: Content, name: String) {
        self.handle = handle
        self.type = type
        self.initial = initial
        self.name = name
    }
}

extension BlockKey: CustomStringConvertible {
    public var description: String { name }
}

extension Core {
    /// The typed key of a defined name.
    func key<Value>(_ name: String, as type: Value.Type) throws(InvivoError) -> Key<Value> {
        var handle = invivo_key()
        try call(naming: name) { $0.pointee.key_find(self.handle, $1, &handle, $2) }
        return key(handle, name, as: type)
    }

    /// The typed key, with the type that its entry has now.
    func key<Value>(_ handle: invivo_key, _ name: String, as type: Value.Type) -> Key<Value> {
        let view = beginView()
        let bits = invivo_view_entry(view, handle)?.pointee.type ?? 0
        table.pointee.view_end(view)
        return key(handle, name, type: bits)
    }

    /// The typed key for a known type; the fast way is taken only where the type's instances are known to be `Value`s.
    func key<Value>(_ handle: invivo_key, _ name: String, type: UInt64) -> Key<Value> {
        let instances: AnyClass? = registry.withLock { $0.types[type]?.instances }
        let isBoxed = instances == Boxed<Value>.self
        let fits = isBoxed || (instances.map { isSubclass($0, of: Value.self) } ?? false)
        return Key(handle, type: fits ? type : 0, isBoxed: isBoxed, name: name)
    }
}

/// Whether every instance of `instances` is, as one pointer, a `Value`.
private func isSubclass<Value>(_ instances: AnyClass, of value: Value.Type) -> Bool {
    value is AnyClass && instances is Value.Type
}
