internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// Objects that follow a reload where they are: lists whose holder hears of candidates.
extension Container {
    struct Candidates {
        let property: Int
        let ids: [UInt32]
        let added: Int
        let removed: Int
    }

    /// Sets the list while the object is made; later tells it what went and what came, one by one. What was told is kept at
    /// once, so that taking it back tells the same the other way round.
    func follow(
        _ candidates: Candidates, _ name: String, _ recipe: Recipe, _ record: Record, _ chain: BuildChain
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        let extra = extra(record)
        var ids: [UInt32] = []
        var objects: [Value] = []
        let known = monitor.locked { () -> [UInt32: Value]? in
            guard let ids = extra.candidates[name], case .list(let objects)? = extra.injectedProperties[name] else {
                return nil
            }
            return Dictionary(zip(ids, objects), uniquingKeysWith: { first, _ in first })
        }
        for id in candidates.ids {
            // Each resolve of what is not shared makes another one: what is there stays, unless it is defined anew.
            if let known = known?[id], let recipe = chain.graph.recipe(id), !recipe.scope.isShared,
                !chain.isReload || currentGraph().isMade(id, by: recipe)
            {
                ids.append(id)
                objects.append(known)
                continue
            }
            let object = try resolve(id, [], chain)
            guard object != 0 else { continue }
            ids.append(id)
            objects.append(.object(ObjectLease(owning: object)))
        }
        guard let known else {
            let property = Self.property(candidates.property, of: type, for: record)
            try property.set(instance, try property.check(.list(objects)))
            return keep(ids, objects, name, extra)
        }
        var told = monitor.locked { () -> [(id: UInt32, value: Value)] in
            zip(extra.candidates[name] ?? [], (extra.candidates[name] ?? []).compactMap { known[$0] }).map { ($0, $1) }
        }
        let removed = Self.method(candidates.removed, of: type, for: record)
        let added = Self.method(candidates.added, of: type, for: record)
        for former in told where !objects.contains(where: { $0.isSame(as: former.value) }) {
            _ = try removed.call(instance, [former.value])
            told.removeAll { $0.id == former.id }
            keep(told.map(\.id), told.map(\.value), name, extra)
        }
        for (id, value) in zip(ids, objects) where !told.contains(where: { $0.value.isSame(as: value) }) {
            told.append((id, value))
            keep(told.map(\.id), told.map(\.value), name, extra)
            do throws(Failure) { _ = try added.call(instance, [value]) } catch {
                told.removeLast()
                keep(told.map(\.id), told.map(\.value), name, extra)
                throw error
            }
        }
    }

    /// Puts a list back as it was before a reload that fails, in the same order. Its holder is told of all that lies behind the
    /// first difference, because it is told no positions.
    func putBack(
        _ ids: [UInt32], _ list: Value?, _ candidates: Candidates, _ name: String, _ recipe: Recipe, _ record: Record
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance, case .list(let former)? = list else {
            return
        }
        let extra = extra(record)
        var (told, objects) = monitor.locked { () -> ([UInt32], [Value]) in
            guard case .list(let objects)? = extra.injectedProperties[name] else { return ([], []) }
            return (extra.candidates[name] ?? [], objects)
        }
        let same = zip(objects, former).prefix { $0.isSame(as: $1) }.count
        let removed = Self.method(candidates.removed, of: type, for: record)
        let added = Self.method(candidates.added, of: type, for: record)
        while let last = objects.last, objects.count > same {
            _ = try removed.call(instance, [last])
            told.removeLast()
            objects.removeLast()
            keep(told, objects, name, extra)
        }
        for (id, value) in zip(ids, former).dropFirst(same) {
            _ = try added.call(instance, [value])
            told.append(id)
            objects.append(value)
            keep(told, objects, name, extra)
        }
    }

    private func keep(_ ids: [UInt32], _ objects: [Value], _ name: String, _ extra: ObjectExtra) {
        let former = monitor.locked { () -> Value? in
            extra.candidates[name] = ids
            return extra.injectedProperties.updateValue(.list(objects), forKey: name)
        }
        withExtendedLifetime(former) {}
    }
}
