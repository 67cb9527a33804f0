public import CInvivo

/// A wait-free reading of one generation by one thread: all that is read through it belongs together. See `Runtime.view`.
public struct View: ~Copyable {
    @usableFromInline let raw: invivo_view
    @usableFromInline let core: Core

    @inlinable @inline(__always)
    init(_ raw: invivo_view, _ core: Core) {
        self.raw = raw
        self.core = core
    }

    /// The generation that is read.
    public var generation: UInt64 { invivo_view_generation(raw) }

    /// A block as this generation has it.
    @inlinable
    public subscript<Content>(key: BlockKey<Content>) -> Content {
        guard let entry = invivo_view_entry(raw, key.handle), entry.pointee.type == key.type,
            let block = entry.pointee.block
        else { return key.initial }
        return block.load(as: Content.self)
    }

    /// Runs `body` with the built shared instance of a key, borrowed without reference counting.
    ///
    /// Returns nil in these cases: the instance is not built yet (resolve it once beforehand), the key has no shared
    /// instance, this thread may not touch it, or it is registered under a type whose instances are not known to be
    /// `Instance`s. An instance of another type than that of the key's lookup takes a lock, to find its registered
    /// class.
    @inlinable @inline(__always)
    public func with<Instance: AnyObject, Result>(_ key: Key<Instance>, _ body: (Instance) -> Result) -> Result? {
        guard let instance = core.instance(raw, key.handle, key.type) ?? core.instance(raw, key) else { return nil }
        return Unmanaged<Instance>.fromOpaque(instance)._withUnsafeGuaranteedRef(body)
    }

    /// The built shared instance of a key; nil in the cases in which `with` returns nil.
    @inlinable
    public subscript<Value>(key: Key<Value>) -> Value? {
        (core.instance(raw, key.handle, key.type) ?? core.instance(raw, key)).map { key.value(at: $0) }
    }
}
