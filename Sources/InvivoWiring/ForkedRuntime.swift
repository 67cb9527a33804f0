internal import CInvivo
internal import CPlatform
public import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// The parts of the parent's runtime that a forked child reads: built shared objects, keys and configuration of the
/// generation at the fork.
///
/// Nothing here takes a lock, because a thread that the child does not have may hold it. Keys, names and graphs are
/// published for readers without locks. The child frees no memory of the parent's runtimes.
public struct ForkedRuntime {
    private let core: Core
    private let tag: UInt64
    private let handle: UInt64

    /// Nil unless `runtime` is a runtime of the process that this one was forked from. One load in any other process.
    @inline(__always)
    public init?(_ runtime: UInt64) {
        guard iv_forks() != 0 else { return nil }
        self.init(inChild: runtime)
    }

    private init?(inChild runtime: UInt64) {
        let bits = HandleBits(runtime)
        guard bits.kind == HandleBits.runtimeKind, bits.index == 0, let core = bits.core, Readers.isParents(core),
            iv_load_u64(iv_core_tag(core)) == bits.tag
        else { return nil }
        self.core = core
        tag = bits.tag
        handle = runtime
    }

    /// Runs `body` with the generation that a view of the calling thread shows.
    private func reading<Result>(
        _ body: (UnsafePointer<iv_graph>, Graph) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let reader = Readers.enter(core, tag: tag) else { throw .forked() }
        defer { Readers.leave(reader) }
        guard let raw = reader.pointee.graph?.assumingMemoryBound(to: iv_graph.self), let graph = raw.pointee.graph
        else { throw .forked() }
        return try body(raw, Unmanaged<Graph>.fromOpaque(graph).takeUnretainedValue())
    }

    private func id(of name: String, _ graph: UnsafePointer<iv_graph>) -> UInt32? {
        guard let keys = graph.pointee.keys else { return nil }
        var name = name
        return name.withUTF8 { bytes in bytes.baseAddress.flatMap { KeyTable.find(keys, $0, bytes.count) } }
    }

    private func key(_ id: UInt32, _ graph: UnsafePointer<iv_graph>) -> UInt64 {
        UInt64(graph.pointee.owner) << 32 | UInt64(id)
    }

    /// The key of a defined name.
    public func key(named name: String) throws(Failure) -> UInt64 {
        try reading { (raw, graph) throws(Failure) in
            guard let id = id(of: name, raw), graph.isDefined(id) || graph.block(id) != nil else {
                throw Failure(.notFound, "no definition has the key '\(name)'", path: name)
            }
            return key(id, raw)
        }
    }

    /// The name of a key; nil for one that nothing has named.
    public func name(of key: UInt64) -> UnsafePointer<CChar>? {
        try? reading { (raw, _) throws(Failure) in
            guard let keys = raw.pointee.keys, let text = KeyTable.text(keys, UInt32(truncatingIfNeeded: key)) else {
                throw .forked()
            }
            return text
        }
    }

    /// The built shared object of a key, with a lease for the caller.
    public func object(_ key: UInt64) throws(Failure) -> UInt64 {
        var failed = FastResolve.Failed()
        let object = FastResolve.resolve(handle, key, makes: false, failed: &failed)
        guard object != 0 else { throw .forked() }
        return object
    }

    /// The built shared object of the one definition that fits. `name` is a whole key.
    public func object(_ lookup: Container.Lookup) throws(Failure) -> UInt64 {
        guard let key = try key(lookup) else { throw .forked() }
        return try object(key)
    }

    /// The key of the one definition that fits; nil when none does. `name` is a whole key.
    public func key(_ lookup: Container.Lookup) throws(Failure) -> UInt64? {
        try reading { (raw, graph) throws(Failure) in
            let wanted = lookup.name.map { id(of: $0, raw) }
            let fitting = graph.types.all(lookup.type, isExact: lookup.isExact).filter {
                wanted == nil || $0.id == wanted
            }
            switch graph.types.best(of: fitting, for: lookup.type) {
            case .one(let id): return self.key(id, raw)
            case .none: return nil
            case .several:
                throw Failure(
                    .ambiguous, "several definitions create a '\(lookup.type)'; name one, or give one a higher rank",
                    path: lookup.type)
            }
        }
    }

    /// The number of a path of the configuration that anything has named before the fork.
    public func configID(_ path: String) throws(Failure) -> UInt64 {
        let path = try ConfigPath.checked(path)
        return try reading { (raw, _) throws(Failure) in
            guard let id = id(of: KeyTable.mark + path, raw) else { throw .forked() }
            return key(id, raw)
        }
    }

    /// The id of a binding of settings that was added before the fork.
    public func settingsID(_ name: String) throws(Failure) -> UInt64 {
        try reading { (raw, _) throws(Failure) in
            guard let id = id(of: KeyTable.mark + KeyTable.path(ofSettings: name), raw) else { throw .forked() }
            return key(id, raw)
        }
    }

    /// Whether the value at a path is secret, or a part of it.
    public func isSecret(_ path: String) throws(Failure) -> Bool {
        try reading { (_, graph) throws(Failure) in graph.secrets.touches(path) }
    }

    /// The configuration value at a path.
    public func configuration(_ path: String) throws(Failure) -> Value {
        let path = try ConfigPath.checked(path)
        return try reading { (raw, graph) throws(Failure) in
            if let value = id(of: KeyTable.mark + path, raw).flatMap({ graph.setting($0) })?.node.value { return value }
            guard !path.isEmpty else { return .map([]) }
            throw Failure(.notConfigured, "the configuration has no value at '\(path)'", path: path)
        }
    }
}
