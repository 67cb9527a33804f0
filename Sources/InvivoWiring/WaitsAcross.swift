internal import CPlatform
internal import InvivoBase
internal import InvivoObjects
internal import Synchronization

/// The chains of builds on the stack of a thread that is about to wait, of any runtime. They continue only after the wait.
struct Standing: Sendable {
    let thread: UInt64
    private let chains: Set<ObjectIdentifier>
    /// The keys of the builds, from the outermost on.
    private let keys: [String]
    /// Whether they are of several runtimes.
    let isAcross: Bool

    /// `keys`: those of the builds, from the outermost on.
    init(thread: UInt64, chains: Set<ObjectIdentifier>, keys: [String], isAcross: Bool) {
        (self.thread, self.chains, self.keys, self.isAcross) = (thread, chains, keys, isAcross)
    }

    func has(_ chain: ObjectIdentifier) -> Bool { chains.contains(chain) }

    /// The keys after `key`; all of them when `key` is not among them.
    func keys(after key: String) -> [String] {
        keys.firstIndex(of: key).map { Array(keys[($0 + 1)...]) } ?? keys
    }
}

/// The waits of threads for each other in the whole process, to find cycles through several runtimes. Each runtime sees
/// only its own part (`Waits`).
///
/// Only threads that are about to wait enter here. The lock is a leaf: it is taken under the monitors of containers,
/// and held only for the search. A wait is added and removed under the monitor of the runtime that waits, so all
/// entries are valid. The thread that closes a cycle therefore finds it.
enum WaitsAcross {
    private struct Wait: Sendable {
        let standing: Standing
        /// The cell or pending creation.
        let awaited: ObjectIdentifier
        let name: String
        /// The chain of builds that creates it; nil while it has none.
        var maker: ObjectIdentifier?
    }
    private static let monitor = Monitor(isProcessWide: true)
    private static let waits = Guarded<[Wait]>([], by: monitor)
    /// The number of waits.
    private static let count = Atomic<Int>(0)

    /// Adds a wait of `standing` for the work of `maker`. If that closes a cycle through several runtimes, adds nothing
    /// and returns the keys of the cycle. Under the monitor of the runtime.
    static func begin(_ standing: Standing, for awaited: any Awaited, of maker: BuildChain?) -> [String]? {
        let wait = Wait(
            standing: standing, awaited: ObjectIdentifier(awaited), name: awaited.awaitedName,
            maker: maker.map { ObjectIdentifier($0) })
        return waits.locked { waits in
            if let cycle = cycle(wait, among: waits) { return cycle }
            waits.append(wait)
            count.store(waits.count, ordering: .relaxed)
            return nil
        }
    }

    /// Removes the wait.
    static func end(_ standing: Standing, for awaited: any Awaited) {
        let awaited = ObjectIdentifier(awaited)
        waits.locked { waits in
            let mine = waits.lastIndex { $0.awaited == awaited && $0.standing.thread == standing.thread }
            if let mine { waits.remove(at: mine) }
            count.store(waits.count, ordering: .relaxed)
        }
    }

    /// Removes the waits for an object that exists now or was abandoned. Under the monitor of the runtime in which they
    /// were added.
    static func over(_ awaited: any Awaited) {
        // Its own waits are seen: they were entered in the same monitor.
        guard count.load(ordering: .relaxed) > 0 else { return }
        let awaited = ObjectIdentifier(awaited)
        waits.locked { waits in
            waits.removeAll { $0.awaited == awaited }
            count.store(waits.count, ordering: .relaxed)
        }
    }

    /// Notes the chain that creates something that others wait for. Under the monitor of the runtime.
    static func known(_ maker: BuildChain, for awaited: any Awaited) {
        let awaited = ObjectIdentifier(awaited)
        waits.locked { waits in
            for index in waits.indices where waits[index].awaited == awaited {
                waits[index].maker = ObjectIdentifier(maker)
            }
        }
    }

    private static func cycle(_ wait: Wait, among waits: [Wait]) -> [String]? {
        // Cycles within one runtime are its own matter.
        guard wait.standing.isAcross || waits.contains(where: \.standing.isAcross) else { return nil }
        var seen: Set<Int> = []
        func follow(_ last: Wait, _ path: [String], _ isAcross: Bool) -> [String]? {
            guard let maker = last.maker else { return nil }
            if wait.standing.has(maker) {
                return isAcross ? path + wait.standing.keys(after: last.name) + [wait.name] : nil
            }
            for (index, next) in waits.enumerated()
            where next.standing.has(maker) && seen.insert(index).inserted {
                let way = path + next.standing.keys(after: last.name) + [next.name]
                if let found = follow(next, way, isAcross || next.standing.isAcross) { return found }
            }
            return nil
        }
        return follow(wait, [wait.name], wait.standing.isAcross)
    }
}
