internal import CPlatform
public import InvivoBase
internal import InvivoGraph

/// Callables that resolve when they are called, and what they hold until then.
extension Container {
    /// A callable that resolves a key when it is called, or looks for what there is of it, in the generation of that moment.
    func late(_ kind: Recipe.Late, _ id: UInt32, _ bound: [Value]) -> Callable {
        let name = keyName(id)
        let holds = kind == .lazy || bound.contains(where: \.holdsReference)
        let claims = holds ? LateClaims(id, bound: bound, lates) : nil
        return Callable(Self.description(of: kind, name), claims: claims) {
            [weak self] (arguments) throws(Failure) -> Value in
            guard let self else { throw Failure(.closed, "the runtime is closed", path: name) }
            guard let claims else { return try self.value(of: id, bound + arguments, kind) }
            let resolve = { () throws(Failure) -> Value in
                var given: [Value] = []
                for value in self.monitor.locked({ claims.bound }) {
                    given.append(value.holdsReference ? try value.leasedAnew() : value)
                }
                return try self.value(of: id, given + arguments, kind)
            }
            return kind == .lazy ? try self.lazily(claims, resolve) : try resolve()
        }
    }

    private static func description(of kind: Recipe.Late, _ name: String) -> String {
        switch kind {
        case .provider: "provider of '\(name)'"
        case .lazy: "lazy '\(name)'"
        case .weak: "weak reference to '\(name)'"
        }
    }

    /// What a lazy knows for the version that its key has; else what `resolve` gives is that from now on.
    private func lazily(_ claims: LateClaims, _ resolve: () throws(Failure) -> Value) throws(Failure) -> Value {
        let (known, version) = try monitor.locked { () throws(Failure) -> (Value?, UInt64) in
            let version = iv_load_u64(UnsafeMutablePointer(mutating: keys.version(claims.id)))
            return (try self.known(to: claims, version), version)
        }
        if let known { return known }
        // What there is one of for each place is asked for where one is.
        if visibleGraph.recipe(claims.id)?.scope.isPlaced == true { return try resolve() }
        let value = try resolve()
        var own: ObjectLease?
        if case .object(let lease) = value { own = try ObjectLease.retaining(lease.bits) }
        // The former one is let go outside of the monitor: its disposal may run code of the host.
        let (first, former) = try monitor.locked { () throws(Failure) -> (Value?, ObjectLease?) in
            // Of several that asked at once, the one who came first says what it is.
            if let first = try self.known(to: claims, version) { return (first, own) }
            return (nil, claims.keep(own, version))
        }
        own = nil
        withExtendedLifetime(former) {}
        return first ?? value
    }

    /// Under the monitor: what a lazy has resolved for a version, with a lease for the caller. Nil also when that has ended.
    private func known(to claims: LateClaims, _ version: UInt64) throws(Failure) -> Value? {
        guard let kept = claims.kept, kept.version == version else { return nil }
        guard let object = kept.object else { return .null }
        if ObjectTable.retain(object.bits) { return .object(ObjectLease(owning: object.bits)) }
        if ObjectTable.isExhausted(object.bits) { throw .exhausted(path: keys.name(claims.id)) }
        return nil
    }

    private func value(of id: UInt32, _ arguments: [Value], _ kind: Recipe.Late = .provider) throws(Failure) -> Value {
        let object = kind == .weak ? try existing(id, arguments) : try resolve(id, arguments: arguments)
        return object == 0 ? .null : .object(ObjectLease(owning: object))
    }

    /// A callable that resolves the key it is called with.
    func resolver() -> Callable {
        Callable("resolver") { [weak self] (arguments) throws(Failure) -> Value in
            guard let self else { throw Failure(.closed, "the runtime is closed") }
            guard case .string(let name)? = arguments.first else {
                throw Failure(
                    .argument, "the resolver is called with a key's name first, and its runtime arguments after it")
            }
            return try self.value(of: try self.definedKey(name), Array(arguments.dropFirst()))
        }
    }

    // MARK: whose they are

    /// Under the monitor: `extra`'s object holds the callables in `value` from now on, and not those in `former`.
    func exchangeLate(in former: Value?, _ value: Value?, _ extra: ObjectExtra) {
        if extra.hasLate { former?.forEachLate { _ = $0.leave(extra, isEnding: false) } }
        value?.forEachLate { $0.adopt(by: extra) }
    }

    /// The object ends: what its callables still claim is theirs.
    func endLate(of extra: ObjectExtra) {
        guard extra.hasLate else { return }
        let gone = monitor.locked { () -> [Any] in
            var gone: [Any] = []
            extra.forEachInjectedValue { value in
                value.forEachLate { gone += $0.leave(extra, isEnding: true) }
            }
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    // MARK: reloads and close

    /// What lazies knew; let go without the monitor.
    public struct Forgotten {
        public var objects: [ObjectLease] = []
        fileprivate var claims: [LateClaims] = []
        public init() {}
    }

    /// Under the monitor, after a commit: what lazies know of keys that are other ones now. The caller lets go of what is
    /// answered when nobody reads the former generation any more.
    public func forgetLate(of ids: Set<UInt32>) -> Forgotten {
        var gone = Forgotten()
        for id in ids {
            let known = lates.all(of: id)
            // Most keys have no version that anybody asked for.
            guard !known.isEmpty else { continue }
            let version = iv_load_u64(UnsafeMutablePointer(mutating: keys.version(id)))
            for claims in known {
                gone.claims.append(claims)
                if let object = claims.forget(besides: version) { gone.objects.append(object) }
            }
        }
        return gone
    }

    /// At close: nothing is remembered any more, and nothing will be.
    public func endLates() {
        let gone = monitor.locked { () -> [Any] in
            lates.isClosed = true
            let all = lates.all(of: nil)
            return all.map { $0.end() } + all
        }
        withExtendedLifetime(gone) {}
    }

    /// Under the monitor: how many leases callables have on each object that are no object's any more. The caller lets go of
    /// `claims` without it.
    public func leasesOfLates() -> (counts: [UInt64: UInt64], claims: [AnyObject]) {
        let all = lates.all(of: nil)
        var counts: [UInt64: UInt64] = [:]
        for claims in all where claims.holder == nil { claims.forEachLease { counts[$0.bits, default: 0] += 1 } }
        return (counts, all)
    }
}
