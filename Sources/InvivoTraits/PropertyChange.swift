internal import InvivoBase
internal import InvivoWiring

/// What one commit does to one property of one object, from reading it to reading it back; afterwards, as long as a
/// layer lies on it, what is remembered of it.
///
/// What only a commit needs that works it out among others (`Work`) stands apart: most commits put the first layer on one
/// property, or take the last one off, and have nothing to work out. Values of nested structs are maps of those fields alone
/// that are concerned: each field has a base and layers of its own.
final class PropertyChange {
    /// Its type's, which outlives each of its objects and each commit that changes one.
    unowned(unsafe) let property: Property
    let index: Int
    /// What was remembered. Needed while its own commit may be undone, and cut off when the next one begins.
    private(set) var before: PropertyChange?
    var next: PropertyChange?

    /// What the layer says; nil when none lies on it any more.
    private let wanted: Value?
    private let place: Place
    /// Of what is under the layer, exactly.
    private(set) var base: Value?
    /// What the host itself keeps of the base.
    private var keptBase: Property.Kept?
    /// What the object answered when it was read back; nil where that is what the layer says.
    private var answered: Value?
    /// It could not be undone: its base is kept so that the next change can restore it.
    private(set) var isStuck = false
    /// Nil for the first layer on a plain property: what was there is the base, what is set is what the layer says.
    private var work: Work?

    private final class Work {
        var newBase: Value?
        /// What was there, exactly, and what the host itself keeps of it.
        var present = Value.null
        var keptPresent: Property.Kept?
        /// What is set; nil when it has that already.
        var goal: Value?
        /// What it should show at the end; nil leaves it as it is.
        var end: Value?
        /// What somebody else has changed, and why a leftover could not be restored again.
        var notes: [Tuning.Outcome] = []
        var isRefused = false

        init(newBase: Value?) { self.newBase = newBase }
    }

    init(
        _ property: Property, _ index: Int, before: PropertyChange?, wanted: Value?, place: Place, newBase: Value? = nil
    ) {
        self.property = property
        self.index = index
        self.before = before
        self.wanted = wanted
        self.place = place
        work = Work(newBase: newBase)
        before?.before = nil
        before?.work?.keptPresent = nil
    }

    /// Of a plain property, which was read already: the first layer on it.
    init(plain property: Property, _ layer: borrowing Layer, present: consuming Value) {
        self.property = property
        index = layer.property
        wanted = layer.value
        place = layer.place
        base = present
    }

    /// Of a plain property, which was read already: the last layer off it.
    convenience init(off before: PropertyChange, present: Value) {
        self.init(before.property, before.index, before: before, wanted: nil, place: Place())
        work?.present = present
    }

    /// Whether nothing but its base is to be put back when its layer goes.
    var isPlain: Bool { !isStuck && base != nil && property.isPlain }

    /// The value that the object of a plain property answered, where it is not the layer's.
    func answered(_ value: consuming Value) { answered = value }

    /// The layer that lies on it.
    var layer: Layer? { wanted.map { Layer(property: index, value: $0, place: place) } }

    /// What the object answered when it was read back.
    private(set) var seen: Value {
        get { answered ?? wanted ?? .null }
        set { answered = newValue }
    }

    /// Whether that is what it answered.
    func isSeen(_ value: Value) -> Bool {
        if let answered { return answered.isSame(as: value) }
        return wanted?.isSame(as: value) ?? value.isNull
    }

    // MARK: what a commit works out

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

    /// Whether there is something to remember.
    var isApplied: Bool { isStuck || base != nil }

    /// Whether that layer lies on it already.
    func has(_ value: Value) -> Bool { !isStuck && wanted?.isSame(as: value) == true }

    /// What an earlier commit could not undo and nobody asks for: it is tried again, and nothing fails when it refuses.
    private var isLeftover: Bool { wanted == nil && newBase == nil && before?.isStuck == true }

    // MARK: its steps

    private func capture(_ instance: UnsafeMutableRawPointer) throws(Failure) -> Value {
        guard property.keepsMore else { return try property.exact(instance) }
        let value = try property.capture(instance, &keptPresent)
        if newBase == nil { keptBase = before?.base == nil ? keptPresent : before?.keptBase }
        return value
    }

    /// How the host itself puts the base back, where that is what is to be set.
    private var keptGoal: Property.Kept? { wanted == nil && newBase == nil ? before?.keptBase : nil }

