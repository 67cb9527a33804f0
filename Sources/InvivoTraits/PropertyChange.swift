internal import InvivoBase
internal import InvivoSpec
internal import InvivoWiring

/// The change of one property of one object in one commit, from the first read to the read-back. Afterwards it is the
/// record of the property, as long as a layer is on it.
///
/// `Work` holds the state for changes that depend on each other. Most commits add the first layer of one property, or
/// remove the last one, and need none of it. Values of nested structs are maps of the affected fields only: each field
/// has its own base and layers.
final class PropertyChange {
    /// A property of the type, which outlives each of its objects and each commit that changes one.
    unowned(unsafe) let property: Property
    let index: Int
    /// The former record. Needed while the commit may be undone, and dropped when the next one begins.
    private(set) var before: PropertyChange?
    var next: PropertyChange?

    /// The value of the layer; nil when no layer is left.
    private var wanted: Value?
    let location: TraitLocation
    /// The exact value under the layer.
    private(set) var base: Value?
    /// The host's own capture of the base.
    private var keptBase: Property.Kept?
    /// The value that was read back; nil where it equals the value of the layer.
    private var answered: Value?
    /// Whether the change could not be undone: its base is kept so that the next change can restore it.
    private(set) var isStuck = false
    /// Whether the value that it left could not be read. Changes by other code are then not detected.
    private var isUnread = false
    /// Nil for the first layer of a plain property: the present value is the base, and the value of the layer is set.
    private var work: Work?

    private final class Work {
        var newBase: Value?
        /// The steps from the base value to the layer's, if it depends on the base value.
        let steps: LayerSteps?
        /// The exact present value, and the host's own capture of it.
        var present = Value.null
        var keptPresent: Property.Kept?
        /// The value to set; nil when the property has it already.
        var goal: Value?
        /// The value to show at the end; nil leaves the property unchanged.
        var end: Value?
        /// External changes, and the reasons why a base value could not be restored again.
        var notes: [Tuning.Outcome] = []
        var isRefused = false
        let moment: Tuning.Moment
        /// The movement to the value of the layer; nil if it has ended, or if the value shows at once.
        var run: RampRun?

        init(newBase: Value?, _ steps: LayerSteps?, _ moment: Tuning.Moment) {
            (self.newBase, self.steps, self.moment) = (newBase, steps, moment)
        }
    }

    init(
        _ property: Property, _ index: Int, before: PropertyChange?, wanted: Value?, location: TraitLocation,
        newBase: Value? = nil, steps: LayerSteps? = nil, moment: Tuning.Moment = .edit
    ) {
        self.property = property
        self.index = index
        self.before = before
        self.wanted = wanted
        self.location = location
        work = Work(newBase: newBase, steps, moment)
        before?.before = nil
        before?.work?.keptPresent = nil
    }

    /// The first layer on a plain property, which was read already.
    init(plain property: Property, _ layer: borrowing Layer, present: consuming Value) {
        self.property = property
        index = layer.property
        wanted = layer.value
        location = layer.location
        base = present
    }

    /// The removal of the last layer from a plain property, which was read already.
    convenience init(off before: PropertyChange, present: Value) {
        self.init(before.property, before.index, before: before, wanted: nil, location: TraitLocation())
        work?.present = present
    }

    /// Whether removing the layer only has to restore the base value.
    var isPlain: Bool { !isStuck && base != nil && property.isPlain }

    /// Stores the value that a plain property returned, if it is not the value of the layer.
    func answered(_ value: consuming Value) { answered = value }

    /// The layer of the property; nil without one.
    var layer: Layer? {
        wanted.map {
            let steps = work?.steps
            let isKnown = steps == nil || steps?.ramp != nil
            return Layer(property: index, value: isKnown ? $0 : .null, location: location, steps: steps)
        }
    }

    /// The movement to the value of the layer, if it has not ended.
    var run: RampRun? { work?.run }

    /// The value that was read back.
    private(set) var seen: Value {
        get { answered ?? wanted ?? .null }
        set { answered = newValue }
    }

    func isSeen(_ value: Value) -> Bool {
        if let answered { return answered.isSame(as: value) }
        return wanted?.isSame(as: value) ?? value.isNull
    }

