internal import CPlatform
public import InvivoBase

/// How a kept instance follows a reload: what names something that was replaced is injected again, hooks included.
extension Container {
    /// A step of a recipe or a call of a hook, with what the former recipe has in its place.
    private struct Again {
        let step: Recipe.Step
        let former: Recipe.Step?
        /// By what its object remembers what it got.
        let name: String

        /// Those of a list that take something of `changed` (nil: anything) or took anything before.
        static func all(
            _ steps: [Recipe.Step], _ former: [Recipe.Step], _ name: String, changed: Set<UInt32>?, from first: Int = 0
        ) -> [Again] {
            steps.indices.dropFirst(first).compactMap { index in
                let before = index < former.count ? former[index] : nil
                let names = steps[index].sources.contains { $0.names(changed) }
                guard names || changed == nil && before?.sources.contains(where: { $0.names(nil) }) == true else {
                    return nil
                }
                return Again(step: steps[index], former: before, name: "\(name)\(index)")
            }
        }
    }

    /// Takes the steps anew that refer to one of `changed` (nil: to anything), for a kept instance whose dependencies were
    /// remade or bound anew: hooks that are given something of it are called again, each in its place among the steps.
    /// Before each, `noting` gets what puts the former value back, without making anything.
    public func reinject(
        _ recipe: Recipe, after former: Recipe, into object: UInt64, _ arguments: [Value], _ chain: BuildChain,
        changed: Set<UInt32>?, noting: (@escaping () throws(Failure) -> Void) -> Void
    ) throws(Failure) {
        guard let record = ObjectTable.record(object) else { return }
        if recipe.isInCircle { markCircle(object, record) }
        let skipped = skippedNeeds(recipe, record, again: true)
        var places =
            Again.all(recipe.before, former.before, "before", changed: changed)
            + Again.all(recipe.steps, former.steps, "step", changed: changed, from: skipped)
            + Again.all(recipe.after, former.after, "after", changed: changed)
        var last = Again.all(recipe.afterAll, former.afterAll, "afterAll", changed: changed)
        // An object of a shared type is told of candidates, and nothing else is done to it.
        if recipe.type?.domain == nil {
            last = []
            places.removeAll { if case .candidates = $0.step { false } else { true } }
        }
        func take(_ place: Again, _ chain: BuildChain) throws(Failure) {
            let kept = monitor.locked { extra(record).injectedProperties[place.name] }
            var isTaken = false
            noting { () throws(Failure) in
                do throws(Failure) {
                    try self.restore(kept, place.former ?? place.step, place.name, former, arguments, object, record)
                } catch {
                    if isTaken { self.keepConstant(place.step, place.name, recipe, arguments, object, record) }
                    throw error
                }
            }
            do throws(Failure) {
                try apply(place.step, place.name, recipe, arguments, record, chain)
            } catch { throw error.named(recipe.key, recipe.definition.place) }
            isTaken = true
        }
        if !places.isEmpty {
            try building(chain) { () throws(Failure) in
                try whole { (chain) throws(Failure) in
                    var frame = BuildChain.Frame(
                        recipe: recipe, arguments: arguments, cell: nil, mark: chain.made.count,
                        low: chain.frames.count)
                    frame.object = object
                    frame.record = record
                    chain.frames.append(frame)
                    defer { chain.frames.removeLast() }
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

    /// Puts back what a step had injected; nil where nothing of it is kept.
    private func restore(
        _ kept: Value?, _ step: Recipe.Step, _ name: String, _ recipe: Recipe, _ arguments: [Value], _ object: UInt64,
        _ record: Record
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        switch step {
        case .property(let index, _):
            let value = if let kept { kept } else { try constant(step, recipe, arguments, object, record) }
            try Self.property(index, of: type, for: record).set(instance, value)
        case .candidates:
            // Its holder hears of what goes again; the current graph is still the one that stays.
            let chain = BuildChain(graph: currentGraph(), isReload: true)
            return try building(chain) { () throws(Failure) in
                try whole { (chain) throws(Failure) in try apply(step, name, recipe, [], record, chain) }
            }
        case .method(let index, _):
            let value = if let kept { kept } else { try constant(step, recipe, arguments, object, record) }
            guard case .list(let arguments) = value else { return }
            _ = try Self.method(index, of: type, for: record).call(instance, arguments)
        }
        remember(kept, name, record)
    }
}
