internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import InvivoWiring

/// The layers of all documents together for one key in one generation. Immutable.
public final class TargetLayers: Configuration {
    public let type: ObjectType
    /// In the order of the documents; a later layer covers an earlier one.
    public let stack: [Layer]
    /// The topmost layer of each property.
    public let effective: [Int: Layer]
    public let atMaking: [Int: Value]
    /// The layers that live objects take, in the order in which they are set. Layers of the block, and those that take
    /// effect at the next construction, are not included.
    public let live: [Layer]

    public init(type: ObjectType, stack: [Layer]) {
        self.type = type
        self.stack = stack
        var top: [Int: Layer] = [:]
        for layer in stack {
            // Layers of a nested struct are layers of each of its fields.
            let value = top[layer.property].map { layer.value.completed(from: $0.value) } ?? layer.value
            top[layer.property] = Layer(property: layer.property, value: value, location: layer.location)
        }
        effective = top
        let properties = type.description.properties
        atMaking = top.filter { properties[$0.key].takesRestart }.mapValues(\.value)
        var taken = Set<Int>()
        live = stack.compactMap { layer in
            let property = properties[layer.property]
            guard !property.isInBlock, !property.takesRestart, taken.insert(layer.property).inserted else { return nil }
            return top[layer.property]
        }
    }

    public func configure(_ object: Record) throws(Failure) {
        guard object.pointee.instance != nil else { return }
        var undo = Undo()
        do throws(Failure) {
            _ = try Tuning.change(object, to: self, undo: &undo)
        } catch {
            _ = undo.run()
            var failure = error
            if object.pointee.key > 0 {
                failure.path = type.container.keyName(object.pointee.key - 1) + "." + failure.path
            }
            throw failure
        }
    }

    /// The block that these layers give over the definition's base values.
    public static func block(of definition: Definition, layers: TargetLayers?) throws(Failure) -> Block? {
        guard let description = definition.type?.description, description.blockSize > 0 else { return nil }
        let block = try Block(size: description.blockSize)
        if let image = definition.body.blockImage, image.count == block.size {
            block.bytes.copyMemory(from: image, byteCount: block.size)
        } else {
            description.writeInitialBlock(to: block.bytes)
        }
        for injection in definition.body.properties {
            guard let name = injection.name, let value = injection.source.constant else { continue }
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
    /// Completes a partial map with the values of `other`; any other value is unchanged.
    func completed(from other: Value) -> Value {
        guard case .map(let own) = self, case .map(let whole) = other else { return self }
        var pairs = whole.map { pair in
            (
                name: pair.name,
                value: own.first { $0.name.isSameName(as: pair.name) }?.value.completed(from: pair.value) ?? pair.value
            )
        }
        pairs += own.filter { mine in !whole.contains { $0.name.isSameName(as: mine.name) } }
        return .map(pairs)
    }
}
