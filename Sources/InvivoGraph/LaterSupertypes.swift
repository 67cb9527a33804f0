internal import InvivoBase

/// Supertypes that were declared after a type was registered.
///
/// A language may discover an interface only when it is requested, and declares it then. These are facts about types,
/// so they hold for every generation and are never removed.
public final class LaterSupertypes: @unchecked Sendable {
    /// The types of each supertype.
    private final class Types {
        let list: NameTable<[String]>

        init(_ list: NameTable<[String]>) { self.list = list }
    }

    private let monitor = Monitor()
    private let home = HomeProcess()
    // Guarded by the monitor. A forked child, whose lock may be held for ever, reads the types without it: whole at any time.
    private var types = Types([:])
    private var supertypes: NameTable<NameSet> = [:]

    public func add(_ supertype: String, to type: String) {
        monitor.locked {
            guard supertypes[type, default: []].insert(supertype).inserted else { return }
            var list = types.list
            list[supertype, default: []].append(type)
            let former = types
            types = Types(list)
            withExtendedLifetime(former) {}
        }
    }

    /// The types of a supertype; also in a forked child.
    func types(that supertype: String) -> [String] {
        home.isHere ? monitor.locked { types.list[supertype] ?? [] } : types.list[supertype] ?? []
    }
    func supertypes(of type: String) -> NameSet { monitor.locked { supertypes[type] ?? [] } }
    var names: [String] { monitor.locked { types.list.keys } }
}
