internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// What there is of a definition, for weak references: nothing is made for it, and nothing but the caller's lease holds it.
extension Container {
    /// The instance that there is of a key with these runtime arguments, with one lease for the caller; 0 when there is none.
    func existing(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        try whole(
            { (chain) throws(Failure) in try existing(id, arguments, chain) },
            giveBack: { _ = ObjectTable.release($0) })
    }

    private func existing(_ id: UInt32, _ arguments: [Value], _ chain: BuildChain) throws(Failure) -> UInt64 {
        guard let cell = chain.graph.cell(id), let recipe = chain.graph.recipe(id) else {
            throw monitor.locked { unknownKey(keys.name(id), in: chain.graph) }
        }
        guard iv_stack_left() > Self.leastStack else {
            throw Failure(
                .cycle, "what is named does not end", path: recipe.key, at: recipe.definition.place)
        }
        if case .alias(let target) = recipe.maker {
            guard
                let given = try passed(
                    by: recipe, arguments,
                    { (given) throws(Failure) in
                        try existing(recipe.slots.map(\.source), recipe, given, chain)
                    })
            else { return 0 }
            return try existing(target, given, chain)
        }
        if case .dormant = recipe.maker { return 0 }
        let arguments = try checked(arguments, recipe)
        if case .choice(let chooser, let options) = recipe.maker {
            guard let value = try existing(chooser, recipe, arguments, chain),
                let chosen = try chosen(value, options, recipe, chain),
                let bound = try existing(chosen.sources, recipe, arguments, chain)
            else { return 0 }
            return try existing(chosen.id, bound, chain)
        }
        if case .constant(let lease) = recipe.maker, !recipe.scope.isShared {
            try checkDomain(recipe.definition, chain)
            // What decorators make of it is another one each time.
            return recipe.decorators.isEmpty && ObjectTable.retain(lease.bits) ? lease.bits : 0
        }
        guard recipe.scope.isShared else { return 0 }
        try checkDomain(recipe.definition, chain)
        guard recipe.scope.isPlaced else {
            return try built(recipe, chain) { cell.known(arguments) }
        }
        guard let key = try placeKey(recipe, arguments, chain) else { return 0 }
        return try built(recipe, chain) { cell.known(key) }
    }

    /// The same of what is given on the way: nil when an object in it is not there.
    private func existing(_ source: Recipe.Source, _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain)
        throws(Failure) -> Value?
    {
        guard source.names(nil) else { return try value(of: source, recipe, arguments, chain) }
        switch source {
        case .object(let id, let sources, _):
            guard let given = try existing(sources, recipe, arguments, chain) else { return nil }
            let object = try existing(id, given, chain)
            return object == 0 ? nil : .object(ObjectLease(owning: object))
        case .path(let object, let path, let isOptional):
            guard let start = try existing(object, recipe, arguments, chain) else { return nil }
            return try follow(path, from: start, isOptional, recipe)
        case .config(_, let source): return try existing(source, recipe, arguments, chain)
        case .all(let ids):
            let each = ids.map { Recipe.Source.object($0, arguments: [], isOptional: false) }
            return try existing(each, recipe, arguments, chain).map(Value.list)
        case .list(let items): return try existing(items, recipe, arguments, chain).map(Value.list)
        case .set(let items): return try existing(items, recipe, arguments, chain).map { .list(distinct($0)) }
        case .map(let pairs):
            guard let values = try existing(pairs.map(\.source), recipe, arguments, chain) else { return nil }
            return .map(zip(pairs, values).map { ($0.name, $1) })
        // Each callable is another one.
        default: return nil
        }
    }

    private func existing(_ sources: [Recipe.Source], _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain)
        throws(Failure) -> [Value]?
    {
        var values: [Value] = []
        for source in sources {
            guard let value = try existing(source, recipe, arguments, chain) else { return nil }
            values.append(value)
        }
        return values
    }

    // MARK: cells

    /// The instance of a shared definition's cell, as far as it is built. `find` looks for the cell under the monitor. Waits
    /// for nobody but who asks the type's weak reference whether a weak singleton is still there.
    private func built(_ recipe: Recipe, _ chain: BuildChain, _ find: () -> Cell?) throws(Failure) -> UInt64 {
        var wait = LongWait()
        defer { wait.end(self) }
        monitor.lock()
        while let cell = find() {
            switch cell.state {
            case .cold:
                monitor.unlock()
                return 0
            case .built:
                let bits = recipe.scope == .weakSingleton ? cell.weakObject : cell.object
                if recipe.scope == .weakSingleton ? receiveWeak(cell) != nil : ObjectTable.retain(bits) {
                    monitor.unlock()
                    return bits
                }
                let isExhausted = ObjectTable.isExhausted(bits)
                guard !isExhausted, let weak = cell.beginReviving(chain.root) else {
                    monitor.unlock()
                    if isExhausted { throw .exhausted(path: recipe.key) }
                    return 0
                }
                monitor.unlock()
                do throws(Failure) {
                    if let revived = try revive(weak, recipe, cell) { return revived }
                } catch {
                    monitor.locked { reset(cell, nil) }
                    throw error
                }
                // It is gone, and its reference says so for good.
                monitor.locked { reset(cell, nil) }
                return 0
            case .building(let other):
                if other === chain.root || chain.isInside(other) {
                    defer { monitor.unlock() }
                    return madeHere(cell, chain)
                }
                let (root, thread) = (chain.root, currentThread().identity)
                guard cell.isReviving, waits.circle(from: other, to: root, on: thread, recipe.key) == nil else {
                    monitor.unlock()
                    return 0
                }
                root.waitingOn = .revival(cell)
                waits.begin(root, thread)
                wait.once(self, for: recipe.key, of: other)
                waits.end(root, thread)
                root.waitingOn = nil
            }
        }
        monitor.unlock()
        return 0
    }

    /// What the calling chain, or one whose hook it runs in, has made of a cell and not yet handed to everybody.
    private func madeHere(_ cell: Cell, _ chain: BuildChain) -> UInt64 {
        var asked: BuildChain? = chain
        while let here = asked {
            if let entry = (here.made + here.held).last(where: { $0.cell === cell }) {
                // What refers back to something on its way is not complete.
                guard here !== chain || entry.low >= here.frames.count else { return 0 }
                return ObjectTable.retain(entry.object) ? entry.object : 0
            }
            asked = here.parent ?? here.outer
        }
        return 0
    }
}
