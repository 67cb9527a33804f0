internal import CPlatform
internal import InvivoContexts
public import InvivoBase
public import InvivoGraph

/// Injecting again into a kept instance whose dependencies a reload replaced or bound to other keys, hooks included.
public struct Reinjection {
    private let recipe: Recipe
    private let former: Recipe
    private let recipient: Build.Recipient
    /// The keys that changed; nil for all.
    private let changed: IDSet?
    /// The keys of which the object keeps what it has.
    private let kept: Set<UInt32>
    /// Whether steps are repeated that name no key, too.
    private let repeatsAll: Bool
    private let container: Container

    /// Nil if the object has ended.
    public init?(
        of object: UInt64, _ arguments: [Value], by recipe: Recipe, after former: Recipe, changed: IDSet?,
        keeping kept: Set<UInt32>, repeatsAll: Bool, in container: Container
    ) {
        self.kept = kept
        self.repeatsAll = repeatsAll
        guard let record = ObjectTable.record(object) else { return nil }
        self.recipe = recipe
        self.former = former
        self.changed = changed
        self.container = container
        recipient = Build.Recipient(recipe: recipe, arguments: arguments, object: object, record: record)
    }

    /// A step of a definition or a call of a hook, with the matching step of the former definition: the one for the
    /// same property or call.
    private struct Step {
        let next: Recipe.NamedStep
        let former: Recipe.Step?
    }

    /// The value that a step finds in its object, and puts back when the reload fails.
    private struct Found {
        let kept: Value?
        /// For a list whose holder is notified of candidates: the keys of its objects.
        let candidates: [UInt32]?
        /// The value of a property that the former definition does not set.
        let own: Value?
    }

    /// The steps of a list that use a changed key, or used any key before, or have another constant.
    private func steps(
        _ steps: [Recipe.Step], _ formerSteps: [Recipe.Step], _ list: String, from first: Int = 0
    ) -> [Step] {
        func followed(_ sources: [Recipe.Source]) -> [[UInt32?]] {
            sources.map { $0.keys(except: kept) }
        }
        let formerNames = formerSteps.indices.map { former.name(of: $0, in: formerSteps, list) }
        return steps.indices.dropFirst(first).compactMap { index in
            let next = recipe.named(index, in: steps, list)
            let before = formerNames.firstIndex { $0.isSameName(as: next.name) }.map { formerSteps[$0] }
            let names = next.step.sources.contains { $0.names(changed, except: kept) }
            func namesOthers(_ before: Recipe.Step) -> Bool {
                before.sources.contains { $0.names(nil, except: kept) }
                    || followed(before.sources) != followed(next.step.sources)
            }
            let isOther =
                changed == nil && (before.map { namesOthers($0) || $0.hasOtherConstants(than: next.step) } ?? true)
            guard names || isOther || repeatsAll else { return nil }
            return Step(next: next, former: before)
        }
    }

    /// Runs the affected steps again, at their position among the steps, in the build of a commit.
    ///
    /// Keys of the scopes of `scopeInstances` are resolved in these scope instances, independent of the calling code.
    /// Before each step, `noting` receives a function that restores the former value and creates nothing.
    public func run(
        in build: Build, of scopeInstances: [ScopeInstance], noting: (@escaping () throws(Failure) -> Void) -> Void
    ) throws(Failure) {
        build.commit?.scopeInstances = scopeInstances
        defer { build.commit?.scopeInstances = [] }
        if recipe.isInCycle { ObjectCycles.mark(recipient.object, recipient.record) }
        let skipped = recipe.skippedNeeds(of: recipient.record, again: true)
        var now =
            steps(recipe.before, former.before, "before ") + steps(recipe.steps, former.steps, "", from: skipped)
            + steps(recipe.after, former.after, "after ")
        var last = steps(recipe.afterAll, former.afterAll, "afterAll ")
        // An object of a shared type is notified of candidates, and nothing else changes in it.
        if recipe.type?.domain == nil {
            last = []
            now.removeAll { if case .candidates = $0.next.step { false } else { true } }
        }
        let context = scopeInstances.lazy.compactMap(\.context).first
        // The objects of a context that ends are not changed any more.
        if let context, Contexts.isEnding(context) { return }
        try Contexts.working(in: context, container.core) { () throws(Failure) in
            try inject(now, last, in: build, noting: noting)
        }
    }

    private func inject(
        _ now: [Step], _ last: [Step], in build: Build, noting: (@escaping () throws(Failure) -> Void) -> Void
    ) throws(Failure) {
        if !now.isEmpty {
            try container.building(build) { () throws(Failure) in
                try container.whole { (inner) throws(Failure) in
                    inner.frames.append(Build.Frame(recipient, mark: inner.made.count, low: inner.frames.count))
                    defer { record(inner.frames.removeLast(), in: build) }
                    for step in now { try run(step, inner, noting) }
                }
            }
        }
        guard !last.isEmpty else { return }
        // As at creation: the objects that each of the last hooks receives form a graph of their own.
        try container.building(build) { () throws(Failure) in
            for step in last { try container.whole { (inner) throws(Failure) in try run(step, inner, noting) } }
        }
    }

