internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import InvivoObjects
internal import InvivoSpec
public import InvivoWiring

/// The traits' state of one live object.
///
/// For each property under a layer it holds the base value, captured exactly when the first layer was added, and the
/// applied value. Layers may be removed in any order; the remaining ones stay in effect. Without a layer the base value
/// is restored. Accessed in the object's domain only.
///
/// A property's setter may change other properties. So all properties are read before the first is set, and read again
/// at the end. Properties that another setter has changed are then set again.
public final class Tuning: PropertyCover {
    /// The changes of the last commit. Those of properties with a layer or a pending restore are kept.
    var first: PropertyChange?
    /// The traits that run code; nil without one.
    var code: CodeStack?

    public init() {}

    /// The outcome of a change for one property.
    public struct Outcome: Sendable {
        public enum What: Sendable {
            /// A setter clamped or ignored the value: the value read back is another.
            case adjusted(wanted: Value, seen: Value)
            /// Other code changed the property meanwhile; it was left unchanged.
            case left(expected: Value, found: Value)
            /// A restore that an earlier commit could not complete was refused again.
            case refused(Failure)
        }
        /// The property's name; of a field of a nested struct, the way to it.
        public let path: String
        /// The source location of the layer.
        public let location: Location
        public let what: What
        /// The environment variables that have a part in the value of the layer, which is not shown then.
        var variables: VariableText?

        /// One line for the log, without the key.
        public var text: String {
            if let variables {
                switch what {
                case .adjusted: return "\(path): the object returns another value than \(variables.described) gives"
                case .left: return "\(path): other code changed what \(variables.described) gave; the new value stays"
                case .refused: break
                }
            }
            return switch what {
            case .adjusted(let wanted, let seen): "\(path): set to \(wanted), but the object returns \(seen)"
            case .left(let expected, let found):
                "\(path): other code changed it from \(expected) to \(found); that value stays"
            case .refused(let failure): "\(path): its former value still cannot be restored: \(failure.message)"
            }
        }
    }

    /// A new base value of a property: shown now without a layer, otherwise when the last layer is removed.
    public typealias Base = (index: Int, value: Value)

    static func of(_ record: Record) -> Tuning {
        let extra = ObjectExtra.of(record)
        if let tuning = extra.tuning as? Tuning { return tuning }
        let tuning = Tuning()
        extra.tuning = tuning
        return tuning
    }

    /// Whether a failed commit could not put the traits of an object back. In the domain of the object.
    public static func isUnrestored(_ record: Record) -> Bool {
        guard let tuning = ObjectExtra.known(of: record)?.tuning as? Tuning else { return false }
        return tuning.code?.isBroken == true || tuning.first?.first { $0.isStuck } != nil
    }

    /// Changes an object from its layers to `layers`, and adds the inverse to `undo`. A failing setter throws, with the
    /// path of its property under `key`; the changes before it are in `undo`.
    public static func change(
        _ record: Record, key: String = "", to layers: TargetLayers?, bases: [Base] = [], undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        guard let instance = record.pointee.instance else { return [] }
        let wanted = layers?.live ?? []
        let segments = layers?.above ?? []
        if wanted.isEmpty && bases.isEmpty && segments.isEmpty && ObjectExtra.known(of: record) == nil { return [] }
        let (tuning, type) = (of(record), ObjectType.of(record))
        guard segments.isEmpty && tuning.code == nil else {
            let target = CodeStack.Target(type: type, object: ObjectTable.handle(record), instance: instance, key: key)
            return try tuning.changeStack(target, to: wanted, segments, bases: bases, &undo)
        }
        return try tuning.change(type, instance, key: key, to: wanted, bases: bases, undo: &undo)
    }

