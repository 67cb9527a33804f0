internal import CPlatform
public import InvivoBase
public import InvivoGraph

/// How a kept instance follows a reload: what names something that was replaced is injected again, hooks included.
extension Container {
    /// A step of a recipe or a call of a hook, with the step of the former recipe that sets the same property or makes the
    /// same call.
    private struct Again {
        let step: Recipe.Step
        let former: Recipe.Step?
        /// By what its object remembers what it got.
        let name: String

        /// Those of a list that take something of `changed` (nil: anything) or took anything before.
        static func all(
            _ recipe: Recipe, _ steps: [Recipe.Step], after former: Recipe, _ formerSteps: [Recipe.Step],
            _ list: String, changed: Set<UInt32>?, from first: Int = 0
        ) -> [Again] {
            let formerNames = formerSteps.indices.map { former.name(of: $0, in: formerSteps, list) }
            return steps.indices.dropFirst(first).compactMap { index in
                let name = recipe.name(of: index, in: steps, list)
                let before = formerNames.firstIndex { $0.isSameName(as: name) }.map { formerSteps[$0] }
                let names = steps[index].sources.contains { $0.names(changed) }
                func namesOthers(_ before: Recipe.Step) -> Bool {
                    before.sources.contains { $0.names(nil) }
                        || before.sources.map(\.keys) != steps[index].sources.map(\.keys)
                }
                guard names || changed == nil && before.map(namesOthers) == true else { return nil }
                return Again(step: steps[index], former: before, name: name)
            }
        }
    }

    /// The value that a step finds in its object, and puts back when the reload fails.
    private struct Before {
        let kept: Value?
        /// Of a list whose holder is notified of candidates: whose objects these are.
        let candidates: [UInt32]?
        /// The value of a property that the former recipe does not set.
        let own: Value?
    }

    /// What lies on a property: a base value that a change set gave, or a trait. What is injected does not show through it, and
    /// shows when a trait is gone.
    private final class Cover {
        private(set) var isThere = false
        private var back: (() throws(Failure) -> Void)?

        /// False when nothing lies on the property.
        func take(
            _ value: Value, _ index: Int, _ record: Record, _ recipe: Recipe, _ chain: BuildChain
        ) throws(Failure) -> Bool {
            guard let instance = record.pointee.instance, let declared = recipe.type else { return false }
            let type = Container.type(record)
            // What documents say for the making was set when the object was made, and is set again when it is made anew.
            let isSaidForMaking = [chain.graph, type.container.currentGraph()].contains {
                $0.configuration(recipe.id)?.atMaking[index] != nil
            }
            if recipe.definition.base[index] != nil || isSaidForMaking {
                isThere = true
            } else if let cover = Container.knownExtra(of: record)?.tuning {
                let property = Container.property(index, of: declared, for: record)
                guard let own = type.description.properties.firstIndex(where: { $0 === property }) else { return false }
                // One that fails has put back what it did itself, below and above.
                isThere = true
                back = try cover.rebase(type, instance, own, to: value)
                isThere = back != nil
            }
            return isThere
        }

        func takeBack() throws(Failure) { try back?() }
    }

    /// Takes the steps anew that refer to one of `changed` (nil: to anything), for a kept instance whose dependencies were
    /// remade or bound anew: hooks that are given something of it are called again, each in its place among the steps. Keys of
    /// the scopes of `scopeInstances` are resolved there, wherever the calling code is.
    /// Before each, `noting` gets what puts the former value back, without making anything.
    public func reinject(
        _ recipe: Recipe, after former: Recipe, into object: UInt64, _ arguments: [Value],
        of scopeInstances: [ScopeInstance],
        _ chain: BuildChain, changed: Set<UInt32>?, noting: (@escaping () throws(Failure) -> Void) -> Void
    ) throws(Failure) {
        guard let record = ObjectTable.record(object) else { return }
        chain.scopeInstances = scopeInstances
        defer { chain.scopeInstances = [] }
        if recipe.isInCircle { markCircle(object, record) }
        let skipped = skippedNeeds(recipe, record, again: true)
        func again(_ steps: [Recipe.Step], _ before: [Recipe.Step], _ list: String, from first: Int = 0) -> [Again] {
            Again.all(recipe, steps, after: former, before, list, changed: changed, from: first)
        }
        var places =
            again(recipe.before, former.before, "before ") + again(recipe.steps, former.steps, "", from: skipped)
            + again(recipe.after, former.after, "after ")
        var last = again(recipe.afterAll, former.afterAll, "afterAll ")
        // An object of a shared type is told of candidates, and nothing else is done to it.
        if recipe.type?.domain == nil {
            last = []
            places.removeAll { if case .candidates = $0.step { false } else { true } }
        }
        func take(_ place: Again, _ chain: BuildChain) throws(Failure) {
            let found = before(place, recipe, record)
            let cover = Cover()
            var isTaken = false
            noting { () throws(Failure) in
                do throws(Failure) {
                    try cover.takeBack()
                    try self.restore(
                        found, place, recipe, after: former, arguments, object, record, isCovered: cover.isThere)
                } catch {
                    if isTaken { self.keepConstant(place.step, place.name, recipe, arguments, object, record) }
                    throw error
                }
            }
            do throws(Failure) {
                try apply(place.step, place.name, recipe, arguments, record, chain) { (index, value) throws(Failure) in
                    try cover.take(value, index, record, recipe, chain)
                }
            } catch { throw error.named(recipe.key, recipe.definition.place) }
            isTaken = true
        }
        let commit = chain
        if !places.isEmpty {
            try building(chain) { () throws(Failure) in
                try whole { (chain) throws(Failure) in
                    var frame = BuildChain.Frame(
                        recipe: recipe, arguments: arguments, cell: nil, mark: chain.made.count,
                        low: chain.frames.count)
                    frame.object = object
                    frame.record = record
                    chain.frames.append(frame)
                    defer { note(chain.frames.removeLast(), of: recipe, commit) }
                    for place in places { try take(place, chain) }
                }
            }
        }
        guard !last.isEmpty else { return }
        // As when the object was made: what each of the last hooks is given is one graph of its own.
        try building(chain) { () throws(Failure) in
            for place in last { try whole { (chain) throws(Failure) in try take(place, chain) } }
        }
    }

