public import InvivoBase

/// A definition compiled for one generation: parents merged, names converted to ids, lookups by type bound, constants
/// checked and converted. Immutable; shared by all generations in which it stays the same.
public final class Recipe: Sendable {
    public struct Slot: Sendable {
        /// The position among the parameters.
        public let position: Int
        public let source: Source
        /// The parameter, for messages.
        public let parameter: Signature.Parameter?
    }

    public enum Step: Sendable {
        case property(index: Int, Source)
        case method(index: Int, [Source])
        /// All objects of a type, for a property. Methods of the holder are called when a candidate is added or removed
        /// later.
        case candidates(property: Int, [UInt32], added: Int, removed: Int)

        /// Whether a constant, or another part that names no key, differs from the same step of another definition.
        public func hasOtherConstants(than other: Step) -> Bool {
            !sources.elementsEqual(other.sources) { $0.hasSameConstants(as: $1) }
        }

        public var sources: [Source] {
            switch self {
            case .property(_, let source): [source]
            case .method(_, let sources): sources
            case .candidates(_, let ids, _, _): [.all(ids)]
            }
        }
    }

    public enum Maker: Sendable {
        case initializer
        case factory(Factory)
        case method(Source, name: String)
        case constant(ObjectLease)
        case alias(UInt32)
        case choice(Source, [(when: DefinitionChoice.When, use: Source?)])
        case block
        case abstract
        /// The missing dependencies on which the definition is blocked.
        case dormant([String])
    }

    public let definition: Definition
    public let type: ObjectType?
    public let scope: Scope
    public let maker: Maker
    public let slots: [Slot]
    /// Properties in their order, then methods in theirs.
    public let steps: [Step]
    /// The number of first steps that come from the needs of its type.
    public let needCount: Int
    public let before: [Step]
    public let after: [Step]
    public let afterAll: [Step]
    /// Its references to other definitions. Planning reads them; creating an object does not.
    public let references: References
    /// Whether its references lead back to it: its objects may hold each other.
    public let isInCycle: Bool
    /// The decorators of its objects, in the order in which they are applied.
    public let decorators: [Processor]
    /// The same without decorators; nil if there are none.
    public let undecorated: Recipe?

    convenience init(
        _ definition: Definition, maker: Maker, slots: [Slot], steps: [Step] = [], needCount: Int = 0,
        before: [Step] = [], after: [Step] = [], afterAll: [Step] = [], references: References
    ) {
        self.init(
            definition, maker, slots, steps, needCount: needCount, before, after, afterAll, references,
            isInCycle: false, decorators: [], undecorated: nil)
    }

    private init(
        _ definition: Definition, _ maker: Maker, _ slots: [Slot], _ steps: [Step], needCount: Int, _ before: [Step],
        _ after: [Step], _ afterAll: [Step], _ references: References, isInCycle: Bool, decorators: [Processor],
        undecorated: Recipe?
    ) {
        self.definition = definition
        type = definition.type
        scope = references.includesRequester ? .prototype : definition.scope
        self.maker = maker
        self.slots = slots
        self.steps = steps
        self.before = before
        self.after = after
        self.afterAll = afterAll
        self.needCount = needCount
        self.references = references
        self.isInCycle = isInCycle
        self.decorators = decorators
        self.undecorated = undecorated
    }

    /// The name under which an object records the result of a step, independent of its current definition. For a
    /// property it is the property's name; for a call the list of calls, the method, and the number of the call among
    /// the calls of this method.
    public func name(of position: Int, in steps: [Step], _ list: String) -> String {
        guard let description = type?.description else { return "\(list)\(position)" }
        switch steps[position] {
        case .property(let index, _), .candidates(let index, _, _, _): return description.properties[index].name
        case .method(let index, _):
            let calls = steps[..<position].count { if case .method(index, _) = $0 { true } else { false } }
            return "\(list)\(description.methods[index].name)()\(calls == 0 ? "" : "\(calls)")"
        }
    }

    /// The keys that its initializer takes.
    public var initializing: [UInt32] { references.initializing }

    public var id: UInt32 { definition.id }
    public var key: String { definition.key }
    public var isAbstract: Bool { definition.isAbstract }

