internal import InvivoBase
internal import InvivoGraph
internal import Synchronization

/// The objects of a runtime that belong to others: the children that setups have created.
///
/// The functions without `locked` in their description are called with the monitor of the runtime held.
public final class Owners: Sendable {
    /// The behavior of an owner or child when children change.
    private struct Kind {
        /// Its key, if it has one.
        let key: UInt32?
        let isSetUp: Bool
        let keepsChildren: Bool
        let isRefreshed: Bool
        /// The number of its children, with itself as a child.
        var uses = 0
    }

    private struct State {
        var owners: [UInt64: UInt64] = [:]
        var childrenOfKey: [UInt32: [UInt64]] = [:]
        var kinds: [UInt64: Kind] = [:]
        /// With their keys.
        var unfinished: [UInt64: UInt32?] = [:]
    }

    private let state: Guarded<State>

    /// Whether a registered type has functions that commits call, beside those of its creation and end. Otherwise a commit has no
    /// objects to set up or to call. Any thread.
    public var areUsed: Bool { used.load(ordering: .relaxed) }
    private let used = Atomic(false)

    init(_ monitor: Monitor) { state = Guarded(State(), by: monitor) }

    /// A type is about to be registered. Any thread: a commit in which its objects take part begins later.
    func note(_ functions: TypeDescription.Functions) {
        guard functions.areNotifiedOfCommits || functions.setup != nil || functions.teardown != nil else { return }
        used.store(true, ordering: .relaxed)
    }

    /// The objects that are called because children have changed, the owners before the objects below them.
    public struct Concerned: Sendable {
        public var setUp: [UInt64] = []
        public var refreshed: [UInt64] = []
        /// Objects whose setup failed before, and that nothing else sets up.
        public var retried: [UInt64] = []
        /// Changed children whose owners keep them.
        public var kept: [UInt64] = []

        public init() {}

        public var isEmpty: Bool { setUp.isEmpty && refreshed.isEmpty && retried.isEmpty }
    }

    public var isEmpty: Bool { state.held { $0.owners.isEmpty } }

    func add(_ child: UInt64, key: UInt32?, to owner: UInt64) {
        state.held { state in
            state.owners[child] = owner
            if let key { state.childrenOfKey[key, default: []].append(child) }
            for object in [child, owner] {
                if state.kinds[object] == nil { state.kinds[object] = Self.kind(of: object) }
                state.kinds[object]?.uses += 1
            }
        }
    }

    func remove(_ child: UInt64, key: UInt32?) {
        state.held { state in
            guard let owner = state.owners.removeValue(forKey: child) else { return }
            if let key {
                state.childrenOfKey[key]?.removeAll { $0 == child }
                if state.childrenOfKey[key]?.isEmpty == true { state.childrenOfKey[key] = nil }
            }
            for object in [child, owner] {
                state.kinds[object]?.uses -= 1
                if state.kinds[object]?.uses == 0 { state.kinds[object] = nil }
            }
        }
    }

    private static func kind(of object: UInt64) -> Kind? {
        guard let record = ObjectTable.record(object) else { return nil }
        let type = ObjectType.of(record).description
        return Kind(
            key: record.pointee.key > 0 ? record.pointee.key - 1 : nil, isSetUp: type.functions.setup != nil,
            keepsChildren: type.functions.keepsChildren, isRefreshed: type.functions.areNotifiedOfCommits)
    }

    /// The children of changed keys.
    public func children(of keys: some Sequence<UInt32>) -> [UInt64] {
        state.held { state in
            guard !state.childrenOfKey.isEmpty else { return [] }
            return keys.flatMap { state.childrenOfKey[$0] ?? [] }
        }
    }

