internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// The object that a commit replaces by a new one. The creator of the new one may copy from it.
struct FormerObject {
    /// Keeps the object alive while the new one is created.
    let lease: ObjectLease
    let instance: UnsafeMutableRawPointer?
}

/// Finds the objects that those of a commit's build replace.
struct FormerObjects {
    let build: Build
    private var container: Container { build.container }

    init(of build: Build) { self.build = build }

    /// The object that a new shared object replaces; nil if there is none, outside of a commit, or if it has another type.
    ///
    /// It is the object of the same key, runtime arguments and scope instance. A decorated object is the one that the
    /// definition created. Before the commit publishes its generation, the object is not stopped, unless it is exclusive.
    func former(of recipe: Recipe, _ arguments: [Value], in cell: Cell) throws(Failure) -> FormerObject? {
        guard let commit = enclosingCommit, let graph = commit.former, let base = graph.cell(recipe.id),
            base !== build.graph.cell(recipe.id), let former = graph.recipe(recipe.id),
            // The target of an alias is not replaced.
            former.id == recipe.id, let type = recipe.type, let formerType = former.type,
            former.scope.isShared, Self.isSamePlace(former, recipe)
        else { return nil }
        let instance = container.monitor.locked { cell.scopeInstance?.instance }
        let find: () -> Cell? = {
            instance.map { base.known(ArgumentsKey([.uint64($0)] + arguments)) } ?? base.known(arguments)
        }
        func refuse(_ formerType: ObjectType) {
            container.monitor.locked { commit.retyped[recipe.id] = (formerType.name, type.name) }
        }
        guard formerType === type else {
            if container.monitor.locked({ find().map { !$0.objects().isEmpty } ?? false }) { refuse(formerType) }
            return nil
        }
        let shown = try ExistingObjects(of: build).built(former, find)
        guard shown != 0 else { return nil }
        var lease = ObjectLease(owning: shown)
        let own = container.monitor.locked { find()?.undecorated ?? 0 }
        if own != 0 {
            // The decorator may not have kept it.
            guard ObjectTable.retain(own) else { return nil }
            let decorated = lease
            lease = ObjectLease(owning: own)
            withExtendedLifetime(decorated) {}
        }
        guard let record = ObjectTable.record(lease.bits) else { return nil }
        guard ObjectType.of(record) === type else {
            refuse(ObjectType.of(record))
            return nil
        }
        let state = container.lifecycle.state(of: record)
        guard recipe.isExclusive || state != .stopping && state != .stopped else { return nil }
        return FormerObject(lease: lease, instance: record.pointee.instance)
    }

    /// The former child of an owner that is set up again; nil if it has another type than the new one.
    func former(child: FormerObject, of recipe: Recipe) -> FormerObject? {
        guard let record = ObjectTable.record(child.lease.bits), let type = recipe.type else { return nil }
        guard ObjectType.of(record) !== type else { return child }
        if let commit = enclosingCommit {
            container.monitor.locked { commit.retyped[recipe.id] = (ObjectType.of(record).name, type.name) }
        }
        return nil
    }

    /// The commit that this build is part of, directly or in a hook.
    private var enclosingCommit: Build.Commit? {
        var around: Build? = build
        while let here = around {
            if let commit = here.commit { return commit }
            around = here.caller.around
        }
        return nil
    }

    /// Whether the instances of two definitions of a key correspond to each other.
    private static func isSamePlace(_ former: Recipe, _ next: Recipe) -> Bool {
        guard former.scope.isPlaced || next.scope.isPlaced else { return true }
        return former.scope == next.scope && former.definition.body.scopeName == next.definition.body.scopeName
    }
}