    /// Reads it and works out what is to be set.
    func read(_ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        do throws(Failure) { present = try capture(instance) } catch { return try refuse(error, key) }
        if property.isNested {
            (base, goal, end) = settle(property, whole, path: property.name)
        } else {
            settleWhole()
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

    /// Whether it shows what it should.
    var isSettled: Bool {
        guard let end else { return true }
        return property.isNested
            ? property.shown(end).isSame(as: seen.picked(like: end)) : property.shown(end).isSame(as: seen)
    }

    private func refuse(_ failure: Failure, _ key: String) throws(Failure) {
        guard isLeftover else { throw located(failure, key) }
        isRefused = true
        notes = [Tuning.Outcome(path: property.name, place: place, what: .refused(failure))]
        end = nil
    }

    /// A failure with the property's path, and the layer's place: what code of the host said is the message.
    private func located(_ failure: Failure, _ key: String) -> Failure {
        Self.located(failure, property, key, place)
    }

    static func located(_ failure: Failure, _ property: Property, _ key: String, _ place: Place) -> Failure {
        var located = failure
        located.path = key.isEmpty ? property.name : "\(key).\(property.name)"
        if place.line > 0 { located.place = place }
        return located
    }

    /// The end of it: what became of it, and what is remembered.
    func finish() -> [Tuning.Outcome] {
        if isRefused {
            (base, keptBase) = (before?.base, before?.keptBase)
            (seen, isStuck) = (before?.seen ?? .null, true)
            return notes
        }
        var outcomes = notes
        if !isSettled, let end {
            let found = seen.picked(like: end)
            // What has not changed was told when it was set.
            if goal != nil || before?.seen.picked(like: end).isSame(as: found) != true {
                let what = Tuning.Outcome.What.adjusted(wanted: property.shown(end), seen: found)
                outcomes.append(Tuning.Outcome(path: property.name, place: place, what: what))
            }
        }
        // What somebody else has changed is still told by what was seen before.
        if let before, base != nil, goal == nil || property.isNested {
            seen = end.map { seen.picked(like: $0).completed(from: before.seen) } ?? before.seen
        }
        if property.isNested, let wanted { seen = seen.picked(like: wanted) }
        return outcomes
    }

    // MARK: undoing

    /// Sets what was there before the commit.
    func undo(_ instance: UnsafeMutableRawPointer, _ key: String) throws(Failure) {
        do throws(Failure) { try property.restore(instance, present, keptPresent) } catch { throw located(error, key) }
    }

    /// Whether that is there, as far as a value tells; nil when it cannot be read.
    func isUndone(_ instance: UnsafeMutableRawPointer) -> Bool? {
        isRefused ? true : (try? property.exact(instance)).map { present.isSame(as: $0) }
    }

    /// Whether the host may tell more of it than a value does.
    var isKept: Bool { keptPresent != nil }

    /// It refuses to go back to what was there. Then no layer lies on it, and its base is remembered.
    func becomeStuck(_ instance: UnsafeMutableRawPointer) -> PropertyChange {
        let stuck = PropertyChange(property, index, before: nil, wanted: nil, place: place)
        let base = before?.base ?? present.picked(like: wanted ?? newBase ?? .null)
        stuck.base = base
        stuck.keptBase = before?.base == nil ? keptPresent : before?.keptBase
        stuck.seen = ((try? property.get(instance)) ?? before?.seen ?? present).picked(like: base)
        stuck.isStuck = true
        return stuck
    }

    // MARK: working it out

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
            base: before?.base, seen: before?.seen, former: before.flatMap { $0.isStuck ? nil : $0.wanted },
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
        // Nobody else has changed it since it was read back.
        let isOurs = part.seen.map { $0.isSame(as: shown) } ?? true
        if let wanted = part.wanted {
            let base = part.newBase ?? part.base ?? part.present
            if part.base != nil, part.former?.isSame(as: wanted) == true { return (base, nil, isOurs ? wanted : nil) }
            return (base, wanted, wanted)
        }
        guard let base = part.base else { return (nil, part.newBase, part.newBase) }
        guard isOurs else {
            notes.append(
                Tuning.Outcome(path: path(), place: place, what: .left(expected: part.seen ?? base, found: shown)))
            return (nil, nil, nil)
        }
        let goal = part.newBase ?? base
        return (nil, goal, goal)
    }
}

extension Value {
    /// Of a map those pairs alone that `other`, a map too, has; anything else is itself.
    func picked(like other: Value) -> Value {
        guard case .map = self, case .map(let some) = other else { return self }
        return .map(some.compactMap { pair in self[pair.name].map { (pair.name, $0.picked(like: pair.value)) } })
    }
}
