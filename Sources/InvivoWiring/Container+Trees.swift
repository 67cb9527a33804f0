internal import CPlatform
public import InvivoBase
internal import InvivoGraph

/// Injecting into whole trees of objects that the host made.
extension Container {
    /// What the caller of a tree says in the place of its objects' types.
    public struct Tree {
        /// Of the root.
        public var key: String?
        /// Whether objects that nobody knows how to inject are left as they are.
        public var allowsUnknown = false
        /// A child with one lease for the caller; 0 after the last.
        public var child: ((UInt64, UInt64) throws(Failure) -> UInt64)?
        public var keyName: ((UInt64) throws(Failure) -> String?)?
        public var isForeign: ((UInt64) -> Bool)?
        public init() {}
    }

    private struct Node {
        let lease: ObjectLease
        let record: Record
        /// Nil: nobody knows it, and that is allowed.
        let recipe: Recipe?
        var children: [Node] = []
    }

    /// No tree has more objects, or is deeper: a child that leads to itself must not take the machine's memory.
    private static let mostInTree = 1_000_000
    private static let deepestTree = 1_000

    /// Injects into an object and everything below it.
    public func injectTree(_ root: UInt64, _ tree: Tree) throws(Failure) {
        try whole { (chain) throws(Failure) in
            var walk = Walk(tree: tree, chain: chain)
            let top = try self.walk(root, &walk, name: tree.key, path: "root", depth: 0)
            if let failure = Failure.gathered(walk.failures) { throw failure }
            if let top { try inject(top, chain, depth: 0) }
        }
    }

    private static func tooDeep(_ depth: Int) -> Failure {
        Failure(
            .tooLarge, "the thread's stack is full at a depth of \(depth) objects: the tree is too deep for it",
            path: "root")
    }

    private struct Walk {
        let tree: Tree
        let chain: BuildChain
        var seen: [UInt64: String] = [:]
        var failures: [Failure] = []
    }