    private func run(
        _ step: Step, _ build: Build, _ noting: (@escaping () throws(Failure) -> Void) -> Void
    ) throws(Failure) {
        let found = found(by: step)
        let cover = Cover()
        var isTaken = false
        noting { () throws(Failure) in
            do throws(Failure) {
                try cover.rollBack()
                try self.restore(found, step, isCovered: cover.isThere)
            } catch {
                if isTaken { self.keepConstant(step.next) }
                throw error
            }
        }
        do throws(Failure) {
            try build.apply(step.next, to: recipient) { (index, value) throws(Failure) in
                try cover.take(value, index, recipient, build)
            }
        } catch {
            let failure = build.withoutSecrets(error, step.next.step.sources)
            throw failure.named(recipe.key, recipe.definition.location)
        }
        isTaken = true
    }

    /// Keys that were resolved for the kept instance become its dependencies when the commit succeeds.
    private func record(_ frame: Build.Frame, in build: Build) {
        let found = Set(frame.dependencies).subtracting(recipe.references.rebuilding)
        if recipe.scope.isShared, !found.isEmpty { build.commit?.asked[recipe.id, default: []].formUnion(found) }
    }

    /// The value of a step of which nothing is kept. It named no key, so this creates nothing.
    private func constant(_ step: Recipe.Step, _ recipe: Recipe) throws(Failure) -> Value {
        let build = Build(reloading: container, graph: container.currentGraph())
        return try container.building(build) { () throws(Failure) in
            try container.whole { (build) throws(Failure) in
                let recipient = Build.Recipient(
                    recipe: recipe, arguments: recipient.arguments, object: recipient.object, record: recipient.record)
                build.frames.append(Build.Frame(recipient, mark: 0, low: 0))
                defer { build.frames.removeLast() }
                let values = try build.values(of: step.sources, recipe, recipient.arguments)
                if case .method = step { return .list(values) }
                return values.first ?? .null
            }
        }
    }

    /// Keeps the value and the definition of a step that could not be restored. A later reload that fails restores this
    /// value.
    private func keepConstant(_ step: Recipe.NamedStep) {
        if case .candidates = step.step { return }
        let record = recipient.record
        guard container.monitor.locked({ ObjectExtra.of(record).injectedProperties[step.name] == nil }),
            let value = try? constant(step.step, recipe)
        else { return }
        InjectedReferences.remember(value, step.name, record)
    }

    private func found(by step: Step) -> Found {
        let record = recipient.record
        let (kept, candidates) = container.monitor.locked { () -> (Value?, [UInt32]?) in
            let extra = ObjectExtra.of(record)
            return (extra.injectedProperties[step.next.name], extra.candidates[step.next.name])
        }
        var own: Value?
        if kept == nil, step.former == nil, let type = recipe.type, let instance = record.pointee.instance {
            switch step.next.step {
            case .property(let index, _), .candidates(let index, _, _, _):
                own = try? type.property(index, for: record).get(instance)
            case .method: break
            }
        }
        return Found(kept: kept, candidates: candidates, own: own)
    }

    private func restore(_ found: Found, _ step: Step, isCovered: Bool) throws(Failure) {
        let (record, name) = (recipient.record, step.next.name)
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        if case .candidates(let property, let ids, let added, let removed)? = step.former,
            case .candidates = step.next.step
        {
            guard let type = former.type else { return }
            let list = Recipe.CandidateList(property: property, ids: ids, added: added, removed: removed)
            let before = Recipe.CandidateList.Former(ids: found.candidates ?? [], list: found.kept)
            return try list.putBack(before, name, type, record, container)
        }
        var value = found.kept ?? found.own
        if value == nil, let step = step.former { value = try constant(step, former) }
        switch step.next.step {
        case .property(let index, _), .candidates(let index, _, _, _):
            guard let value, !isCovered else { break }
            try type.property(index, for: record).set(instance, value)
        case .method(let index, _):
            // A call that the former definition does not make cannot be reverted.
            guard case .list(let arguments)? = value else { break }
            _ = try type.method(index, for: record).call(instance, arguments)
        }
        InjectedReferences.remember(found.kept, name, record)
        guard let candidates = found.candidates else { return }
        let extra = ObjectExtra.of(record)
        container.monitor.locked { extra.candidates[name] = candidates }
    }

    /// A base value of a change set, or a trait, that lies over a property. The injected value is not visible through it, and
    /// becomes visible when a trait is removed.
    private final class Cover {
        private(set) var isThere = false
        private var back: (() throws(Failure) -> Void)?

        /// False if nothing lies over the property.
        func take(_ value: Value, _ index: Int, _ recipient: Build.Recipient, _ build: Build) throws(Failure) -> Bool {
            let (recipe, record) = (recipient.recipe, recipient.record)
            guard record.pointee.instance != nil, let declared = recipe.type else { return false }
            let type = ObjectType.of(record)
            // Values of documents for creation were set when the object was created, and are set again when it is rebuilt.
            let isSetAtCreation = [build.graph, type.container.currentGraph()].contains {
                $0.configuration(recipe.id)?.atCreation[index] != nil
            }
            if recipe.definition.base[index] != nil || isSetAtCreation {
                isThere = true
            } else if let cover = ObjectExtra.known(of: record)?.tuning {
                let property = declared.property(index, for: record)
                guard let own = type.description.properties.firstIndex(where: { $0 === property }) else { return false }
                // A failing one has reverted its own changes, below and above.
                isThere = true
                back = try cover.rebase(record, own, to: value)
                isThere = back != nil
            }
            return isThere
        }

        func rollBack() throws(Failure) { try back?() }
    }
}
