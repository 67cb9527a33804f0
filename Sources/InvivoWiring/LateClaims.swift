internal import InvivoBase

/// The claims of a deferred reference (provider, lazy or weak): its bound arguments, and the object that a lazy
/// reference has resolved.
///
/// They are attributed to the object that the callable was injected into, so that a cycle through the callable can be
/// collected. When that object ends, the remaining claims belong to the callable itself. Guarded by the container's
/// monitor; leases are released without it.
final class LateClaims: @unchecked Sendable {
    /// The key to resolve.
    let id: UInt32
    private let table: LateTable
    /// Runtime arguments, for each call.
    private(set) var bound: [Value]
    /// The resolved object of a lazy reference after its call; the object is nil when the factory returned null.
    private(set) var kept: (object: ObjectLease?, version: UInt64)?
    /// The object whose injected values the callable is among.
    private(set) var holder: ObjectIdentifier?
    private var isEntered = false

    init(_ id: UInt32, bound: [Value], _ table: LateTable) {
        self.id = id
        self.bound = bound
        self.table = table
        if !bound.isEmpty { enter() }
    }

    deinit { if isEntered { table.leave(self) } }

    /// Registers the callable with its first claim.
    private func enter() {
        guard !isEntered else { return }
        isEntered = true
        table.enter(self)
    }

    /// Takes it for one of `extra`'s, unless it is another object's.
    func adopt(by extra: ObjectExtra) {
        guard holder == nil else { return }
        holder = ObjectIdentifier(extra)
        extra.hasLate = true
    }

    /// Detaches it from `extra`. Removes and returns objects that have ended in the same cycle.
    func leave(_ extra: ObjectExtra, isEnding: Bool) -> [Any] {
        guard isHeld(by: extra) else { return [] }
        holder = nil
        guard isEnding else { return [] }
        var gone: [Any] = []
        if let object = kept?.object, ObjectTable.claims(object.bits) == nil {
            gone.append(object)
            kept = nil
        }
        return gone
    }

    func isHeld(by extra: ObjectExtra) -> Bool { holder == ObjectIdentifier(extra) }

    /// Keeps the object that was resolved for a version. Returns the former one, to be released.
    func keep(_ object: ObjectLease?, _ version: UInt64) -> ObjectLease? {
        guard !table.isClosed else { return object }
        enter()
        defer { kept = (object, version) }
        return kept?.object
    }

    /// Drops the object that was resolved for another version. Returns it.
    func forget(besides version: UInt64) -> ObjectLease? {
        guard let known = kept, known.version != version else { return nil }
        kept = nil
        return known.object
    }

    /// Forgets everything. Answers it.
    func end() -> [Any] {
        defer {
            kept = nil
            bound = []
        }
        return [kept as Any, bound]
    }

    func forEachLease(_ body: (ObjectLease) -> Void) {
        if let object = kept?.object { body(object) }
        for value in bound { value.forEachLease(body) }
    }
}

/// All deferred references of a runtime with claims, by key. Any thread; its lock is taken after the container's
/// monitor.
final class LateTable: @unchecked Sendable {
    private struct Entry { weak var claims: LateClaims? }
    private let monitor = Monitor()
    private var entries: [UInt32: [ObjectIdentifier: Entry]] = [:]
    /// After close nothing is kept. Guarded by the container's monitor.
    var isClosed = false

    func enter(_ claims: LateClaims) {
        monitor.locked { entries[claims.id, default: [:]][ObjectIdentifier(claims)] = Entry(claims: claims) }
    }

    func leave(_ claims: LateClaims) {
        monitor.locked {
            entries[claims.id]?.removeValue(forKey: ObjectIdentifier(claims))
            if entries[claims.id]?.isEmpty == true { entries[claims.id] = nil }
        }
    }

    /// The claims of callables for `id` (nil: all). Release the references without the container's monitor.
    func all(of id: UInt32?) -> [LateClaims] {
        monitor.locked {
            guard let id else { return entries.values.flatMap { $0.values.compactMap(\.claims) } }
            return entries[id].map { $0.values.compactMap(\.claims) } ?? []
        }
    }
}

extension Value {
    var holdsLate: Bool { contains { $0.claims != nil } }

    /// The claims of the deferred references in it.
    func forEachLate(_ body: (LateClaims) -> Void) {
        forEach { if let claims = $0.claims { body(claims) } }
    }

    private var claims: LateClaims? {
        if case .callable(let callable) = self { callable.claims as? LateClaims } else { nil }
    }
}
