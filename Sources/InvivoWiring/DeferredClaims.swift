internal import CPlatform
public import InvivoBase
internal import InvivoGraph
internal import Synchronization

/// The claims of a provider, lazy or weak reference: the arguments for its calls, and the object that a lazy has resolved.
///
/// These count as references of the object that the callable was injected into, so that a cycle through them ends like every other.
/// After the end of that object, the callable keeps them for itself. Called with the monitor of the runtime held; leases are released
/// without it.
final class DeferredClaims: Sendable {
    private struct State {
        /// Runtime arguments, for each call.
        var bound: [Value]
        /// Of a lazy that was called: no object if the factory returned null.
        var kept: (object: ObjectLease?, version: UInt64)?
        /// The object whose injected values the callable is among.
        var holder: ObjectIdentifier?
    }

    /// The key that is resolved.
    let id: UInt32
    private let table: DeferredTable
    private let state: Guarded<State>
    private let isEntered = Atomic<Bool>(false)

    init(_ id: UInt32, bound: [Value], _ table: DeferredTable) {
        self.id = id
        self.table = table
        state = .init(State(bound: bound), by: table.monitor)
        if !bound.isEmpty { enter() }
    }

    deinit { if isEntered.load(ordering: .relaxed) { table.leave(self) } }

    /// Registers the callable with its first claim.
    private func enter() {
        if !isEntered.exchange(true, ordering: .relaxed) { table.enter(self) }
    }

    var bound: [Value] { state.held { $0.bound } }
    var isOwn: Bool { state.held { $0.holder == nil } }

    /// Adds it to `extra`, unless another object holds it.
    func adopt(by extra: ObjectExtra) {
        let isAdopted = state.held { state -> Bool in
            guard state.holder == nil else { return false }
            state.holder = ObjectIdentifier(extra)
            return true
        }
        if isAdopted { extra.hasDeferred = true }
    }

    /// Removes it from `extra`. An object that ended in the same cycle is not kept, and is returned.
    func leave(_ extra: ObjectExtra, isEnding: Bool) -> ObjectLease? {
        guard isHeld(by: extra) else { return nil }
        return state.held { state in
            state.holder = nil
            guard isEnding, let object = state.kept?.object, ObjectTable.claims(object.bits) == nil else { return nil }
            state.kept = nil
            return object
        }
    }

    func isHeld(by extra: ObjectExtra) -> Bool { state.held { $0.holder == ObjectIdentifier(extra) } }

    /// The object that was resolved for a version: `.some(nil)` if the factory returned null, and nil if none is kept.
    func kept(for version: UInt64) -> ObjectLease?? {
        state.held { state in
            guard let kept = state.kept, kept.version == version else { return .none }
            return .some(kept.object)
        }
    }

    /// Keeps the object that was resolved for a version. Returns the one that was kept before, which the caller releases.
    func keep(_ object: ObjectLease?, _ version: UInt64) -> ObjectLease? {
        guard !table.isClosed else { return object }
        enter()
        return state.held { state in
            defer { state.kept = (object, version) }
            return state.kept?.object
        }
    }

    /// Forgets the object that was resolved for another version. Returns it.
    func forget(besides version: UInt64) -> ObjectLease? {
        state.held { state in
            guard let known = state.kept, known.version != version else { return nil }
            state.kept = nil
            return known.object
        }
    }

    /// Forgets everything. Returns it.
    func end() -> (kept: ObjectLease?, bound: [Value]) {
        state.held { state in
            defer { (state.kept, state.bound) = (nil, []) }
            return (state.kept?.object, state.bound)
        }
    }

    func forEachLease(_ body: (ObjectLease) -> Void) {
        let (object, bound) = state.held { ($0.kept?.object, $0.bound) }
        if let object { body(object) }
        for value in bound { value.forEachLease(body) }
    }
}

/// All callables of a runtime that claim something, by the key that they resolve.
public final class DeferredTable: Sendable {
    private struct Entry: Sendable { weak var claims: DeferredClaims? }
    /// The monitor of the runtime.
    let monitor: Monitor
    private let keys: KeyTable
    /// Its monitor is taken after that of the runtime.
    private let entries = Guarded<[UInt32: [ObjectIdentifier: Entry]]>([:], by: Monitor())
    /// After close nothing is kept.
    private let closed: Guarded<Bool>

    /// `monitor` is the runtime's, and guards `keys`.
    init(_ monitor: Monitor, _ keys: KeyTable) {
        self.monitor = monitor
        self.keys = keys
        closed = .init(false, by: monitor)
    }

    /// With the monitor held.
    var isClosed: Bool { closed.held { $0 } }

    fileprivate func enter(_ claims: DeferredClaims) {
        entries.locked { $0[claims.id, default: [:]][ObjectIdentifier(claims)] = Entry(claims: claims) }
    }

    fileprivate func leave(_ claims: DeferredClaims) {
        entries.locked { entries in
            entries[claims.id]?.removeValue(forKey: ObjectIdentifier(claims))
            if entries[claims.id]?.isEmpty == true { entries[claims.id] = nil }
        }
    }