    // MARK: planning

    private var present: Value {
        get { work?.present ?? base ?? .null }
        set { work?.present = newValue }
    }
    private var keptPresent: Property.Kept? {
        get { work?.keptPresent }
        set { work?.keptPresent = newValue }
    }
    var newBase: Value? {
        get { work?.newBase }
        set { work?.newBase = newValue }
    }
    private var goal: Value? {
        get { work == nil ? wanted : work?.goal }
        set { work?.goal = newValue }
    }
    private var end: Value? {
        get { work == nil ? wanted : work?.end }
        set { work?.end = newValue }
    }
    private var notes: [Tuning.Outcome] {
        get { work?.notes ?? [] }
        set { work?.notes = newValue }
    }
    private var isRefused: Bool {
        get { work?.isRefused ?? false }
        set { work?.isRefused = newValue }
    }

    deinit {
        // A long chain must not end in as deep a recursion.
        var rest = next
        next = nil
        while isKnownUniquelyReferenced(&rest), let one = rest {
            rest = one.next
            one.next = nil
        }
    }

    /// Whether the change must be remembered.
    var isApplied: Bool { isStuck || base != nil }

    /// Whether the property already has this layer.
    func has(_ layer: Layer) -> Bool { !isStuck && self.layer?.shows(sameAs: layer) == true }

    /// A base value that an earlier commit could not restore. The restore is tried again, and a refusal is no failure.
    private var isLeftover: Bool { wanted == nil && newBase == nil && before?.isStuck == true }

    // MARK: steps

    private func capture(_ instance: UnsafeMutableRawPointer) throws(Failure) -> Value {
        guard property.keepsMore else { return try property.exact(instance) }
        let value = try property.capture(instance, &keptPresent)
        if newBase == nil { keptBase = before?.base == nil ? keptPresent : before?.keptBase }
        return value
    }

    /// Computes the value of a layer that depends on the base value.
    private func computeWanted() throws(Failure) {
        guard let steps = work?.steps else { return }
        var base = present
        // The base is what lies below: for a nested struct, of the affected fields.
        if let known = before?.base { base = known.completed(from: base) }
        if let newBase { base = newBase.completed(from: base) }
        wanted = try steps.value(over: base, property)
    }

    /// The host's own capture of the base, when the base is to be restored with it.
    private var keptGoal: Property.Kept? { wanted == nil && newBase == nil ? before?.keptBase : nil }

    /// Reads the property and computes the value to set.
    func read(_ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        do throws(Failure) {
            present = try capture(instance)
            try computeWanted()
            if let ramp = work?.steps?.ramp, before == nil, ramp.duration > 0 {
                try property.requireMoving(to: present)
            }
        } catch { return try refuse(error, key) }
        if property.isNested {
            (base, goal, end) = settle(property, whole, path: property.name)
        } else {
            settleWhole()
        }
        if let ramp = work?.steps?.ramp { move(by: ramp) }
        // The movement has ended: the property may not have the value of its former layer.
        if before?.run != nil, run == nil, goal == nil { goal = end }
    }

    /// Computes the value of this moment of a property that moves.
    private func move(by ramp: Ramp) {
        guard let work, let steps = work.steps, let wanted else { return }
        let present = present.picked(like: wanted)
        guard before?.isStuck == false, let former = before?.work, former.steps?.isSame(as: steps) == true else {
            switch work.moment {
            case .edit:
                work.run = RampRun.between(present, wanted, over: ramp, of: property)
                if work.run != nil { (goal, end) = (nil, present) }
            case .new:
                let start = ramp.from.map { $0.completed(from: wanted) } ?? wanted
                work.run = RampRun.between(start, wanted, over: ramp, of: property)
                if work.run != nil { (goal, end) = (start, start) }
            case .atOnce, .step: break
            }
            return
        }
        guard let run = former.run else { return }
        guard end?.isSame(as: wanted) == true else {
            // Other code has changed it.
            notes.append(
                Tuning.Outcome(
                    path: property.name, location: location.location,
                    what: .left(expected: before?.seen ?? wanted, found: property.shown(present)),
                    variables: property.origin(location.variables)))
            return
        }
        guard case .step(let now) = work.moment else {
            work.run = run
            return (goal, end) = (nil, present)
        }
        run.begin(at: now)
        let value = run.value(at: now)
        (goal, end) = (value, value)
        if !run.isOver(at: now) { work.run = run }
    }

