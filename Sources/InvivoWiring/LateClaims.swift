internal import InvivoBase

/// What a provider, lazy or weak reference claims: what it was given for its calls, and what a lazy has resolved.
///
/// It counts for the object that the callable was injected into, so that a circle through it ends like every other. When
/// that object ends, what is still there goes on as the callable's own. Guarded by the container's monitor; leases are let
/// go without it.
final class LateClaims: @unchecked Sendable {
    /// What is resolved.
    let id: UInt32
    private let table: LateTable
    /// Runtime arguments, for each call.
    private(set) var bound: [Value]
    /// Of a lazy that was called: no object when what makes it answered null.
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

    /// From the moment it claims something.
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

    /// It is not `extra`'s any more. What ended in the same circle is not kept; answers that.
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

    /// Keeps what was resolved for a version. Answers what was kept before, and is to be let go.
    func keep(_ object: ObjectLease?, _ version: UInt64) -> ObjectLease? {
        guard !table.isClosed else { return object }
        enter()
        defer { kept = (object, version) }
        return kept?.object
    }

    /// Forgets what was resolved for another version than this. Answers it.
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

/// All callables of that kind of a runtime that claim something, by what they resolve. Any thread; its lock comes after the
/// container's monitor.
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

    /// Those that resolve `id` (nil: anything). The references are to be let go without the container's monitor.
    func all(of id: UInt32?) -> [LateClaims] {
        monitor.locked {
            guard let id else { return entries.values.flatMap { $0.values.compactMap(\.claims) } }
            return entries[id].map { $0.values.compactMap(\.claims) } ?? []
        }
    }
}

extension Value {
    var holdsLate: Bool { contains { $0.claims != nil } }

    /// What the providers, lazies and weak references in it claim.
    func forEachLate(_ body: (LateClaims) -> Void) {
        forEach { if let claims = $0.claims { body(claims) } }
    }

    private var claims: LateClaims? {
        if case .callable(let callable) = self { callable.claims as? LateClaims } else { nil }
    }
}
