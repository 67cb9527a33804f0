internal import CPlatform
public import InvivoBase
internal import InvivoGraph

/// A tree of objects that the host created, as described by the caller instead of by the types of the objects.
public struct ObjectTree {
    /// The key of the root.
    public var key: String?
    /// Whether objects that no definition or type can inject into are left as they are.
    public var allowsUnknown = false
    /// A child with one lease for the caller; 0 after the last.
    public var child: ((UInt64, UInt64) throws(Failure) -> UInt64)?
    public var keyName: ((UInt64) throws(Failure) -> String?)?
    public var isForeign: ((UInt64) -> Bool)?
    public init() {}
}

/// Injecting into an object tree: first the whole tree is read, then its objects are injected.
public struct TreeInjection {
    private struct Node {
        let lease: ObjectLease
        let record: Record
        /// Nil: it is unknown, and that is allowed.
        let recipe: Recipe?
        var children: [Node] = []
    }

    /// Limits: a child that leads to itself must not exhaust the memory.
    private static let mostObjects = 1_000_000
    private static let deepest = 1_000

    private let tree: ObjectTree
    private let container: Container
    private let build: Build
    private var seen: [UInt64: String] = [:]
    private var failures: [Failure] = []

    private init(_ tree: ObjectTree, _ container: Container, _ build: Build) {
        self.tree = tree
        self.container = container
        self.build = build
    }

    /// Injects into an object and everything below it.
    public static func run(_ root: UInt64, _ tree: ObjectTree, in container: Container) throws(Failure) {
        try container.whole { (build) throws(Failure) in
            var injection = TreeInjection(tree, container, build)
            try injection.run(root)
        }
    }

    private mutating func run(_ root: UInt64) throws(Failure) {
        let top = try node(root, name: tree.key, path: "root", depth: 0)
        if let failure = Failure.gathered(failures) { throw failure }
        if let top { try inject(top, depth: 0) }
    }

    private static func tooDeep(_ depth: Int) -> Failure {
        Failure(
            .tooLarge, "the thread's stack is full at a depth of \(depth) objects: the tree is too deep for it",
            path: "root")
    }

    /// The object and everything below it; nil if it is not to be injected.
    private mutating func node(_ object: UInt64, name: String?, path: String, depth: Int) throws(Failure) -> Node? {
        let lease = try ObjectLease.retaining(object)
        guard let record = ObjectTable.record(object) else { return nil }
        let type = ObjectType.of(record)
        // A root that a definition created is injected again, as requested.
        let isComplete = depth > 0 && record.pointee.key != 0
        guard type.container === container, !isComplete, tree.isForeign?(object) != true else { return nil }
        if let former = seen.updateValue(path, forKey: object) {
            failures.append(
                Failure(.cycle, "the object at '\(path)' is in the tree at '\(former)' too", path: path))
            return nil
        }
        guard depth < Self.deepest, seen.count < Self.mostObjects else {
            throw Failure(
                .tooLarge, "the tree has more than \(seen.count) objects or is deeper than \(depth)",
                path: depth < 32 ? path : "root")
        }
        guard iv_stack_left() > Build.leastStack else { throw Self.tooDeep(depth) }
        if let domain = type.domain, !domain.isCurrent, record.pointee.thread == type.raw.pointee.thread {
            throw Failure(
                .domain, "an object of the confined type '\(type.name)' is injected in its domain '\(domain.name)'",
                path: path)
        }
        var node = Node(lease: lease, record: record, recipe: recipe(object, record, name, path))
        let instance = record.pointee.instance
        for index in 0..<UInt64(Self.mostObjects) {
            let child: UInt64
            do throws(Failure) {
                if let ask = tree.child {
                    child = try ask(object, index)
                } else {
                    child =
                        try instance.map { instance throws(Failure) in
                            try type.description.child(index, of: instance)
                        } ?? 0
                }
            } catch {
                var failure = error
                if failure.path.isEmpty { failure.path = "\(path).\(index)" }
                throw failure
            }
            guard child != 0 else { break }
            let held = ObjectLease(owning: child)
            if let below = try self.node(held.bits, name: nil, path: "\(path).\(index)", depth: depth + 1) {
                node.children.append(below)
            }
        }
        return node
    }

