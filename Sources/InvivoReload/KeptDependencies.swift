internal import HashTreeCollections
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

/// The dependencies of which objects keep the former object or value, because their definitions declare it.
struct KeptDependencies: Sendable {
    /// Each dependency, with the generation that first replaced what an object keeps.
    typealias Since = [UInt32: UInt64]

    /// The change of a holder's objects.
    struct Change {
        /// The dependencies that a plan replaces, and of which the objects keep the former one.
        var begun: Set<UInt32> = []
        /// The values that these configuration paths had until now.
        var values: [UInt32: Value] = [:]
        var objects: [UInt64] = []
        /// The dependencies of which they receive the current objects and values.
        var caughtUp: Set<UInt32> = []
        /// The configuration paths that have the values again that `objects` keep.
        var returned: Set<UInt32> = []
        /// If they received everything again that another definition names: the only dependencies that they may still keep.
        var remaining: Set<UInt32>?
    }

    typealias Changes = [UInt32: Change]

    private struct Mark {
        let since: UInt64
        /// The value that the object has, of a configuration path.
        let value: Value?
    }

    /// By holder and object. Former objects stay: they return if they were set aside by an override that ends.
    private var marks: TreeDictionary<UInt32, [UInt64: [UInt32: Mark]]> = [:]

    /// Returns the kept dependencies after a plan, which `generation` carries out. Marks of objects that have ended go.
    func applying(_ changes: Changes, _ generation: UInt64, isAlive: (UInt64) -> Bool) -> KeptDependencies {
        var next = self
        for (id, change) in changes {
            let current = Set(change.objects)
            var objects = (next.marks[id] ?? [:]).filter { current.contains($0.key) || isAlive($0.key) }
            for object in objects.keys {
                for dependency in change.caughtUp { objects[object]?[dependency] = nil }
                if let remaining = change.remaining {
                    objects[object] = objects[object]?.filter { remaining.contains($0.key) }
                }
            }
            for object in change.objects {
                for dependency in change.returned { objects[object]?[dependency] = nil }
                for dependency in change.begun where objects[object]?[dependency] == nil {
                    objects[object, default: [:]][dependency] = Mark(
                        since: generation, value: change.values[dependency])
                }
            }
            objects = objects.filter { !$0.value.isEmpty }
            next.marks[id] = objects.isEmpty ? nil : objects
        }
        return next
    }

    /// Whether each of these objects has the value that a configuration path has again.
    func have(_ value: Value, of dependency: UInt32, _ id: UInt32, _ objects: [UInt64]) -> Bool {
        guard let marks = marks[id] else { return false }
        return objects.allSatisfy { marks[$0]?[dependency]?.value?.isSame(as: value) == true }
    }

    /// The keys of which there are or were objects that keep something.
    var holders: [UInt32] { Array(marks.keys) }

    /// Returns the dependencies of which the current objects of a key keep the former one, each with the generation that first replaced
    /// that one. Called with the monitor held.
    func of(_ id: UInt32, in graph: Graph) -> Since {
        guard let mark = marks[id], let cell = graph.cell(id), let recipe = graph.recipe(id) else { return [:] }
        let objects =
            recipe.isTracked
            ? cell.trackedObjects().filter(\.mayExist).map(\.object) : cell.objects().map(\.object)
        return objects.reduce(into: [:]) { found, object in
            found.merge((mark[object] ?? [:]).mapValues(\.since), uniquingKeysWith: min)
        }
    }
}
