internal import CPlatform
public import InvivoBase
public import InvivoWiring

/// What all documents together say for one key in one generation. Immutable.
public final class TargetLayers: Configuration {
    public let type: ObjectType
    /// In the order of the documents; a later layer covers an earlier one.
    public let stack: [Override]
    /// The topmost layer of each property.
    public let effective: [Int: Override]
    public let atMaking: [Int: Value]

    public init(type: ObjectType, stack: [Override]) {
        self.type = type
        self.stack = stack
        var top: [Int: Override] = [:]
        for layer in stack {
            // Layers of a nested struct are layers of each of its fields.
            let value = top[layer.property].map { layer.value.completed(from: $0.value) } ?? layer.value
            top[layer.property] = Override(property: layer.property, value: value, place: layer.place)
        }
        effective = top
        let properties = type.description.properties
        atMaking = top.filter { properties[$0.key].takesRestart }.mapValues(\.value)
    }

    /// Layers that a live object can take now: not those of the block, nor those that wait for the next making.
    public var live: [Int: Override] {
        let properties = type.description.properties
        return effective.filter { !properties[$0.key].isInBlock && !properties[$0.key].takesRestart }
    }

    public func configure(_ object: Record) throws(Failure) {
        guard object.pointee.instance != nil else { return }
        var undo = Undo()
        do throws(Failure) {
            _ = try Tuning.change(object, to: self, undo: &undo)
        } catch {
            _ = undo.run()
            throw error
        }
    }

    /// The block that these layers give over the definition's base values.
    public static func block(of definition: Definition, layers: TargetLayers?) throws(Failure) -> Block? {
        guard let description = definition.type?.description, description.blockSize > 0 else { return nil }
        let block = Block(size: description.blockSize)
        description.writeInitialBlock(to: block.bytes)
        for injection in definition.properties {
            guard let name = injection.name, case .value(let value) = injection.source else { continue }
            let property = try description.property(named: name).property
            if property.isInBlock { property.write(try property.check(value), to: block.bytes) }
        }
        for (index, value) in definition.base where description.properties[index].isInBlock {
            description.properties[index].write(value, to: block.bytes)
        }
        for (index, layer) in layers?.effective ?? [:] where description.properties[index].isInBlock {
            description.properties[index].write(layer.value, to: block.bytes)
        }
        return block
    }
}

extension Value {
    /// A map that says less than the whole takes the rest from `other`; anything else is itself.
    func completed(from other: Value) -> Value {
        guard case .map(let own) = self, case .map(let whole) = other else { return self }
        var pairs = whole.map { pair in
            (name: pair.name, value: own.first { $0.name == pair.name }?.value.completed(from: pair.value) ?? pair.value)
        }
        pairs += own.filter { mine in !whole.contains { $0.name == mine.name } }
        return .map(pairs)
    }
}

/// Steps that take back what a commit did, run last first.
public struct Undo {
    /// One property of one object, which is most of what commits do; kept without a closure of its own. Its object is
    /// held by the commit until the undo is run or forgotten, and with it what is not retained here.
    struct PropertyStep {
        unowned(unsafe) let tuning: Tuning
        unowned(unsafe) let property: Property
        let index: Int
        let instance: UnsafeMutableRawPointer
        /// Nil leaves the object alone.
        let value: Value?
        let state: Tuning.Applied?
    }
    private enum Step {
        case property(PropertyStep)
        case other(() throws(Failure) -> Void)
    }
    private var steps: [Step] = []
    public init() {}
    public mutating func add(_ step: @escaping () throws(Failure) -> Void) { steps.append(.other(step)) }
    mutating func add(_ step: PropertyStep) {
        if steps.isEmpty { steps.reserveCapacity(4) }
        steps.append(.property(step))
    }
    public var isEmpty: Bool { steps.isEmpty }

    /// Runs and forgets all steps; answers what could not be undone.
    public mutating func run() -> [Failure] {
        var failures: [Failure] = []
        while let step = steps.popLast() {
            do throws(Failure) {
                switch step {
                case .other(let run): try run()
                case .property(let step):
                    if let value = step.value { try step.property.set(step.instance, value) }
                    step.tuning.put(step.state, at: step.index)
                }
            } catch { failures.append(error) }
        }
        return failures
    }
}
