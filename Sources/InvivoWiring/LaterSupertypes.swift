internal import InvivoBase

/// What types were said to be after they were registered: a language that finds out about an interface when somebody asks
/// for it says so then. Facts about types, so they hold for every generation; nothing is ever taken back.
public final class LaterSupertypes: @unchecked Sendable {
    private let monitor = Monitor()
    // Guarded by the monitor.
    private var types: NameTable<[String]> = [:]
    private var supertypes: NameTable<NameSet> = [:]

    public func add(_ supertype: String, to type: String) {
        monitor.locked {
            guard supertypes[type, default: []].insert(supertype).inserted else { return }
            types[supertype, default: []].append(type)
        }
    }

    func types(that supertype: String) -> [String] { monitor.locked { types[supertype] ?? [] } }
    func supertypes(of type: String) -> NameSet { monitor.locked { supertypes[type] ?? [] } }
    var names: [String] { monitor.locked { types.keys } }
}