    /// The missing dependencies of a definition that is blocked on them.
    public var waits: [String] {
        if case .dormant(let needs) = maker { needs } else { [] }
    }

    /// "'a.clock', 'Display'", for messages.
    public static func list(_ names: [String]) -> String { names.map { "'\($0)'" }.listed() }

    public var isTracked: Bool { definition.body.flags.contains(.tracked) }

    /// Whether only lists whose holder is notified of changes refer to `ids` or have a changed binding.
    public func isNotified(of ids: IDSet) -> Bool {
        steps.contains { if case .candidates = $0 { true } else { false } }
            && allSteps.allSatisfy { step in
                if case .candidates = step { return true }
                return !step.sources.contains { $0.names(ids) }
            }
    }

    public var isExclusive: Bool { definition.body.flags.contains(.exclusive) }

    /// The object of a constant; 0 for other definitions.
    public var constantObject: UInt64 { if case .constant(let lease) = maker { lease.bits } else { 0 } }

    /// Whether the result is created by other code.
    public var takesForeignObjects: Bool {
        switch maker {
        case .method, .constant: true
        default: false
        }
    }

    /// Whether objects are created from the type alone, so that the fast path can create them.
    public var isPlain: Bool {
        guard case .initializer = maker, let type, !isAbstract, decorators.isEmpty else { return false }
        return !scope.isShared && !isTracked && slots.isEmpty && steps.isEmpty && before.isEmpty && after.isEmpty
            && afterAll.isEmpty
            && definition.body.inject == nil && definition.base.isEmpty && type.raw.pointee.is_plain == 1
    }

    private var parameters: [Signature.Parameter] { definition.body.parameters?.parameters ?? [] }

    /// Whether every resolve must give arguments.
    public var needsArguments: Bool { (definition.body.parameters?.leastCount ?? 0) > 0 }

    /// Whether arguments of one of them can be passed to the other.
    public func takesSameArguments(as other: Recipe) -> Bool {
        (definition.body.parameters == nil) == (other.definition.body.parameters == nil)
            && parameters.elementsEqual(other.parameters) {
                $0.mayBeLeftOut == $1.mayBeLeftOut && $0.kind == $1.kind && $0.typeName == $1.typeName
            }
    }

    /// Whether instances may be kept, so that one can be found again.
    public var mayBeKept: Bool {
        definition.body.constant != nil || isAbstract || scope.isShared && !definition.usesAsker
    }

    /// A copy that is marked as part of a cycle.
    public func inCycle() -> Recipe {
        Recipe(
            definition, maker, slots, steps, needCount: needCount, before, after, afterAll, references,
            isInCycle: true, decorators: decorators, undecorated: undecorated)
    }

    /// A copy with decorators. Each component becomes a dependency like an initializer argument.
    public func decorated(by decorators: [Processor]) -> Recipe {
        let base = undecorated ?? self
        guard !decorators.isEmpty else { return base }
        return Recipe(
            definition, maker, slots, steps, needCount: needCount, before, after, afterAll,
            base.references.taking(decorators.compactMap(\.componentID)),
            isInCycle: isInCycle, decorators: decorators, undecorated: base)
    }

    /// Whether it has exactly these decorators.
    public func hasSameDecorators(as list: [Processor]) -> Bool {
        decorators.count == list.count && zip(decorators, list).allSatisfy { $0 === $1 }
    }

    /// Whether no object needs to be rebuilt for what the other takes instead.
    public func hasSameInitializer(as other: Recipe) -> Bool {
        // Those that force a rebuild, however they are received, and no kept ones.
        func through(_ recipe: Recipe) -> Set<UInt32> { Set(recipe.references.rebuilding) }
        // Lists are ordered. A provider without a target is null, and becomes a callable when its key is defined.
        func keys(_ recipe: Recipe) -> [[UInt32?]] {
            let kept = recipe.references.kept
            return recipe.slots.map { $0.source.keys(except: kept) }
        }
        return through(self) == through(other) && keys(self) == keys(other) && hasSameDecorators(as: other.decorators)
    }

