internal import CPlatform
public import InvivoBase
public import InvivoWiring

/// The traits' state of one live object: for each property under a layer the base value, captured exactly when the first
/// layer came, and what is applied. Whatever layer goes, in whatever order, the rest shows; when none is left the base
/// value is restored. Touched in the object's domain only.
public final class Tuning {
    /// What is applied to one property. Handed round by reference: three values are much to copy.
    final class Applied {
        let index: Int
        let base: Value
        /// What was asked for, and what the object answered when it was read back.
        let wanted: Value
        let seen: Value
        fileprivate var next: Applied?

        init(index: Int, base: Value, wanted: Value, seen: Value) {
            self.index = index
            self.base = base
            self.wanted = wanted
            self.seen = seen
        }
    }

    /// The first of the properties under a layer; few, so a chain, which costs no check and no copy to change.
    private var first: Applied?

    private func state(_ index: Int) -> Applied? {
        var entry = first
        while let found = entry, found.index != index { entry = found.next }
        return entry
    }

    /// Puts `state` in the place of what is applied to the property `index`; nil takes that out.
    func put(_ state: Applied?, at index: Int) {
        var before: Applied?
        var entry = first
        while let found = entry, found.index != index {
            before = found
            entry = found.next
        }
        let rest = entry?.next
        entry?.next = nil
        state?.next = rest
        let next = state ?? rest
        if let before { before.next = next } else { first = next }
    }

    private var indices: [Int] {
        var found: [Int] = []
        var entry = first
        while let one = entry {
            found.append(one.index)
            entry = one.next
        }
        return found
    }

    public init() {}

    /// What a change did to one property.
    public struct Outcome: Sendable {
        public enum What: Sendable {
            case tuned
            /// A setter clamped or ignored the value: the value read back is another.
            case adjusted(wanted: Value, seen: Value)
            /// Somebody else changed it meanwhile; it was left as it is.
            case left(expected: Value, found: Value)
        }
        public let property: Int
        public let what: What
    }

    static func of(_ record: Record) -> Tuning {
        let extra = Container.type(record).container.extra(record)
        if let tuning = extra.tuning as? Tuning { return tuning }
        let tuning = Tuning()
        extra.tuning = tuning
        return tuning
    }

    /// Brings an object from the layers it has to `layers`, adding each step's undo. A failing setter throws; what was
    /// done until then is in `undo`.
    public static func change(_ record: Record, to layers: TargetLayers?, undo: inout Undo) throws(Failure) -> [Outcome] {
        guard let instance = record.pointee.instance else { return [] }
        let type = Container.type(record)
        let wanted = layers?.live ?? [:]
        if wanted.isEmpty && (record.pointee.extra == nil) { return [] }
        let tuning = of(record)
        var outcomes: [Outcome] = []
        for index in tuning.indices.sorted() where wanted[index] == nil {
            if let outcome = try tuning.reverse(index, type, instance, &undo) { outcomes.append(outcome) }
        }
        var order = Set<Int>()
        for layer in layers?.stack ?? [] {
            guard let top = wanted[layer.property], order.insert(layer.property).inserted else { continue }
            do throws(Failure) {
                if let outcome = try tuning.apply(layer.property, top.value, type, instance, &undo) { outcomes.append(outcome) }
            } catch {
                var failure = error
                if failure.place.file.isEmpty { failure.place = top.place }
                throw failure
            }
        }
        return outcomes
    }

    /// Puts one layer's value on, capturing the base when it is the first. Nil when nothing changed.
    public func apply(
        _ index: Int, _ value: Value, _ type: ObjectType, _ instance: UnsafeMutableRawPointer, _ undo: inout Undo
    ) throws(Failure) -> Outcome? {
        let property = type.description.properties[index]
        let before = state(index)
        if let before, before.wanted.isSame(as: value.completed(from: before.base)) { return nil }
        let present = try property.get(instance)
        let value = value.completed(from: before?.base ?? present)
        undo.add(Undo.PropertyStep(tuning: self, property: property, index: index, instance: instance, value: present, state: before))
        try property.set(instance, value)
        let seen = try property.get(instance)
        put(Applied(index: index, base: before?.base ?? present, wanted: value, seen: seen), at: index)
        return Outcome(property: index, what: seen.isSame(as: value) ? .tuned : .adjusted(wanted: value, seen: seen))
    }

    /// Gives a property another base value: shown now when no layer lies on it, else when the last one goes.
    public static func rebase(_ record: Record, _ index: Int, _ value: Value, undo: inout Undo) throws(Failure) {
        guard let instance = record.pointee.instance else { return }
        let tuning = of(record)
        let property = Container.type(record).description.properties[index]
        if let state = tuning.state(index) {
            tuning.put(Applied(index: index, base: value, wanted: state.wanted, seen: state.seen), at: index)
            undo.add(Undo.PropertyStep(tuning: tuning, property: property, index: index, instance: instance, value: nil, state: state))
            return
        }
        let present = try property.get(instance)
        undo.add(Undo.PropertyStep(tuning: tuning, property: property, index: index, instance: instance, value: present, state: nil))
        try property.set(instance, value)
    }

    /// Takes the last layer off: restores the base, unless somebody else changed the property meanwhile.
    public func reverse(
        _ index: Int, _ type: ObjectType, _ instance: UnsafeMutableRawPointer, _ undo: inout Undo
    ) throws(Failure) -> Outcome? {
        guard let state = state(index) else { return nil }
        put(nil, at: index)
        let property = type.description.properties[index]
        let present: Value
        do throws(Failure) { present = try property.get(instance) } catch {
            put(state, at: index)
            throw error
        }
        guard present.isSame(as: state.seen) else {
            undo.add(Undo.PropertyStep(tuning: self, property: property, index: index, instance: instance, value: nil, state: state))
            return Outcome(property: index, what: .left(expected: state.seen, found: present))
        }
        undo.add(Undo.PropertyStep(tuning: self, property: property, index: index, instance: instance, value: present, state: state))
        try property.set(instance, state.base)
        return Outcome(property: index, what: .tuned)
    }
}