    /// The compiled definition that injects into an object; records its failure.
    private mutating func recipe(_ object: UInt64, _ record: Record, _ given: String?, _ path: String) -> Recipe? {
        let type = ObjectType.of(record)
        do throws(Failure) {
            var name = given
            if name == nil {
                if let ask = tree.keyName {
                    name = try ask(object)
                } else if let instance = record.pointee.instance {
                    name = try type.description.keyName(of: instance)
                }
            }
            guard let name else { return try container.recipe(for: type, as: nil, build) }
            let id = try container.monitor.locked { () throws(Failure) -> UInt32 in
                guard let id = container.keys.id(of: name), build.graph.recipe(id) != nil else {
                    throw container.registry.unknownKey(name, in: build.graph)
                }
                return id
            }
            let recipe = try container.recipe(for: type, as: id, build)
            try recipe.checkKind(of: type)
            return recipe
        } catch {
            var failure = error
            let isUnknown = error.code == .notFound && error.path == type.name
            if isUnknown && tree.allowsUnknown { return nil }
            failure.message = "the object at '\(path)': \(error.message)"
            failures.append(failure)
            return nil
        }
    }

    /// Parents are injected first; their last hooks come after those of their children.
    private func inject(_ node: Node, depth: Int) throws(Failure) {
        guard iv_stack_left() > Build.leastStack else { throw Self.tooDeep(depth) }
        if let recipe = node.recipe {
            try build.injectHostObject(recipe, node.lease.bits, node.record, completes: false)
        }
        for child in node.children { try inject(child, depth: depth + 1) }
        guard let recipe = node.recipe else { return }
        let recipient = Build.Recipient(recipe: recipe, arguments: [], object: node.lease.bits, record: node.record)
        try build.awaitCompletion(recipient, for: nil)
    }
}

extension Container {
    /// Injects into an object of the host, which becomes the shared instance of its key. `tunedAs`: the key under which it is
    /// attached as a target.
    public func injectShared(_ object: UInt64, as id: UInt32?, tunedAs: (id: UInt32, key: String)? = nil)
        throws(Failure)
    {
        guard let record = ObjectTable.record(object) else { throw Failure(.handle, "the object handle is stale") }
        let type = ObjectType.of(record)
        try whole { (build) throws(Failure) in
            let recipe = try self.recipe(for: type, as: id, build)
            try recipe.checkKind(of: type)
            func fail(_ code: Status, _ message: String) -> Failure {
                Failure(code, message, path: recipe.key, at: recipe.definition.location)
            }
            guard recipe.scope.isShared, recipe.definition.body.parameters == nil,
                let cell = build.graph.cell(recipe.id),
                build.graph.isOwn(recipe, cell)
            else {
                throw fail(
                    .argument,
                    "the object cannot become the shared instance of '\(recipe.key)': its scope is "
                        + "\(recipe.scope.name), and a shared instance takes no runtime arguments")
            }
            if let domain = type.domain, !domain.isCurrent {
                throw fail(
                    .domain,
                    "a shared object of the confined type '\(type.name)' is given where it belongs: in "
                        + "the domain '\(domain.name)'")
            }
            if let tunedAs, let specKey = recipe.definition.specKey,
                tunedAs.id != recipe.id || !specKey.isSameName(as: tunedAs.key)
            {
                throw fail(
                    .exists,
                    "the object is attached to '\(tunedAs.key)', by which documents tune it: detach it first")
            }
            guard record.pointee.key == 0 || record.pointee.key == recipe.id &+ 1 else {
                throw fail(.exists, "the object was created for '\(keyName(record.pointee.key - 1))'")
            }
            let isTaken = monitor.locked { () -> Bool in
                guard case .cold = cell.state, !cell.isRetired else { return true }
                cell.beginBuild(build.chain)
                cell.attempt += 1
                return false
            }
            guard !isTaken else {
                throw fail(.exists, "'\(recipe.key)' has a shared instance already, or one is being created")
            }
            do throws(Failure) {
                record.pointee.key = recipe.id &+ 1
                record.pointee.thread = type.raw.pointee.thread
                try build.injectHostObject(recipe, object, record, cell: cell)
            } catch {
                record.pointee.key = 0
                monitor.locked { cell.makeCold(error, monitor) }
                throw error
            }
        }
    }
}