    /// Whether both are choices whose value is known and selects the same definition, without arguments.
    public func isSameChoice(as other: Recipe) -> Bool {
        guard case .alias(let id) = maker, case .alias(id) = other.maker else { return false }
        return definition.body.choice != nil && other.definition.body.choice != nil && slots.isEmpty
            && other.slots.isEmpty
    }

    /// Whether the same keys are received, apart from those of which objects keep what they have.
    public func hasSameFollowedKeys(as other: Recipe) -> Bool {
        guard references.keep || other.references.keep, hasSameInitializer(as: other), waits == other.waits else {
            return false
        }
        func keys(_ recipe: Recipe) -> [[UInt32?]] {
            let kept = recipe.references.kept
            return recipe.allSteps.flatMap(\.sources).map { $0.keys(except: kept) }
        }
        return keys(self) == keys(other)
    }

    /// The keys that each part of the definition stops or starts to name; all of them if only the order differs.
    public func differingKeys(from former: Recipe) -> [(former: [UInt32], next: [UInt32])] {
        func parts(_ recipe: Recipe) -> [String: [UInt32]] {
            var found: [String: [UInt32]] = [:]
            for slot in recipe.slots { found["initializer \(slot.position)"] = slot.source.keys.compactMap(\.self) }
            for (number, source) in recipe.allSteps.flatMap(\.sources).enumerated() {
                found["step \(number)"] = source.keys.compactMap(\.self)
            }
            return found
        }
        let (before, after) = (parts(former), parts(self))
        return Set(before.keys).union(after.keys).sorted().compactMap { part in
            let (was, now) = (before[part] ?? [], after[part] ?? [])
            guard was != now else { return nil }
            // A list in another order names the same keys, and is another value.
            let (gone, added) = (was.filter { !now.contains($0) }, now.filter { !was.contains($0) })
            return gone.isEmpty && added.isEmpty ? (was, now) : (gone, added)
        }
    }

    /// The kept keys of which objects receive the current objects and values when `changed` (nil: everything but kept ones)
    /// is injected again, or everything: all parts that receive them are repeated.
    public func keptKeys(injectedWith changed: IDSet?, isWhole: Bool = false) -> Set<UInt32> {
        var kept = references.kept
        let all = kept
        for slot in slots { for id in kept where slot.source.names([id]) { kept.remove(id) } }
        for step in allSteps where !isWhole && !step.sources.contains(where: { $0.names(changed, except: all) }) {
            for source in step.sources { for id in kept where source.names([id]) { kept.remove(id) } }
        }
        return kept
    }

    /// Whether it creates objects, which can be decorated.
    var isDecorable: Bool {
        guard !isAbstract else { return false }
        switch maker {
        case .initializer, .factory, .method: return true
        case .constant, .alias, .choice, .block, .abstract, .dormant: return false
        }
    }

    /// The target of an alias.
    public var aliased: UInt32? {
        if case .alias(let target) = maker { return target }
        return nil
    }

    private var allSteps: [Step] { before + steps + after + afterAll }

    /// The keys whose objects are injected after the initializer. A reload injects their new objects into an existing instance.
    public var injectedKeys: Set<UInt32> {
        var found: Set<UInt32> = []
        for step in allSteps { for source in step.sources { source.forEachKey { found.insert($0) } } }
        return found
    }

    /// Calls `body` with the lease of each object that it contains as a constant.
    public func forEachLease(_ body: (ObjectLease) -> Void) {
        if case .constant(let lease) = maker { body(lease) }
        for parameter in definition.body.parameters?.parameters ?? [] { parameter.defaultValue?.forEachLease(body) }
        forEachSource { $0.forEachLease(body) }
    }

    /// Calls `body` with each of its sources, without nested ones.
    public func forEachSource(_ body: (Source) -> Void) {
        switch maker {
        case .method(let source, _): body(source)
        case .choice(let chooser, let options):
            body(chooser)
            for option in options { option.use.map(body) }
        case .constant, .initializer, .factory, .alias, .block, .abstract, .dormant: break
        }
        for slot in slots { body(slot.source) }
        for step in allSteps { step.sources.forEach(body) }
    }
}