    /// Sets a field that moves to its value of this moment. Returns whether it still moves.
    func moveField(of instance: UnsafeMutableRawPointer, at now: UInt64) -> Bool {
        guard let work, let run = work.run else { return false }
        run.begin(at: now)
        property.write(run.value(at: now), to: instance)
        seen = property.read(instance)
        if run.isOver(at: now) { work.run = nil }
        return work.run != nil
    }

    /// Returns the record of a property that could not be moved. The next commit sets its layer again.
    func stopped(_ instance: UnsafeMutableRawPointer) -> PropertyChange {
        let stopped = PropertyChange(property, index, before: nil, wanted: nil, location: location)
        (stopped.base, stopped.keptBase) = (base, keptBase)
        stopped.stay(instance)
        return stopped
    }

    /// Becomes the record of a property that could not be restored. `base` is set.
    private func stay(_ instance: UnsafeMutableRawPointer) {
        isStuck = true
        if let value = try? property.get(instance) {
            seen = value.picked(like: base ?? .null)
        } else {
            isUnread = true
        }
    }

    func set(_ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        guard let goal else { return }
        do throws(Failure) { try property.restore(instance, goal, keptGoal) } catch { try refuse(error, key) }
    }

    func setAgain(_ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        guard let end else { return }
        do throws(Failure) { try property.restore(instance, end, keptGoal) } catch { try refuse(error, key) }
    }

    func readBack(_ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        guard !isRefused else { return }
        do throws(Failure) { seen = try property.get(instance) } catch { try refuse(error, key) }
    }

    /// Whether the property has its final value.
    var isSettled: Bool {
        guard let end else { return true }
        return property.isNested
            ? property.shown(end).isSame(as: seen.picked(like: end)) : property.shown(end).isSame(as: seen)
    }

    private func refuse(_ failure: Failure, _ key: String) throws(Failure) {
        guard isLeftover else { throw located(failure, key) }
        isRefused = true
        notes = [
            Tuning.Outcome(
                path: property.name, location: location.location, what: .refused(failure),
                variables: property.origin(nil))
        ]
        end = nil
    }

    /// A failure with the property's path and the layer's source location. The message of host code is kept.
    private func located(_ failure: Failure, _ key: String) -> Failure {
        Self.located(failure, property, key, location)
    }

    /// A failure with the property's path and the layer's source location. The message is replaced if it could show the value of an
    /// environment variable.
    static func located(_ failure: Failure, _ property: Property, _ key: String, _ layer: TraitLocation) -> Failure {
        let masked = property.origin(layer.variables)?.masking(failure, expected: property.wanted) ?? failure
        return placed(masked, property, key, layer)
    }

    /// A failure with the property's path and the layer's source location.
    static func placed(_ failure: Failure, _ property: Property, _ key: String, _ layer: TraitLocation) -> Failure {
        var located = failure
        located.path = key.isEmpty ? property.name : "\(key).\(property.name)"
        let location = layer.location
        if location.line > 0 { located.location = location }
        return located
    }

    /// Completes the change. Returns the outcome, and keeps the record.
    func finish() -> [Tuning.Outcome] {
        if isRefused {
            (base, keptBase) = (before?.base, before?.keptBase)
            (seen, isStuck, isUnread) = (before?.seen ?? .null, true, before?.isUnread == true)
            return notes
        }
        var outcomes = notes
        if !isSettled, let end {
            let found = seen.picked(like: end)
            // An unchanged value was reported when it was set.
            if goal != nil || before?.seen.picked(like: end).isSame(as: found) != true {
                let what = Tuning.Outcome.What.adjusted(wanted: property.shown(end), seen: found)
                outcomes.append(
                    Tuning.Outcome(
                        path: property.name, location: location.location, what: what,
                        variables: property.origin(location.variables)))
            }
        }
        // An external change is still detected by the value that was seen before.
        if let before, base != nil, goal == nil || property.isNested {
            seen = end.map { seen.picked(like: $0).completed(from: before.seen) } ?? before.seen
        }
        if property.isNested, let wanted { seen = seen.picked(like: wanted) }
        return outcomes
    }

