internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

extension Recipe {
    /// An injected list of all definitions of a type, whose holder is notified of added and removed candidates. Every change is
    /// remembered with the object at once, so that a failed reload can revert it.
    struct CandidateList {
        let property: Int
        let ids: [UInt32]
        let added: Int
        let removed: Int

        /// Reverts a list to its state before a reload that failed, in the same order. Its holder is notified of everything behind
        /// the first difference, because notifications carry no positions.
        func putBack(_ former: Former, _ name: String, _ type: ObjectType, _ record: Record, _ container: Container)
            throws(Failure)
        {
            guard let instance = record.pointee.instance, case .list(let values)? = former.list else { return }
            let extra = ObjectExtra.of(record)
            var (ids, objects) = container.monitor.locked { () -> ([UInt32], [Value]) in
                guard case .list(let objects)? = extra.injectedProperties[name] else { return ([], []) }
                return (extra.candidates[name] ?? [], objects)
            }
            let same = zip(objects, values).prefix { $0.isSame(as: $1) }.count
            let removed = type.method(removed, for: record)
            let added = type.method(added, for: record)
            while let last = objects.last, objects.count > same {
                _ = try removed.call(instance, [last])
                ids.removeLast()
                objects.removeLast()
                Self.keep(ids, objects, name, extra, container)
            }
            for (id, value) in zip(former.ids, values).dropFirst(same) {
                _ = try added.call(instance, [value])
                ids.append(id)
                objects.append(value)
                Self.keep(ids, objects, name, extra, container)
            }
        }

        /// The state of a list before a reload.
        struct Former {
            let ids: [UInt32]
            let list: Value?
        }

        static func keep(
            _ ids: [UInt32], _ objects: [Value], _ name: String, _ extra: ObjectExtra, _ container: Container
        ) {
            let former = container.monitor.locked { () -> Value? in
                extra.candidates[name] = ids
                return extra.injectedProperties.updateValue(.list(objects), forKey: name)
            }
            withExtendedLifetime(former) {}
        }

        /// Sets the list while its object is created, and later notifies its holder of each removed and each added object.
        func inject(_ name: String, _ recipe: Recipe, _ record: Record, _ build: Build) throws(Failure) {
            let container = build.container
            guard let type = recipe.type, let instance = record.pointee.instance else { return }
            let extra = ObjectExtra.of(record)
            var ids: [UInt32] = []
            var objects: [Value] = []
            let known = container.monitor.locked { () -> [UInt32: Value]? in
                guard let ids = extra.candidates[name], case .list(let objects)? = extra.injectedProperties[name] else {
                    return nil
                }
                return Dictionary(zip(ids, objects), uniquingKeysWith: { first, _ in first })
            }
            for id in self.ids {
                // Each resolve of an unshared key creates another object: the existing one stays unless its definition changed.
                if let known = known?[id], let recipe = build.graph.recipe(id), !recipe.scope.isShared,
                    !build.isReload || container.currentGraph().isMade(id, by: recipe)
                {
                    ids.append(id)
                    objects.append(known)
                    continue
                }
                let object = try build.resolve(id, [])
                guard object != 0 else { continue }
                ids.append(id)
                objects.append(.object(ObjectLease(owning: object)))
            }
            guard let known else {
                let property = type.property(property, for: record)
                try property.set(instance, try property.check(.list(objects)))
                return Self.keep(ids, objects, name, extra, container)
            }
            var current = container.monitor.locked { () -> [(id: UInt32, value: Value)] in
                zip(extra.candidates[name] ?? [], (extra.candidates[name] ?? []).compactMap { known[$0] }).map {
                    ($0, $1)
                }
            }
            let removed = type.method(removed, for: record)
            let added = type.method(added, for: record)
            for former in current where !objects.contains(where: { $0.isSame(as: former.value) }) {
                _ = try removed.call(instance, [former.value])
                current.removeAll { $0.id == former.id }
                Self.keep(current.map(\.id), current.map(\.value), name, extra, container)
            }
            for (id, value) in zip(ids, objects) where !current.contains(where: { $0.value.isSame(as: value) }) {
                current.append((id, value))
                Self.keep(current.map(\.id), current.map(\.value), name, extra, container)
                do throws(Failure) { _ = try added.call(instance, [value]) } catch {
                    current.removeLast()
                    Self.keep(current.map(\.id), current.map(\.value), name, extra, container)
                    throw error
                }
            }
        }
    }
}
