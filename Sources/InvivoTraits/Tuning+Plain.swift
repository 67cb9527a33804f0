public import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

extension Tuning {
    /// A fast path for a single plain property, or several ones that do not affect each other. Most commits add the
    /// first layers of an object, or remove the last ones, of such properties. Nil for all others.
    func changePlain(
        _ type: ObjectType, _ instance: UnsafeMutableRawPointer, _ key: String, _ wanted: [Layer], _ bases: [Base],
        _ undo: inout Undo
    ) throws(Failure) -> [Outcome]? {
        guard bases.isEmpty else { return nil }
        if let first {
            guard wanted.isEmpty else { return nil }
            if first.next == nil { return first.isPlain ? try removeLayer(instance, key, &undo) : nil }
            guard first.first(where: { !$0.isPlain || !type.description.movesNoOther($0.index) }) == nil else {
                return nil
            }
            return try removeLayers(first, instance, key, &undo)
        }
        if wanted.count == 1 {
            // The type outlives the commit, and retains its properties.
            unowned(unsafe) let property = type.description.properties[wanted[0].property]
            guard property.isPlain, wanted[0].steps == nil else { return nil }
            return try wanted.withUnsafeBufferPointer { wanted throws(Failure) in
                guard let layer = wanted.baseAddress else { return [] }
                return try addLayer(property, layer, instance, key, &undo)
            }
        }
        guard wanted.allSatisfy({ type.description.movesNoOther($0.property) && $0.steps == nil }) else { return nil }
        return try wanted.withUnsafeBufferPointer { wanted throws(Failure) in
            try addLayers(type.description.properties, wanted, instance, key, &undo)
        }
    }

    /// A step of properties that are fields in memory: it calls no host code, cannot fail, and changes their records. Returns whether
    /// some still move; nil if one is no such field, or other code has changed it: then nothing has moved.
    public static func stepFields(of record: Record, at now: UInt64) -> Bool? {
        guard let instance = record.pointee.instance, let tuning = ObjectExtra.known(of: record)?.tuning as? Tuning
        else { return false }
        let moving = tuning.code?.entries.last?.tuning ?? tuning
        return moving.stepFields(ObjectType.of(record).description, instance, at: now)
    }

    private func stepFields(_ type: TypeDescription, _ instance: UnsafeMutableRawPointer, at now: UInt64) -> Bool? {
        var isMoving = false
        guard
            first?.first(where: { change in
                guard change.run != nil else { return false }
                isMoving = true
                return !type.movesNoOther(change.index) || !change.isField(of: instance)
            }) == nil
        else { return nil }
        guard isMoving else { return false }
        isMoving = false
        first?.forEach { if $0.moveField(of: instance, at: now) { isMoving = true } }
        return isMoving
    }

    /// Adds the first layer of a property. The layer is borrowed from its array, not copied.
    @inline(never)
    private func addLayer(
        _ property: Property, _ layer: UnsafePointer<Layer>, _ instance: UnsafeMutableRawPointer,
        _ key: borrowing String,
        _ undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        do throws(Failure) {
            let change = PropertyChange(plain: property, layer.pointee, present: try property.exact(instance))
            undo.add(ObjectUndo(tuning: self, instance: instance, key: copy key, changes: change, former: .nothing))
            try property.set(instance, layer.pointee.value)
            let answer = try property.get(instance)
            first = change
            if layer.pointee.value.isSame(as: answer) { return [] }
            change.answered(answer)
            let what = Outcome.What.adjusted(wanted: layer.pointee.value, seen: change.seen)
            return [
                Outcome(
                    path: property.name, location: layer.pointee.location.location, what: what,
                    variables: property.origin(layer.pointee.location.variables))
            ]
        } catch { throw PropertyChange.located(error, property, copy key, layer.pointee.location) }
    }

    /// Removes the only layer.
    @inline(never)
    private func removeLayer(
        _ instance: UnsafeMutableRawPointer, _ key: String, _ undo: inout Undo
    ) throws(Failure) -> [Outcome]? {
        guard let former = first, let base = former.base else { return nil }
        let property = former.property
        do throws(Failure) {
            let present = try property.exact(instance)
            let shown = property.shown(present)
            let isOurs = former.isSeen(shown)
            undo.add(
                ObjectUndo(
                    tuning: self, instance: instance, key: key, changes: former, former: .itself(present: present)))
            guard isOurs else {
                let what = Outcome.What.left(expected: former.seen, found: shown)
                first = nil
                return [
                    Outcome(
                        path: property.name, location: Location(), what: what,
                        variables: property.origin(former.location.variables))
                ]
            }
            try property.set(instance, base)
            let answer = try property.get(instance)
            first = nil
            let asked = property.shown(base)
            if asked.isSame(as: answer) { return [] }
            return [
                Outcome(
                    path: property.name, location: Location(), what: .adjusted(wanted: asked, seen: answer),
                    variables: property.origin(nil))
            ]
        } catch { throw PropertyChange.located(error, property, key, TraitLocation()) }
    }