    // MARK: undo

    /// Restores the value from before the commit.
    func undo(_ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        do throws(Failure) { try property.restore(instance, present, keptPresent) } catch { throw located(error, key) }
    }

    /// Whether the former value is in place, as far as values show it; nil when it cannot be read.
    func isUndone(_ instance: UnsafeMutableRawPointer) -> Bool? {
        isRefused ? true : (try? property.exact(instance)).map { present.isSame(as: $0) }
    }

    /// Whether the host's own capture contains more than the value.
    var isKept: Bool { keptPresent != nil }

    /// Records that the former value cannot be restored. The property then has no layer, and its base is kept.
    func becomeStuck(_ instance: UnsafeMutableRawPointer) -> PropertyChange {
        let stuck = PropertyChange(property, index, before: nil, wanted: nil, location: location)
        stuck.base = before?.base ?? present.picked(like: wanted ?? newBase ?? .null)
        stuck.keptBase = before?.base == nil ? keptPresent : before?.keptBase
        stuck.stay(instance)
        return stuck
    }

    // MARK: the values to set

    /// One value, or one field of a nested struct.
    private struct Part {
        let base, seen, former, wanted, newBase: Value?
        let present: Value

        func field(_ name: String) -> Part {
            Part(
                base: base?[name], seen: seen?[name], former: former?[name], wanted: wanted?[name],
                newBase: newBase?[name],
                present: present[name] ?? .null)
        }

        var isConcerned: Bool { base != nil || wanted != nil || newBase != nil }

        var isOfFields: Bool {
            func fits(_ value: Value?) -> Bool { if case .map? = value { true } else { value == nil } }
            guard case .map = present else { return false }
            return fits(base) && fits(wanted) && fits(newBase)
        }
    }

    private var whole: Part {
        Part(
            base: before?.base, seen: before?.isUnread == true ? nil : before?.seen,
            former: before.flatMap { $0.isStuck ? nil : $0.wanted },
            wanted: wanted, newBase: newBase, present: present)
    }

    private typealias Settled = (base: Value?, goal: Value?, end: Value?)

    private func settleWhole() {
        guard before != nil || newBase != nil else {
            // The usual case: the first layer.
            (base, goal, end) = (present, wanted, wanted)
            return
        }
        (base, goal, end) = settleOne(property, whole, property.name)
    }

    private func settle(_ property: Property, _ part: Part, path: String) -> Settled {
        guard property.isNested, part.isOfFields else { return settleOne(property, part, path) }
        var bases: [(name: String, value: Value)] = []
        var goals = bases
        var ends = bases
        for field in property.fields {
            let own = part.field(field.name)
            guard own.isConcerned else { continue }
            let settled = settle(field, own, path: "\(path).\(field.name)")
            if let base = settled.base { bases.append((field.name, base)) }
            if let goal = settled.goal { goals.append((field.name, goal)) }
            if let end = settled.end { ends.append((field.name, end)) }
        }
        func map(_ pairs: [(name: String, value: Value)]) -> Value? { pairs.isEmpty ? nil : .map(pairs) }
        return (map(bases), map(goals), map(ends))
    }

    private func settleOne(_ property: Property, _ part: Part, _ path: @autoclosure () -> String) -> Settled {
        let shown = property.shown(part.present)
        // Whether no other code has changed it since the read-back.
        let isOurs = part.seen.map { $0.isSame(as: shown) } ?? true
        if let wanted = part.wanted {
            let base = part.newBase ?? part.base ?? part.present
            if part.base != nil, part.former?.isSame(as: wanted) == true { return (base, nil, isOurs ? wanted : nil) }
            return (base, wanted, wanted)
        }
        guard let base = part.base else { return (nil, part.newBase, part.newBase) }
        guard isOurs else {
            notes.append(
                Tuning.Outcome(
                    path: path(), location: location.location, what: .left(expected: part.seen ?? base, found: shown),
                    variables: property.origin(before?.location.variables ?? location.variables)))
            return (nil, nil, nil)
        }
        let goal = part.newBase ?? base
        return (nil, goal, goal)
    }
}
