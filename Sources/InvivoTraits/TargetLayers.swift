internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

/// The layers of all documents together for one key in one generation. Immutable.
public final class TargetLayers: Configuration {
    public let type: ObjectType
    /// The topmost layer of each property, as if no trait ran code.
    public let effective: [Int: Layer]
    public let atCreation: [Int: Value]
    /// The layers that live objects take below the first trait that runs code, in the order in which they are set. Layers of
    /// the block, and those that take effect at the next construction, are not included.
    public let live: [Layer]
    /// The traits that run code, from the lowest, with the layers above each.
    public let above: [CodeSegment]
    /// Whether a property of live objects moves to the value of its layer.
    public let moves: Bool

    /// `items` are in the order of the documents; a later one lies over an earlier one.
    public init(type: ObjectType, _ items: [StackItem]) throws(Failure) {
        self.type = type
        let properties = type.description.properties
        var segments: [(application: CodeApplication, layers: [DeclaredLayer])] = []
        var lowest: [DeclaredLayer] = []
        var all: [DeclaredLayer] = []
        for item in items {
            switch item {
            case .code(let application):
                if let moving = all.first(where: { $0.ramp != nil }) {
                    throw Failure(
                        .spec,
                        "the trait '\(application.type.name)' runs code, which cannot lie above a Ramp "
                            + "(\(moving.location.location.text)): a value below it would change all the time. List the Ramp after it",
                        path: application.path, at: application.location.location)
                }
                segments.append((application, []))
            case .layer(let layer):
                all.append(layer)
                if segments.isEmpty { lowest.append(layer) } else { segments[segments.count - 1].layers.append(layer) }
            }
        }
        effective = try Self.top(of: all, properties)
        moves = effective.contains { $0.value.ramp != nil && !properties[$0.key].isInBlock }
        var atCreation: [Int: Value] = [:]
        for (index, layer) in effective where properties[index].takesRestart {
            guard layer.steps == nil else {
                throw Failure(
                    .type,
                    "'\(properties[index].name)' takes effect when the object is next created: set it below, because there is no "
                        + "value then that could be changed", path: properties[index].name,
                    at: layer.location.location)
            }
            atCreation[index] = layer.value
        }
        self.atCreation = atCreation
        live = Self.live(lowest, segments.isEmpty ? effective : try Self.top(of: lowest, properties), properties)
        above = try segments.map { (segment) throws(Failure) in
            CodeSegment(
                application: segment.application,
                live: Self.live(segment.layers, try Self.top(of: segment.layers, properties), properties))
        }
    }

    /// The topmost layer of each property.
    private static func top(of layers: [DeclaredLayer], _ properties: [Property]) throws(Failure) -> [Int: Layer] {
        var top: [Int: Layer] = [:]
        for layer in layers {
            top[layer.property] = try layer.over(top[layer.property], properties[layer.property])
        }
        return top
    }

    private static func live(_ layers: [DeclaredLayer], _ top: [Int: Layer], _ properties: [Property]) -> [Layer] {
        var taken = Set<Int>()
        return layers.compactMap { layer in
            let property = properties[layer.property]
            guard !property.isInBlock, !property.takesRestart, taken.insert(layer.property).inserted else { return nil }
            return top[layer.property]
        }
    }

    public func configure(_ object: Record) throws(Failure) {
        guard object.pointee.instance != nil else { return }
        var undo = Undo()
        do throws(Failure) {
            _ = try Tuning.change(object, to: self, isNew: true, undo: &undo)
        } catch {
            _ = undo.run()
            var failure = error
            if object.pointee.key > 0 {
                failure.path = type.container.keyName(object.pointee.key - 1) + "." + failure.path
            }
            throw failure
        }
        if moves, object.pointee.key > 0 { Tuning.onMoving?(type.container, object, object.pointee.key - 1) }
    }

    /// Creates the block that shows these layers over the base values of the definition. Properties that move have their present value.
    public static func block(
        of definition: Definition, layers: TargetLayers?, _ movement: inout BlockMovement
    ) throws(Failure) -> Block? {
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
            let property = description.properties[index]
            let value = try layer.steps?.value(over: property.read(block.bytes), property) ?? layer.value
            property.write(movement.value(of: index, layer, value, property), to: block.bytes)
        }
        return block
    }

    /// Throws if a value over one of the block of a definition is not possible.
    public func checkBlock(of definition: Definition) throws(Failure) {
        guard definition.type === type,
            effective.contains(where: { type.description.properties[$0].isInBlock && $1.steps != nil })
        else { return }
        var movement = BlockMovement(nil, under: nil, [:])
        _ = try Self.block(of: definition, layers: self, &movement)
    }

    /// The layers whose values only functions of the host can check, each value of a property once.
    func unverified(for key: String) -> [LayerCheck] {
        let properties = type.description.properties
        guard properties.contains(where: \.isVerifiedByHost) else { return [] }
        var found: [Layer] = []
        for layer in effective.values.sorted(by: { $0.property < $1.property }) + live + above.flatMap(\.live) {
            guard properties[layer.property].isVerifiedByHost, !layer.isRelative,
                !found.contains(where: { $0.property == layer.property && $0.value.isSame(as: layer.value) })
            else { continue }
            found.append(layer)
        }
        return found.map { LayerCheck(property: properties[$0.property], layer: $0, key: key) }
    }

    /// Whether these layers show the same as a layer over the property with this index.
    func shows(_ layer: Layer, _ index: Int) -> Bool { effective[index]?.shows(sameAs: layer) == true }

    /// Returns a planned block with the present values of the properties that move: `newest` has moved since the plan was made. Movements
    /// that the plan changes begin at these values. Returns the planned block if there is no memory for another one.
    public static func followed(
        _ planned: Block, by newest: Block, of type: ObjectType, _ layers: TargetLayers?, after former: TargetLayers?,
        _ runs: inout [Int: RampRun]
    ) -> Block {
        guard let block = try? Block(copying: planned) else { return planned }
        for (index, layer) in layers?.effective ?? [:] {
            let property = type.description.properties[index]
            guard property.isInBlock, let ramp = layer.ramp else { continue }
            let end = runs[index]?.end ?? property.read(planned.bytes)
            let shown = property.read(newest.bytes).picked(like: end)
            if former?.shows(layer, index) == true {
                guard runs[index] != nil else { continue }
            } else {
                runs[index] = RampRun.between(shown, end, over: ramp, of: property)
            }
            property.write(runs[index] == nil ? end : shown, to: block.bytes)
        }
        return block
    }
}
