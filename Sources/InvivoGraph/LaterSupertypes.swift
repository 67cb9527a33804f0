internal import InvivoBase
internal import Synchronization

/// Supertypes that were declared after a type was registered.
///
/// A language may discover an interface only when it is requested, and declares it then. These are facts about types,
/// so they hold for every generation and are never removed.
public final class LaterSupertypes: Sendable {
    /// The types of each supertype.
    private final class Types: Sendable {
        let list: NameTable<[String]>

        init(_ list: NameTable<[String]>) { self.list = list }
    }

    private struct State {
        /// The object that `shown` points to.
        var types: Types
        var supertypes: NameTable<NameSet> = [:]
    }

    private let home = HomeProcess()
    private let state: Guarded<State>
    /// For a forked child, in which the lock may be held forever. Complete at any time.
    private let shown: Atomic<Unmanaged<Types>>

    public init() {
        let types = Types([:])
        state = Guarded(State(types: types), by: Monitor())
        shown = Atomic(Unmanaged.passUnretained(types))
    }

    public func add(_ supertype: String, to type: String) {
        let former = state.locked { state -> Types? in
            guard state.supertypes[type, default: []].insert(supertype).inserted else { return nil }
            var list = state.types.list
            list[supertype, default: []].append(type)
            let former = state.types
            state.types = Types(list)
            shown.store(Unmanaged.passUnretained(state.types), ordering: .releasing)
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// The types of a supertype; also in a forked child.
    public func types(that supertype: String) -> [String] {
        guard home.isHere else {
            return shown.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.list[supertype] ?? [] }
        }
        return state.locked { $0.types.list[supertype] ?? [] }
    }

    func supertypes(of type: String) -> NameSet { state.locked { $0.supertypes[type] ?? [] } }
    var names: [String] { state.locked { $0.types.list.keys } }
}