    /// Finds the owners of changed objects: for each of them the nearest ones that are set up again, or the object itself.
    ///
    /// `owners` own something else that changes. `settable` are changed objects with a setup that may have no owner. `declared`
    /// returns the objects that own those of a key by injection. `isReplaced` is whether an object of a key is replaced by a
    /// new one, or was before: it is not set up again.
    public func concerned(
        by changed: [UInt64], owners: [UInt64], settable: Set<UInt64>, declared: (UInt32) -> [UInt64],
        isReplaced: (_ object: UInt64, _ key: UInt32) -> Bool
    ) -> Concerned {
        state.held { state in
            var found = Concerned()
            func kind(of object: UInt64) -> Kind? { state.kinds[object] ?? Self.kind(of: object) }
            var chosen: Set<UInt64> = []
            func choose(_ object: UInt64) { if chosen.insert(object).inserted { found.setUp.append(object) } }
            func above(_ object: UInt64) -> [UInt64] {
                let creator = state.owners[object].map { [$0] } ?? []
                return creator + (kind(of: object)?.key.map(declared) ?? [])
            }
            /// Finds the nearest owners from these on. Returns false if there is none.
            func visit(_ first: [UInt64]) -> Bool {
                var isFound = false
                var seen: Set<UInt64> = []
                var waiting: [(owner: UInt64, passed: [UInt64])] = first.map { ($0, []) }
                while let last = waiting.popLast() {
                    let owner = last.owner
                    var passed = last.passed
                    guard seen.insert(owner).inserted else { continue }
                    let kind = kind(of: owner)
                    if let kind, let key = kind.key, isReplaced(owner, key) {
                        isFound = true
                        continue
                    }
                    if let kind, kind.isSetUp && !kind.keepsChildren {
                        isFound = true
                        choose(owner)
                        found.refreshed += passed
                        continue
                    }
                    if kind?.isRefreshed == true { passed.append(owner) }
                    let next = kind == nil ? [] : above(owner)
                    if next.isEmpty { found.refreshed += passed }
                    waiting += next.map { ($0, passed) }
                }
                return isFound
            }
            for object in changed where !visit(above(object)) {
                if state.kinds[object]?.isSetUp ?? settable.contains(object) { choose(object) }
                if state.owners[object] != nil { found.kept.append(object) }
            }
            _ = visit(owners)
            for (object, key) in state.unfinished where !chosen.contains(object) {
                if let key, isReplaced(object, key) { continue }
                found.retried.append(object)
            }
            // The children of an owner end when it is set up again, or replaced.
            func isBelow(_ object: UInt64) -> Bool {
                var next = state.owners[object]
                while let owner = next {
                    if chosen.contains(owner) { return true }
                    if let key = kind(of: owner)?.key, isReplaced(owner, key) { return true }
                    next = state.owners[owner]
                }
                return false
            }
            found.setUp.removeAll(where: isBelow)
            found.retried.removeAll(where: isBelow)
            found.kept.removeAll(where: isBelow)
            found.refreshed.removeAll { chosen.contains($0) || isBelow($0) }
            return found
        }
    }

    /// Whether the setup of an object failed when a failed commit was undone. Each later commit tries again. Locked.
    public var hasUnfinished: Bool { state.locked { !$0.unfinished.isEmpty } }

    /// The keys of these objects, as far as they have one. Locked.
    public var unfinishedKeys: [UInt32] { state.locked { $0.unfinished.values.compactMap(\.self) } }

    /// Locked.
    public func setUnfinished(_ object: UInt64, _ isUnfinished: Bool) {
        state.locked { state in
            guard isUnfinished else { return _ = state.unfinished.removeValue(forKey: object) }
            guard let record = ObjectTable.record(object) else { return }
            state.unfinished[object] = .some(record.pointee.key > 0 ? record.pointee.key - 1 : nil)
        }
    }

    /// Whether `owner` may become the owner of an object: that has none, and is not itself above it.
    func mayOwn(_ object: UInt64, _ owner: UInt64) -> Bool {
        state.held { state in
            guard state.owners[object] == nil else { return false }
            var next: UInt64? = owner
            while let here = next {
                if here == object { return false }
                next = state.owners[here]
            }
            return true
        }
    }
}
