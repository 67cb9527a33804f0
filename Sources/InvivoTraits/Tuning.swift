internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import InvivoObjects
internal import InvivoSpec
public import InvivoWiring

/// The state of the traits of one live object.
///
/// For each property under a layer it stores the base value, captured exactly when the first layer was added, and the
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
    /// The base values that the next change sets together with its layers; nil if they are set at once.
    private var awaited: [Base]?

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
            /// The reversal of a trait has failed in an earlier commit. The traits are applied again over the values that it left.
            case notReversed
        }
        /// The name of the property; of a field of a nested struct, its path.
        public let path: String
        /// The source location of the layer.
        public let location: Location
        public let what: What
        /// The environment variables that are a part of the value of the layer. The value is then not shown.
        var variables: VariableText?

        /// The outcome for a property whose value may be a secret.
        public var ofSecret: Outcome {
            var outcome = self
            outcome.variables = VariableText.marking(variables, isSecret: true)
            return outcome
        }

        /// One line for the log, without the key.
        public var text: String {
            if variables?.isSecret == true {
                switch what {
                case .adjusted:
                    return "\(path): set to \(VariableText.shownSecret), but the object returns another value"
                case .left:
                    return "\(path): other code changed it from \(VariableText.shownSecret); the new value stays"
                case .refused:
                    return "\(path): its former value still cannot be restored \(Failure.hiddenMessage)"
                case .notReversed: return notReversed
                }
            }
            if let variables {
                switch what {
                case .adjusted: return "\(path): the object returns another value than \(variables.described) gives"
                case .left: return "\(path): other code changed what \(variables.described) gave; the new value stays"
                case .refused, .notReversed: break
                }
            }
            return switch what {
            case .adjusted(let wanted, let seen): "\(path): set to \(wanted), but the object returns \(seen)"
            case .left(let expected, let found):
                "\(path): other code changed it from \(expected) to \(found); that value stays"
            case .refused(let failure): "\(path): its former value still cannot be restored: \(failure.message)"
            case .notReversed: notReversed
            }
        }

        private var notReversed: String {
            "\(path): its reversal has failed before; what it left stays below the traits that are applied now"
        }
    }

    /// The occasion of a change: it decides where a property that moves to its value begins.
    enum Moment {
        /// Layers change: it begins at the value shown now.
        case edit
        /// The object is new under these layers. It begins at the start value of the trait; without one it has the end value at once.
        case new
        /// It has the end value at once.
        case atOnce
        /// The clock has reached this point, and the layers stay.
        case step(UInt64)
    }

    /// A new base value of a property. It is shown now if the property has no layer, otherwise when the last layer is removed.
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
        return tuning.isStuck || tuning.code?.isStuck == true
    }

    /// Whether a property under its layers could not be put back.
    var isStuck: Bool { first?.first { $0.isStuck } != nil }

    /// Whether traits that run code lie above its layers.
    var isCovered: Bool { code?.entries.isEmpty == false }

    /// Changes an object from its layers to `layers`, and adds the inverse to `undo`. A failing setter throws, with the
    /// path of its property under `key`; the changes before it are in `undo`.
    ///
    /// `isNew`: the object has just been created, or attached to the key.
    public static func change(
        _ record: Record, key: String = "", to layers: TargetLayers?, bases: [Base] = [], isNew: Bool = false,
        undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        guard let instance = record.pointee.instance else { return [] }
        let wanted = layers?.live ?? []
        let segments = layers?.above ?? []
        if wanted.isEmpty && bases.isEmpty && segments.isEmpty && ObjectExtra.known(of: record) == nil { return [] }
        let (tuning, type) = (of(record), ObjectType.of(record))
        var bases = bases
        if let awaited = tuning.awaited {
            bases += awaited
            tuning.awaited = nil
        }
        guard segments.isEmpty && tuning.code?.isEmpty != false else {
            let target = CodeStack.Target(
                type: type, object: ObjectTable.handle(record), instance: instance, key: key,
                moment: isNew ? .new : .edit)
            return try tuning.changeStack(target, to: wanted, segments, bases: bases, &undo)
        }
        return try tuning.change(
            type, instance, key: key, to: wanted, bases: bases, at: isNew ? .new : .edit, undo: &undo)
    }

    /// Changes an instance without a record.
    public func change(
        _ type: ObjectType, _ instance: UnsafeMutableRawPointer, key: String = "", to wanted: [Layer],
        bases: [Base] = [], undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        try change(type, instance, key: key, to: wanted, bases: bases, at: .edit, undo: &undo)
    }

    func change(
        _ type: ObjectType, _ instance: UnsafeMutableRawPointer, key: String, to wanted: [Layer], bases: [Base] = [],
        at moment: Moment, undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        if let outcomes = try changePlain(type, instance, key, wanted, bases, &undo) { return outcomes }
        guard let changes = concerned(type, wanted, bases, moment) else { return [] }
        try changes.forEach { change throws(Failure) in try change.read(instance, key) }
        undo.add(
            ObjectUndo(
                tuning: self, instance: instance, key: key, changes: changes,
                former: first.map { .chain($0) } ?? .nothing))
        try changes.forEach { change throws(Failure) in try change.set(instance, key) }
        try settle(changes, instance, key)
        var outcomes: [Outcome] = []
        changes.forEach { outcomes += $0.finish() }
        // Drops the leading changes of base values, which may hold leases of injected objects.
        first = changes.first { $0.isApplied }
        return outcomes
    }

    /// A change of the layers of an object follows, in the same transaction: new base values wait for it, because the former layers may not
    /// fit them.
    public static func awaitChange(of record: Record, _ undo: inout Undo) {
        guard let tuning = ObjectExtra.known(of: record)?.tuning as? Tuning else { return }
        tuning.awaited = []
        undo.add { tuning.awaited = nil }
    }

    public func rebase(
        _ record: Record, _ index: Int, to value: Value
    ) throws(Failure) -> (() throws(Failure) -> Void)? {
        let hasCode = code?.isEmpty == false
        guard applied(index) != nil || hasCode, let instance = record.pointee.instance else { return nil }
        if awaited != nil {
            awaited?.append((index, value))
            // The undo of `awaitChange` drops all of them.
            return {}
        }
        let type = ObjectType.of(record)
        let key = record.pointee.key > 0 ? type.container.keyName(record.pointee.key - 1) : ""
        let target = CodeStack.Target(
            type: type, object: ObjectTable.handle(record), instance: instance, key: key, moment: .atOnce)
        let (layers, segments) = (layers, code?.segments ?? [])
        var undo = Undo()
        do throws(Failure) {
            if hasCode {
                _ = try changeStack(target, to: layers, segments, bases: [(index, value)], &undo)
            } else {
                _ = try change(type, instance, key: key, to: layers, bases: [(index, value)], undo: &undo)
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

    // MARK: moving

    /// Called for an object whose properties may move, with its key, in its domain. Set once, by the first runtime.
    public static var onMoving: (@Sendable (Container, Record, UInt32) -> Void)? {
        get { moving.function }
        set { if let newValue { moving.set(newValue) } }
    }
    private static let moving = SetOnce<@Sendable (Container, Record, UInt32) -> Void>()

    /// The movements of an object's properties that have not ended.
    public static func runs(of record: Record) -> [RampRun] {
        var runs: [RampRun] = []
        (ObjectExtra.known(of: record)?.tuning as? Tuning)?.top?.forEach { if let run = $0.run { runs.append(run) } }
        return runs
    }

    /// The records above the topmost trait that runs code: properties below it do not move.
    private var top: PropertyChange? { (code?.entries.last?.tuning ?? self).first }

    /// Moves the properties of an object to their values at a point of the clock. Returns whether some have not reached their end. After a
    /// failure all have their former values, and the next commit sets their layers again.
    public static func step(
        _ record: Record, key: String, at now: UInt64
    ) throws(Failure) -> (outcomes: [Outcome], isMoving: Bool) {
        guard let instance = record.pointee.instance, !runs(of: record).isEmpty else { return ([], false) }
        let tuning = of(record)
        let moving = tuning.code?.entries.last?.tuning ?? tuning
        var undo = Undo()
        do throws(Failure) {
            let outcomes = try moving.change(
                ObjectType.of(record), instance, key: key, to: moving.layers, at: .step(now), undo: &undo)
            return (outcomes, !runs(of: record).isEmpty)
        } catch {
            var failure = error
            failure.others += undo.run()
            var stopped: [PropertyChange] = []
            moving.first?.forEach { if $0.run != nil { stopped.append($0.stopped(instance)) } }
            for change in stopped { moving.replace(change) }
            throw failure
        }
    }

    /// The layers that the object has.
    var layers: [Layer] {
        var layers: [Layer] = []
        first?.forEach { if $0.isApplied, let layer = $0.layer { layers.append(layer) } }
        return layers
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

    /// The changes in the order of their application: first base values without a layer, then restores of base values, then layers.
    /// Nil without a change. Otherwise it includes everything under a layer, because setters may change other properties.
    private func concerned(
        _ type: ObjectType, _ wanted: [Layer], _ bases: [Base], _ moment: Moment
    ) -> PropertyChange? {
        let properties = type.description.properties
        var isChanged = !bases.isEmpty
        if case .step = moment { isChanged = true }
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
            isChanged = true
            add(PropertyChange(state.property, state.index, before: state, wanted: nil, location: TraitLocation()))
        }
        for layer in wanted {
            let state = applied(layer.property)
            isChanged = isChanged || state?.has(layer) != true
            add(
                PropertyChange(
                    properties[layer.property], layer.property, before: state, wanted: layer.value,
                    location: layer.location, steps: layer.steps, moment: moment))
        }
        for (index, value) in bases {
            if let known = head?.first(where: { $0.index == index }) {
                known.newBase = value
            } else {
                let change = PropertyChange(
                    properties[index], index, before: nil, wanted: nil, location: TraitLocation(), newBase: value)
                change.next = head
                head = change
            }
        }
        return isChanged ? head : nil
    }

    private func applied(_ index: Int) -> PropertyChange? { first?.first { $0.index == index && $0.isApplied } }

    /// Replaces the records of the property of `change`.
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