    /// Changes an instance without a record.
    public func change(
        _ type: ObjectType, _ instance: UnsafeMutableRawPointer, key: String = "", to wanted: [Layer],
        bases: [Base] = [],
        undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        if let outcomes = try changePlain(type, instance, key, wanted, bases, &undo) { return outcomes }
        guard let changes = concerned(type, wanted, bases) else { return [] }
        try changes.forEach { change throws(Failure) in try change.read(instance, key) }
        undo.add(
            ObjectUndo(
                tuning: self, instance: instance, key: key, changes: changes,
                former: first.map { .chain($0) } ?? .nothing))
        try changes.forEach { change throws(Failure) in try change.set(instance, key) }
        try settle(changes, instance, key)
        first = changes
        var outcomes: [Outcome] = []
        changes.forEach { outcomes += $0.finish() }
        if changes.first(where: { $0.isApplied }) == nil { first = nil }
        return outcomes
    }

    public func rebase(
        _ record: Record, _ index: Int, to value: Value
    ) throws(Failure) -> (() throws(Failure) -> Void)? {
        guard applied(index) != nil || code != nil, let instance = record.pointee.instance else { return nil }
        let type = ObjectType.of(record)
        let target = CodeStack.Target(
            type: type, object: ObjectTable.handle(record), instance: instance, key: "")
        let (layers, segments) = (layers, code?.segments ?? [])
        var undo = Undo()
        do throws(Failure) {
            if code != nil {
                _ = try changeStack(target, to: layers, segments, bases: [(index, value)], &undo)
            } else {
                _ = try change(type, instance, to: layers, bases: [(index, value)], undo: &undo)
            }
        } catch {
            var failure = error
            failure.others += undo.run()
            throw failure
        }
        return { () throws(Failure) in
            let failures = undo.run()
            guard var failure = failures.first else { return }
            failure.others += failures.dropFirst()
            throw failure
        }
    }

    /// The layers that the object has.
    var layers: [Layer] {
        var layers: [Layer] = []
        first?.forEach { if $0.isApplied, let layer = $0.layer { layers.append(layer) } }
        return layers
    }

    /// A fast path for a single plain property, or several ones that do not affect each other. Most commits add the
    /// first layers of an object, or remove the last ones, of such properties. Nil for all others.
    private func changePlain(
        _ type: ObjectType, _ instance: UnsafeMutableRawPointer, _ key: String, _ wanted: [Layer], _ bases: [Base],
        _ undo: inout Undo
    ) throws(Failure) -> [Outcome]? {
        guard bases.isEmpty else { return nil }
        if let first {
            guard wanted.isEmpty else { return nil }
            if first.next == nil { return first.isPlain ? try takeOff(instance, key, &undo) : nil }
            guard first.first(where: { !$0.isPlain || !type.description.movesNoOther($0.index) }) == nil else {
                return nil
            }
            return try takeAllOff(first, instance, key, &undo)
        }
        if wanted.count == 1 {
            // Its type outlives the commit, and holds it.
            unowned(unsafe) let property = type.description.properties[wanted[0].property]
            guard property.isPlain, wanted[0].steps == nil else { return nil }
            return try wanted.withUnsafeBufferPointer { wanted throws(Failure) in
                guard let layer = wanted.baseAddress else { return [] }
                return try putOn(property, layer, instance, key, &undo)
            }
        }
        guard wanted.allSatisfy({ type.description.movesNoOther($0.property) && $0.steps == nil }) else { return nil }
        return try wanted.withUnsafeBufferPointer { wanted throws(Failure) in
            try putAllOn(type.description.properties, wanted, instance, key, &undo)
        }
    }

