internal import InvivoBase
public import InvivoGraph

/// The records that builds leave for reloads.
///
/// All functions except `connect` and `report` are called with the monitor of the runtime held.
public final class BuildRecords: Sendable {
    private struct State {
        var dependencies = RecordedDependencies()
        var built = BuiltKeys()
        /// The keys of shared objects that became visible since the change set that has the turn was planned, each with those
        /// that setups have used; nil without a change set.
        var sincePlan: [UInt32: Set<UInt32>]?
        /// Objects that a further commit could not tune or replace: the next commit is followed by another try.
        var again: [UInt32: OvertakenBuild] = [:]
        /// Objects that were built for a graph that was replaced meanwhile.
        var outdated: [Outdated] = []
        /// Set once, before the runtime is open.
        var onOvertaken: (@Sendable ([UInt32: OvertakenBuild]) -> Void)?
    }

    /// An object that was built for a graph that was replaced meanwhile. The graph's hold on it is dropped by the next reclaim.
    public struct Outdated: Sendable {
        public let object: UInt64
        /// The generation that brought its slot.
        public let birth: UInt64
        /// The slot, or that of its key if it is one for some arguments. The graphs with it show the object; without it, none does.
        public let cell: Cell?

        public init(object: UInt64, birth: UInt64, _ cell: Cell?) {
            (self.object, self.birth, self.cell) = (object, birth, cell)
        }
    }

    private let state: Guarded<State>

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor) { state = .init(State(), by: monitor) }

    // MARK: dependencies and built keys

    /// The keys that the instances of `id` resolved during their construction, beyond those that its definition names.
    public func dependencies(of id: UInt32) -> Set<UInt32> { state.held { $0.dependencies.dependencies(of: id) } }

    /// The keys whose instances resolved `id`.
    public func dependents(on id: UInt32) -> Set<UInt32> { state.held { $0.dependencies.dependents(on: id) } }

    /// The keys of a scope whose shared instances were built; some may have ended.
    public func built(_ scope: Scope) -> Set<UInt32> { state.held { $0.built.of(scope) } }

    func noteBuilt(_ cell: Cell) { state.held { $0.built.insert(cell.id, cell.scope) } }

    func add(_ keys: Set<UInt32>, to id: UInt32) { state.held { $0.dependencies.add(keys, to: id) } }

    func replace(of id: UInt32, by keys: Set<UInt32>) { state.held { $0.dependencies.replace(of: id, by: keys) } }

    /// A reload has replaced these cells: forgets the keys that have no instance in `graph`, the current one.
    public func forget(_ cells: [Cell], in graph: Graph) {
        for cell in cells {
            let current = graph.cell(cell.id).flatMap { $0.isHeld() ? $0.scope : nil }
            guard current != cell.scope else { continue }
            state.held { state in
                state.built.remove(cell.id, cell.scope)
                if current == nil { state.dependencies.remove(cell.id) }
            }
        }
    }

    // MARK: objects that a reload has overtaken

    /// Before a change set is planned: the keys of the objects that become visible from here on are noted.
    public func beginNoting() { state.held { $0.sincePlan = [:] } }

    /// The change set's turn ends.
    public func stopNoting() { state.held { $0.sincePlan = nil } }

    /// Notes a shared object that becomes visible, and the keys that setups have used for it.
    func noteVisible(_ id: UInt32, _ used: Set<UInt32>) {
        state.held { $0.sincePlan?[id, default: []].formUnion(used) }
    }

    /// Objects could not be tuned or replaced: that is tried again after the next commit.
    public func tryAgain(_ overtaken: [UInt32: OvertakenBuild]) {
        state.held { $0.again.merge(overtaken) { $0.joined($1) } }
    }

    /// With the store of the next graph: the keys that it concerns, and those to try again.
    public func endNoting(_ former: Graph, _ next: Graph) -> [UInt32: OvertakenBuild] {
        state.held { state in
            var all = state.again
            for (id, used) in state.sincePlan ?? [:] where former.cell(id) === next.cell(id) {
                let received = state.dependencies.dependencies(of: id)
                guard let overtaken = next.overtaking(of: id, received, setups: used, since: former) else { continue }
                all[id] = all[id]?.joined(overtaken) ?? overtaken
            }
            (state.sincePlan, state.again) = (nil, [:])
            return all
        }
    }

    /// `onOvertaken` is called, without the monitor, when a commit concerns objects that its plan did not know.
    public func connect(_ onOvertaken: @escaping @Sendable ([UInt32: OvertakenBuild]) -> Void) {
        state.locked { $0.onOvertaken = onOvertaken }
    }

    public func report(_ overtaken: [UInt32: OvertakenBuild]) {
        let onOvertaken = state.locked { $0.onOvertaken }
        onOvertaken?(overtaken)
    }

    // MARK: objects of replaced graphs

    public var hasOutdated: Bool { state.held { !$0.outdated.isEmpty } }

    public func add(_ outdated: Outdated) { state.held { $0.outdated.append(outdated) } }

    public func takeOutdated() -> [Outdated] {
        state.held { state in
            defer { state.outdated = [] }
            return state.outdated
        }
    }

    /// For close: removes all records. The caller drops the result without the monitor.
    func removeAll() -> [OvertakenBuild] {
        state.held { state in
            defer { (state.dependencies, state.built, state.again) = (RecordedDependencies(), BuiltKeys(), [:]) }
            return Array(state.again.values)
        }
    }
}