    /// Adds the first layers of several properties. The layers are borrowed from their array, not copied. The type outlives the commit,
    /// and retains its properties.
    @inline(never)
    private func addLayers(
        _ properties: borrowing [Property], _ wanted: UnsafeBufferPointer<Layer>, _ instance: UnsafeMutableRawPointer,
        _ key: borrowing String, _ undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        guard let begin = wanted.baseAddress, !wanted.isEmpty else { return [] }
        let end = begin + wanted.count
        var layer = end - 1
        do throws(Failure) {
            var head = try presentChange(properties, layer, instance)
            while layer != begin {
                layer -= 1
                let change = try presentChange(properties, layer, instance)
                change.next = head
                head = change
            }
            undo.add(ObjectUndo(tuning: self, instance: instance, key: copy key, changes: head, former: .nothing))
            while layer != end {
                try properties[layer.pointee.property].set(instance, layer.pointee.value)
                layer += 1
            }
            layer = begin
            var outcomes: [Outcome] = []
            try head.forEach { change throws(Failure) in
                let answer = try change.property.get(instance)
                if !layer.pointee.value.isSame(as: answer) {
                    change.answered(answer)
                    let what = Outcome.What.adjusted(wanted: layer.pointee.value, seen: change.seen)
                    outcomes.append(
                        Outcome(
                            path: change.property.name, location: layer.pointee.location.location, what: what,
                            variables: change.property.origin(layer.pointee.location.variables)))
                }
                layer += 1
            }
            first = head
            return outcomes
        } catch {
            let property = properties[layer.pointee.property]
            throw PropertyChange.located(error, property, copy key, layer.pointee.location)
        }
    }

    @inline(__always)
    private func presentChange(
        _ properties: borrowing [Property], _ layer: UnsafePointer<Layer>, _ instance: UnsafeMutableRawPointer
    ) throws(Failure) -> PropertyChange {
        unowned(unsafe) let property = properties[layer.pointee.property]
        return PropertyChange(plain: property, layer.pointee, present: try property.exact(instance))
    }

    /// Removes all layers.
    @inline(never)
    private func removeLayers(
        _ former: PropertyChange, _ instance: UnsafeMutableRawPointer, _ key: String, _ undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        unowned(unsafe) var property = former.property
        do throws(Failure) {
            var presents: [Value] = []
            try former.forEach { change throws(Failure) in
                property = change.property
                presents.append(try property.exact(instance))
            }
            undo.add(
                ObjectUndo(
                    tuning: self, instance: instance, key: key, changes: former, former: .themselves(presents: presents)
                ))
            var outcomes: [Outcome] = []
            var index = 0
            try former.forEach { change throws(Failure) in
                property = change.property
                if let outcome = try restore(change, presents[index], instance) { outcomes.append(outcome) }
                index += 1
            }
            first = nil
            return outcomes
        } catch { throw PropertyChange.located(error, property, key, TraitLocation()) }
    }

    /// Sets the base value of a plain property that shows `present`, unless other code has changed it.
    @inline(__always)
    private func restore(
        _ change: PropertyChange, _ present: Value, _ instance: UnsafeMutableRawPointer
    ) throws(Failure) -> Outcome? {
        unowned(unsafe) let property = change.property
        let shown = property.shown(present)
        guard change.isSeen(shown) else {
            let what = Outcome.What.left(expected: change.seen, found: shown)
            return Outcome(
                path: property.name, location: Location(), what: what,
                variables: property.origin(change.location.variables))
        }
        guard let base = change.base else { return nil }
        try property.set(instance, base)
        let answer = try property.get(instance)
        let asked = property.shown(base)
        if asked.isSame(as: answer) { return nil }
        return Outcome(
            path: property.name, location: Location(), what: .adjusted(wanted: asked, seen: answer),
            variables: property.origin(nil))
    }
}

extension PropertyChange {
    /// Whether the property is a plain field of the instance that nothing else has changed.
    fileprivate func isField(of instance: UnsafeMutableRawPointer) -> Bool {
        property.isField && property.isPlain && !isStuck && isSeen(property.read(instance))
    }
}