    /// The layer is borrowed from its array, not copied.
    @inline(never)
    private func putOn(
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
                    variables: layer.pointee.location.variables)
            ]
        } catch { throw PropertyChange.located(error, property, copy key, layer.pointee.location) }
    }

    /// The change of the one remembered property.
    @inline(never)
    private func takeOff(
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
                        path: property.name, location: Location(), what: what, variables: former.location.variables)
                ]
            }
            try property.set(instance, base)
            let answer = try property.get(instance)
            first = nil
            let asked = property.shown(base)
            if asked.isSame(as: answer) { return [] }
            return [Outcome(path: property.name, location: Location(), what: .adjusted(wanted: asked, seen: answer))]
        } catch { throw PropertyChange.located(error, property, key, TraitLocation()) }
    }

    /// The layers are borrowed from their array, not copied. The properties' type outlives the commit, and holds them.
    @inline(never)
    private func putAllOn(
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
                            variables: layer.pointee.location.variables))
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

    /// All that is remembered.
    @inline(never)
    private func takeAllOff(
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
                path: property.name, location: Location(), what: what, variables: change.location.variables)
        }
        guard let base = change.base else { return nil }
        try property.set(instance, base)
        let answer = try property.get(instance)
        let asked = property.shown(base)
        if asked.isSame(as: answer) { return nil }
        return Outcome(path: property.name, location: Location(), what: .adjusted(wanted: asked, seen: answer))
    }

    /// Whether a change to these layers changes anything.
    func changes(to wanted: [Layer]) -> Bool {
        var count = 0
        var isSame = true
        first?.forEach { change in
            guard change.isApplied else { return }
            count += 1
            if !wanted.contains(where: { $0.property == change.index && change.has($0) }) { isSame = false }
        }
        return !isSame || count != wanted.count
    }

    /// The changes in the order of their application: first restores of base values, then layers. Nil without a change.
    /// Otherwise it includes everything under a layer, because setters may change other properties.
    private func concerned(_ type: ObjectType, _ wanted: [Layer], _ bases: [Base]) -> PropertyChange? {
        let properties = type.description.properties
        var isNews = !bases.isEmpty
        var head: PropertyChange?
        var last: PropertyChange?
        func add(_ change: PropertyChange) {
            if let last { last.next = change } else { head = change }
            last = change
        }
        var entry = first
        while let state = entry {
            entry = state.next
            guard state.isApplied, !wanted.contains(where: { $0.property == state.index }) else { continue }
            isNews = true
            add(PropertyChange(state.property, state.index, before: state, wanted: nil, location: TraitLocation()))
        }
        for layer in wanted {
            let state = applied(layer.property)
            isNews = isNews || state?.has(layer) != true
            add(
                PropertyChange(
                    properties[layer.property], layer.property, before: state, wanted: layer.value,
                    location: layer.location, steps: layer.steps))
        }
        for (index, value) in bases {
            if let known = head?.first(where: { $0.index == index }) {
                known.newBase = value
            } else {
                add(
                    PropertyChange(
                        properties[index], index, before: nil, wanted: nil, location: TraitLocation(), newBase: value))
            }
        }
        return isNews ? head : nil
    }

    private func applied(_ index: Int) -> PropertyChange? { first?.first { $0.index == index && $0.isApplied } }

    /// Remembers `change` alone of its property.
    func replace(_ change: PropertyChange) {
        var kept: [PropertyChange] = []
        first?.forEach { if $0.index != change.index { kept.append($0) } }
        change.next = nil
        first = change
        for other in kept.reversed() {
            other.next = first
            first = other
        }
    }

    /// Reads all properties back. Sets those again that differ from their value, once and in order.
    private func settle(_ changes: PropertyChange, _ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        try changes.forEach { change throws(Failure) in try change.readBack(instance, key) }
        guard changes.next != nil, changes.first(where: { !$0.isSettled }) != nil else { return }
        try changes.forEach { change throws(Failure) in
            try change.readBack(instance, key)
            if !change.isSettled { try change.setAgain(instance, key) }
        }
        try changes.forEach { change throws(Failure) in try change.readBack(instance, key) }
    }
}

extension PropertyChange {
    /// This one and those behind it.
    @inline(__always)
    func forEach(_ body: (PropertyChange) throws(Failure) -> Void) throws(Failure) {
        var entry: PropertyChange? = self
        while let one = entry {
            try body(one)
            entry = one.next
        }
    }

    func forEach(_ body: (PropertyChange) -> Void) {
        var entry: PropertyChange? = self
        while let one = entry {
            body(one)
            entry = one.next
        }
    }

    func first(where matches: (PropertyChange) -> Bool) -> PropertyChange? {
        var entry: PropertyChange? = self
        while let one = entry, !matches(one) { entry = one.next }
        return entry
    }
}