    /// The object and what is below it; nil when it is not ours to inject.
    private func walk(_ object: UInt64, _ walk: inout Walk, name: String?, path: String, depth: Int) throws(Failure)
        -> Node?
    {
        let lease = try ObjectLease.retaining(object)
        guard let record = ObjectTable.record(object) else { return nil }
        let type = Self.type(record)
        // A root that was made by a definition is injected again, as it was asked for.
        let isComplete = depth > 0 && record.pointee.key != 0
        guard type.container === self, !isComplete, walk.tree.isForeign?(object) != true else { return nil }
        if let former = walk.seen.updateValue(path, forKey: object) {
            walk.failures.append(
                Failure(.cycle, "the object at '\(path)' is in the tree at '\(former)' too", path: path))
            return nil
        }
        guard depth < Self.deepestTree, walk.seen.count < Self.mostInTree else {
            throw Failure(
                .tooLarge, "the tree has more than \(walk.seen.count) objects or is deeper than \(depth)",
                path: depth < 32 ? path : "root")
        }
        guard iv_stack_left() > Self.leastStack else { throw Self.tooDeep(depth) }
        if let domain = type.domain, !domain.isCurrent, record.pointee.thread == type.raw.pointee.thread {
            throw Failure(
                .domain, "an object of the confined type '\(type.name)' is injected in its domain '\(domain.name)'",
                path: path)
        }
        var node = Node(lease: lease, record: record, recipe: recipe(object, record, name, path, &walk))
        let instance = record.pointee.instance
        for index in 0..<UInt64(Self.mostInTree) {
            let child: UInt64
            do throws(Failure) {
                if let ask = walk.tree.child {
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
            if let below = try self.walk(
                held.bits, &walk, name: nil, path: "\(path).\(index)", depth: depth + 1)
            {
                node.children.append(below)
            }
        }
        return node
    }

    /// How an object of a tree is injected; what is wrong is noted.
    private func recipe(_ object: UInt64, _ record: Record, _ given: String?, _ path: String, _ walk: inout Walk)
        -> Recipe?
    {
        let type = Self.type(record)
        do throws(Failure) {
            var name = given
            if name == nil {
                if let ask = walk.tree.keyName {
                    name = try ask(object)
                } else if let instance = record.pointee.instance {
                    name = try type.description.keyName(of: instance)
                }
            }
            guard let name else { return try recipe(for: type, as: nil, walk.chain) }
            let id = try monitor.locked { () throws(Failure) -> UInt32 in
                guard let id = keys.id(of: name), walk.chain.graph.recipe(id) != nil else {
                    throw unknownKey(name, in: walk.chain.graph)
                }
                return id
            }
            let recipe = try recipe(for: type, as: id, walk.chain)
            try checkKind(recipe, type)
            return recipe
        } catch {
            var failure = error
            let isUnknown = error.code == .notFound && error.path == type.name
            if isUnknown && walk.tree.allowsUnknown { return nil }
            failure.message = "the object at '\(path)': \(error.message)"
            walk.failures.append(failure)
            return nil
        }
    }

    /// Parents are injected first; their last hooks come after those of their children.
    private func inject(_ node: Node, _ chain: BuildChain, depth: Int) throws(Failure) {
        guard iv_stack_left() > Self.leastStack else { throw Self.tooDeep(depth) }
        if let recipe = node.recipe {
            try injectHostObject(recipe, node.lease.bits, node.record, chain, completes: false)
        }
        for child in node.children { try inject(child, chain, depth: depth + 1) }
        if let recipe = node.recipe { try awaitCompletion(recipe, [], node.lease.bits, chain) }
    }

    /// That a definition fits an object that is there.
    func checkKind(_ recipe: Recipe, _ type: ObjectType) throws(Failure) {
        guard let wanted = recipe.type, type.description.isKind(of: wanted.name) else {
            throw Failure(
                .type, "'\(recipe.key)' injects into a '\(recipe.type?.name ?? "?")', the object is a '\(type.name)'",
                path: recipe.key, at: recipe.definition.place)
        }
    }

    // MARK: becoming shared

    /// Injects into an object of the host's, which then is the shared instance of its key.
    /// `tunedAs`: the key that it is attached to, by which documents tune it.
    public func injectShared(_ object: UInt64, as id: UInt32?, tunedAs: (id: UInt32, key: String)? = nil)
        throws(Failure)
    {
        guard let record = ObjectTable.record(object) else { throw Failure(.handle, "the object handle is stale") }
        let type = Self.type(record)
        try whole { (chain) throws(Failure) in
            let recipe = try recipe(for: type, as: id, chain)
            try checkKind(recipe, type)
            func fail(_ code: Status, _ message: String) -> Failure {
                Failure(code, message, path: recipe.key, at: recipe.definition.place)
            }
            guard recipe.scope.isShared, recipe.definition.body.parameters == nil,
                let cell = chain.graph.cell(recipe.id),
                chain.graph.isOwn(recipe, cell)
            else {
                throw fail(
                    .argument,
                    "the object cannot become the shared instance of '\(recipe.key)': its scope is "
                        + "\(recipe.scope.name), and what is shared must take no runtime arguments")
            }
            if let domain = type.domain, !domain.isCurrent {
                throw fail(
                    .domain,
                    "a shared object of the confined type '\(type.name)' is given where it belongs: in "
                        + "the domain '\(domain.name)'")
            }
            if let tunedAs, tunedAs.id != recipe.id {
                throw fail(
                    .exists,
                    "the object is attached to '\(tunedAs.key)', by which documents tune it: detach it first")
            }
            guard record.pointee.key == 0 || record.pointee.key == recipe.id &+ 1 else {
                throw fail(.exists, "the object was made for '\(keyName(record.pointee.key - 1))'")
            }
            let isTaken = monitor.locked { () -> Bool in
                guard case .cold = cell.state, !cell.isRetired else { return true }
                cell.state = .building(chain.root)
                cell.attempt += 1
                return false
            }
            guard !isTaken else {
                throw fail(.exists, "'\(recipe.key)' has a shared instance already, or is making one")
            }
            do throws(Failure) {
                record.pointee.key = recipe.id &+ 1
                record.pointee.thread = type.raw.pointee.thread
                try injectHostObject(recipe, object, record, chain, cell: cell)
            } catch {
                record.pointee.key = 0
                monitor.locked { reset(cell, error) }
                throw error
            }
        }
    }
}