    /// The claims of callables for `id` (nil: all). Release the references without the runtime's monitor.
    private func all(of id: UInt32?) -> [DeferredClaims] {
        entries.locked { entries in
            guard let id else { return entries.values.flatMap { $0.values.compactMap(\.claims) } }
            return entries[id].map { $0.values.compactMap(\.claims) } ?? []
        }
    }

    // MARK: the version of a lazy

    /// The version of the key that a lazy resolves, and the object that it has resolved for it, with a lease for the caller.
    func known(to claims: DeferredClaims) throws(Failure) -> (value: Value?, version: UInt64) {
        try monitor.locked { () throws(Failure) in
            let version = version(of: claims.id)
            return (try value(of: claims, for: version), version)
        }
    }

    /// Sets the value that the lazy has resolved for a version, unless another thread was first. Returns the value that is set.
    func keep(_ value: Value, in claims: DeferredClaims, for version: UInt64) throws(Failure) -> Value {
        var own: ObjectLease?
        if case .object(let lease) = value { own = try ObjectLease.retaining(lease.bits) }
        // The former lease is released without the monitor: a disposal may run host code.
        let (first, former) = try monitor.locked { () throws(Failure) -> (Value?, ObjectLease?) in
            if let first = try self.value(of: claims, for: version) { return (first, own) }
            return (nil, claims.keep(own, version))
        }
        own = nil
        withExtendedLifetime(former) {}
        return first ?? value
    }

    /// With the monitor held. Nil also if the object has ended.
    private func value(of claims: DeferredClaims, for version: UInt64) throws(Failure) -> Value? {
        guard let kept = claims.kept(for: version) else { return nil }
        guard let object = kept else { return .null }
        if ObjectTable.retain(object.bits) { return .object(ObjectLease(owning: object.bits)) }
        if ObjectTable.isExhausted(object.bits) { throw .exhausted(path: keys.name(claims.id)) }
        return nil
    }

    /// With the monitor held.
    private func version(of id: UInt32) -> UInt64 { iv_load_u64(UnsafeMutablePointer(mutating: keys.version(id))) }

    // MARK: their holders

    /// The object of `extra` holds the callables in `value` from now on, and not those in `former`. With the monitor held.
    static func exchange(_ former: Value?, for value: Value?, of extra: ObjectExtra) {
        if extra.hasDeferred { former?.forEachDeferred { _ = $0.leave(extra, isEnding: false) } }
        value?.forEachDeferred { $0.adopt(by: extra) }
    }

    /// Called when the object of `extra` ends: its callables keep their claims for themselves.
    func end(_ extra: ObjectExtra) {
        guard extra.hasDeferred else { return }
        let gone = monitor.locked { () -> [ObjectLease] in
            var gone: [ObjectLease] = []
            extra.forEachInjectedValue { value in
                value.forEachDeferred { if let object = $0.leave(extra, isEnding: true) { gone.append(object) } }
            }
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    // MARK: reloads and close

    /// The objects that lazies had resolved. Released without the monitor.
    public struct Forgotten: Sendable {
        public var objects: [ObjectLease] = []
        fileprivate var claims: [DeferredClaims] = []
        public init() {}
    }

    /// After a commit, with the monitor held: forgets the objects of keys that have another version now. The caller releases them
    /// when nothing reads the former generation any more.
    public func forget(_ ids: IDSet) -> Forgotten {
        var gone = Forgotten()
        for id in ids {
            let known = all(of: id)
            // No callable has resolved most keys.
            guard !known.isEmpty else { continue }
            let version = version(of: id)
            for claims in known {
                gone.claims.append(claims)
                if let object = claims.forget(besides: version) { gone.objects.append(object) }
            }
        }
        return gone
    }

    /// For close: drops all claims, and keeps no later ones.
    public func end() {
        let gone = monitor.locked {
            closed.held { $0 = true }
            return all(of: nil).map { ($0, $0.end()) }
        }
        withExtendedLifetime(gone) {}
    }

    /// The number of leases that callables without a holder have on each object. With the monitor held. The caller drops `claims`
    /// without it.
    public func leases() -> (counts: [UInt64: UInt64], claims: [AnyObject]) {
        let all = all(of: nil)
        var counts: [UInt64: UInt64] = [:]
        for claims in all where claims.isOwn { claims.forEachLease { counts[$0.bits, default: 0] += 1 } }
        return (counts, all)
    }
}

extension Value {
    var holdsDeferred: Bool { contains { $0.claims != nil } }

    /// Calls `body` with the claims of each provider, lazy and weak reference in it.
    func forEachDeferred(_ body: (DeferredClaims) -> Void) {
        forEach { if let claims = $0.claims { body(claims) } }
    }

    private var claims: DeferredClaims? {
        if case .callable(let callable) = self { callable.claims as? DeferredClaims } else { nil }
    }
}
