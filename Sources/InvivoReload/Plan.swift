internal import HashTreeCollections
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

/// A live object whose layers change, with the key under which it is tuned.
typealias Tuned = (id: UInt32, object: UInt64, layers: TargetLayers?)

/// What a commit will do, worked out and checked beforehand.
struct Plan {
    let staged: Staged
    var editor: GraphEditor
    /// Definitions that are new or other than before; nil = removed.
    var definitions: [UInt32: Definition?] = [:]
    /// The assemblies that are active after the plan; nil when they stay.
    var assemblies: ActiveAssemblies?
    /// The names of the assemblies that are added, removed or replaced.
    var changedAssemblies: [String] = []
    /// Definitions that say what they said before, and are declared elsewhere now.
    var moved: [UInt32: Definition] = [:]
    /// What lies over the definitions of these keys after the plan.
    var overrides: [UInt32: [Override]] = [:]
    /// Keys that the change set describes anew.
    var described: Set<UInt32> = []
    /// What was described of keys whose definitions processors replaced; nil = they left it.
    var originals: [UInt32: Definition?] = [:]
    /// All processors in their order, where they change.
    var processors: [Processor]?
    /// What the component of each decorator needs.
    var decoratorReaches: [ObjectIdentifier: Set<UInt32>]?
    /// The configuration after the plan, if it is another one, with what operators say, and which paths changed.
    var config: ConfigLayers?
    var settings: [ConfigTree.Change] = []
    /// The ids of those of them that anybody names.
    var settingIDs: Set<UInt32> = []
    /// Who names them: compiled anew, and followed along the edges like who names a key.
    var reconfigured: Set<UInt32> = []
    /// How they are made: of what changed, and of what was bound by type to something else.
    var recipes: [UInt32: Recipe] = [:]
    /// What definitions name in which something is wrong.
    var needs: [UInt32: [UInt32]] = [:]
    /// What lies dormant after the plan, and what it waits for.
    var asleep: TreeDictionary<UInt32, [String]> = [:]
    /// Kept instances that were bound to something else by property or method.
    var rebound: Set<UInt32> = []
    /// Keys that stay as they are and become members of a circle.
    var circled: Set<UInt32> = []
    /// Keys of which something new is made.
    var remade: Set<UInt32> = []
    /// Cells that are replaced: their objects end with the former generation.
    var replaced: [Cell] = []
    /// All cells that the next graph has and the former has not: what is built in them ends with a failed commit.
    var created: [Cell] = []
    /// Built shared instances that are made anew, and eager ones that are made first, in declared order.
    var builds: [(id: UInt32, cell: Cell)] = []
    /// Kept instances into which something new is injected.
    var reinjected: [(id: UInt32, cell: Cell)] = []
    /// Tracked objects into which something new is injected; nil: everything that their definition names.
    var followed: [(id: UInt32, objects: [TrackedObject], changed: Set<UInt32>?)] = []
    /// Live objects whose layers change.
    var tuned: [Tuned] = []
    /// Live objects of which a base value changes: object, property, value.
    var based: [(object: UInt64, property: Int, value: Value)] = []
    /// Keys whose layers were planned, and those of them with warnings.
    var layered: NameSet = []
    var warned: NameSet = []
    /// Keys whose block is another one.
    var retunedBlocks: Set<UInt32> = []
    /// Aliases without arguments, with the keys whose slots they share.
    var aliased: [(id: UInt32, target: UInt32)] = []
    /// The highest number in the order of declaration after the plan.
    var lastNumber: UInt64 = 0
    var changes: [Report.Change] = []
    /// Paths of the configuration that nothing reads and that are spelled nearly as one that is read.
    var misspelled: [UnreadEntry] = []
    /// Keys for which caches must ask again.
    var touched: Set<UInt32> = []
    /// Keys of what is made again and again, and from now on with other values.
    var reshaped: Set<UInt32> = []

    /// Whether everything is as it was.
    var isNothing: Bool {
        processors == nil && definitions.isEmpty && assemblies == nil && config == nil && overrides.isEmpty
            && staged.documents.isEmpty && staged.set.resets.isEmpty && staged.set.resetScopes.isEmpty
            && staged.set.late.isEmpty && staged.set.attached.isEmpty && staged.set.detached.isEmpty
            && staged.set.cleared.isEmpty
    }

    /// What leads to an exclusive definition comes last: the shorter its former object is stopped.
    var buildsInOrder: [(id: UInt32, cell: Cell)] {
        guard builds.contains(where: { $0.cell.recipe.isExclusive }) else { return builds }
        let ids = Set(builds.map(\.id))
        var late: [UInt32: Bool] = [:]
        func isLate(_ id: UInt32) -> Bool {
            if let known = late[id] { return known }
            late[id] = false
            guard let recipe = editor.recipe(id) else { return false }
            let found =
                recipe.isExclusive && ids.contains(id)
                || recipe.edges.contains { $0.edge != .late && isLate($0.id) }
            late[id] = found
            return found
        }
        return builds.filter { !isLate($0.id) } + builds.filter { isLate($0.id) }
    }

    /// Whether something that has a stop is replaced.
    var stops: Bool { replaced.contains { $0.type?.description.functions.stop != nil } }

    /// Whether carrying it out calls the host: constructors, setters, disposal.
    var runsHostCode: Bool {
        !builds.isEmpty || !replaced.isEmpty || !reinjected.isEmpty || !followed.isEmpty || !tuned.isEmpty
            || !based.isEmpty || !staged.set.cleared.isEmpty
    }
}