    /// Keys that were resolved while something was made for an instance that is kept are its dependencies once the commit succeeds.
    private func note(_ frame: BuildChain.Frame, of recipe: Recipe, _ commit: BuildChain) {
        let found = Set(frame.dependencies).subtracting(recipe.initializing)
        if recipe.scope.isShared, !found.isEmpty { commit.asked[recipe.id, default: []].formUnion(found) }
    }

    /// What a step injected of which nothing is kept: it named no key, so this makes nothing.
    private func constant(
        _ step: Recipe.Step, _ recipe: Recipe, _ arguments: [Value], _ object: UInt64, _ record: Record
    ) throws(Failure) -> Value {
        let chain = BuildChain(graph: currentGraph(), isReload: true)
        return try building(chain) { () throws(Failure) in
            try whole { (chain) throws(Failure) in
                var frame = BuildChain.Frame(recipe: recipe, arguments: arguments, cell: nil, mark: 0, low: 0)
                frame.object = object
                frame.record = record
                chain.frames.append(frame)
                defer { chain.frames.removeLast() }
                let values = try values(of: step.sources, recipe, arguments, chain)
                if case .method = step { return .list(values) }
                return values.first ?? .null
            }
        }
    }

    /// What a step injected could not be taken back and stays, though the former recipe, which may name keys, does too: it is
    /// what a later reload that fails puts back.
    private func keepConstant(
        _ step: Recipe.Step, _ name: String, _ recipe: Recipe, _ arguments: [Value], _ object: UInt64, _ record: Record
    ) {
        if case .candidates = step { return }
        guard monitor.locked({ extra(record).injectedProperties[name] == nil }),
            let value = try? constant(step, recipe, arguments, object, record)
        else { return }
        remember(value, name, record)
    }

    private func before(_ place: Again, _ recipe: Recipe, _ record: Record) -> Before {
        let (kept, candidates) = monitor.locked { () -> (Value?, [UInt32]?) in
            let extra = extra(record)
            return (extra.injectedProperties[place.name], extra.candidates[place.name])
        }
        var own: Value?
        if kept == nil, place.former == nil, let type = recipe.type, let instance = record.pointee.instance {
            switch place.step {
            case .property(let index, _), .candidates(let index, _, _, _):
                own = try? Self.property(index, of: type, for: record).get(instance)
            case .method: break
            }
        }
        return Before(kept: kept, candidates: candidates, own: own)
    }

    /// Puts back what a step has found.
    private func restore(
        _ found: Before, _ place: Again, _ recipe: Recipe, after former: Recipe, _ arguments: [Value],
        _ object: UInt64, _ record: Record, isCovered: Bool
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        if case .candidates(let property, let ids, let added, let removed)? = place.former,
            case .candidates = place.step
        {
            let candidates = Candidates(property: property, ids: ids, added: added, removed: removed)
            return try putBack(found.candidates ?? [], found.kept, candidates, place.name, former, record)
        }
        var value = found.kept ?? found.own
        if value == nil, let step = place.former { value = try constant(step, former, arguments, object, record) }
        switch place.step {
        case .property(let index, _), .candidates(let index, _, _, _):
            guard let value, !isCovered else { break }
            try Self.property(index, of: type, for: record).set(instance, value)
        case .method(let index, _):
            // A call that the former recipe does not make cannot be taken back.
            guard case .list(let arguments)? = value else { break }
            _ = try Self.method(index, of: type, for: record).call(instance, arguments)
        }
        remember(found.kept, place.name, record)
        guard let candidates = found.candidates else { return }
        let extra = extra(record)
        monitor.locked { extra.candidates[place.name] = candidates }
    }
}
