internal import CPlatform
internal import InvivoBase

/// A definition, or its compiled form, in as little memory as possible; there may be a million of them.
///
/// Most definitions consist of a type, a scope, flags, up to two objects for the initializer, constant properties, a source
/// location and an assembly. These are packed: `Definition` and `Recipe` are derived from them on demand. Other definitions
/// are kept as the object that they are.
///
/// Unchecked: all three kinds of `basis` are immutable.
struct PackedDefinition: @unchecked Sendable {
    /// The type of a packed definition, or its `DefinitionDetails`. If it is not packed, the object itself.
    private let basis: AnyObject
    /// From the lowest: 1 for packed, 2 the number of operands, 4 the scope (0 for none), 8 the flags, for each operand 3 its
    /// position and 1 whether it was named, 1 for details, 40 the order.
    private let bits: UInt64
    /// The offset of the name of each operand's key in the table of names.
    private let operands: UInt64
    /// The offset of the key's name.
    private let name: UInt32

    /// Keeps an object as it is.
    init(unpacked object: AnyObject) { (basis, bits, operands, name) = (object, 0, 0, 0) }

    /// Nil for a definition with other parts. Must not be called with the lock of the key table held.
    init?(_ definition: Definition) {
        guard let type = definition.body.type, definition.body.hasOnlyPackedParts,
            definition.body.initializer.count <= 2, definition.body.flags.rawValue < 256,
            definition.body.order.number < 1 << 40, definition.body.order.position == 0, !definition.scope.isPlaced,
            definition.scope.isShared || type.raw.pointee.is_simple == 1,
            let name = type.keys.offset(of: definition.id)
        else { return nil }
        var bits =
            1 | UInt64(definition.body.initializer.count) << 1 | UInt64(definition.body.scope?.rawValue ?? 0) << 3
        bits |= UInt64(definition.body.flags.rawValue) << 7 | definition.body.order.number << 24
        var operands: UInt64 = 0
        let parameters = type.description.signature.parameters
        for (index, injection) in definition.body.initializer.enumerated() {
            guard case .reference(let key, false) = injection.source.kind, injection.source.parts.isEmpty,
                injection.listeners == nil, injection.onChange == nil, !injection.owns
            else { return nil }
            // An injection without a name takes the first gap. That is its index only if no injection before it has a name.
            guard injection.name != nil || definition.body.initializer[..<index].allSatisfy({ $0.name == nil }) else {
                return nil
            }
            let position =
                injection.name.map { name in parameters.firstIndex { $0.name.isSameName(as: name) } ?? 8 } ?? index
            guard position < 8, let offset = type.keys.offset(of: key.text) else { return nil }
            operands |= UInt64(offset) << (UInt64(index) * 32)
            bits |= UInt64(position | (injection.name == nil ? 0 : 8)) << (15 + UInt64(index) * 4)
        }
        if definition.body.properties.isEmpty && definition.body.location == Location()
            && definition.body.assembly == nil
        {
            basis = type
        } else {
            guard let details = DefinitionDetails.of(definition, type) else { return nil }
            basis = details
            bits |= 1 << 23
        }
        (self.bits, self.operands, self.name) = (bits, operands, name)
    }

    /// Nil if anything else than the packed parts determines how objects are created.
    init?(_ recipe: Recipe) {
        self.init(recipe.definition)
        guard isCompiled(to: recipe) else { return nil }
    }

    var isPacked: Bool { bits & 1 != 0 }
    /// The object of a definition that is not packed.
    var unpacked: AnyObject? { isPacked ? nil : basis }
    private var details: DefinitionDetails? {
        bits >> 23 & 1 != 0 ? unsafeDowncast(basis, to: DefinitionDetails.self) : nil
    }
    /// The type of a packed definition.
    var type: ObjectType? { isPacked ? packedType : nil }
    private var packedType: ObjectType { details?.header.type ?? unsafeDowncast(basis, to: ObjectType.self) }
    /// The id of a packed definition.
    var id: UInt32? { isPacked ? packedType.keys.table.id(at: name) : nil }
    var declaredScope: Scope? { Scope(rawValue: UInt32(bits >> 3 & 15)) }

    private var operandCount: Int { Int(bits >> 1 & 3) }
    private func position(_ operand: Int) -> Int { Int(bits >> (15 + UInt64(operand) * 4) & 7) }
    private func isNamed(_ operand: Int) -> Bool { bits >> (18 + UInt64(operand) * 4) & 1 != 0 }
    private func offset(_ operand: Int) -> UInt32 { UInt32(truncatingIfNeeded: operands >> (UInt64(operand) * 32)) }

    /// Whether both are packed and equal.
    func isSame(as other: PackedDefinition) -> Bool {
        guard isPacked, bits == other.bits, operands == other.operands, name == other.name else { return false }
        guard let details, let others = other.details else { return basis === other.basis }
        return details.isSame(as: others)
    }

    /// Whether the recipe is derived from nothing but these parts.
    private func isCompiled(to recipe: Recipe) -> Bool {
        guard recipe.hasOnlyPackedParts, recipe.slots.count == operandCount,
            recipe.steps.count == details?.header.count ?? 0
        else { return false }
        let table = packedType.keys.table
        var ids: [UInt32] = []
        for operand in 0..<operandCount {
            let id = table.id(at: offset(operand))
            guard let slot = recipe.slots.first(where: { $0.position == position(operand) }),
                case .object(id, let arguments, false) = slot.source, arguments.isEmpty
            else { return false }
            if !ids.contains(id) { ids.append(id) }
        }
        guard recipe.references.edges.map(\.id) == ids,
            recipe.references.edges.allSatisfy({ $0.edge == .initializer })
        else { return false }
        return details?.properties.elementsEqual(recipe.steps) { property, step in
            guard case .property(index: property.index, .value(let value)) = step else { return false }
            return value.isSame(as: property.value)
        } ?? true
    }

    // MARK: derived

    /// The flags of a packed definition.
    var flags: Definition.Flags { Definition.Flags(rawValue: UInt32(bits >> 7 & 255)) }

    /// The definition of a packed one.
    var definition: Definition {
        let (type, details) = (packedType, details)
        let keys = type.keys.table
        var body = Definition.Body()
        body.scope = declaredScope
        body.flags = flags
        body.type = type
        body.order = DefinitionOrder(number: bits >> 24)
        let parameters = type.description.signature.parameters
        body.initializer = (0..<operandCount).map { operand in
            Injection(
                name: isNamed(operand) ? parameters[position(operand)].name : nil,
                .reference(keys.entry(at: offset(operand)).name))
        }
        if let details {
            body.location = details.header.location
            body.assembly = details.header.assembly
            body.properties = details.properties.map { property in
                Injection(name: type.description.properties[property.index].name, .value(property.value))
            }
        }
        let own = keys.entry(at: name)
        return Definition(id: own.id, key: own.name, body, details: details)
    }

    /// The compiled form of a packed definition.
    var recipe: Recipe {
        let type = packedType
        let keys = type.keys.table
        let parameters = type.description.signature.parameters
        var slots: [Recipe.Slot] = []
        var references = Recipe.References()
        for operand in 0..<operandCount {
            let id = keys.id(at: offset(operand))
            let position = position(operand)
            slots.append(
                Recipe.Slot(
                    position: position, source: .object(id, arguments: [], isOptional: false),
                    parameter: position < parameters.count ? parameters[position] : nil))
            if !references.edges.contains(where: { $0.id == id }) { references.add(id, .initializer) }
        }
        if slots.count == 2 && slots[0].position > slots[1].position { slots.swapAt(0, 1) }
        let steps = details?.properties.map { Recipe.Step.property(index: $0.index, .value($0.value)) }
        return Recipe(
            definition, maker: .initializer, slots: slots, steps: steps ?? [], references: references)
    }
}

/// The location, assembly and properties of a packed definition. Immutable.
///
/// A definition that is derived from a packed one refers to its details. An equal definition that is packed again shares them,
/// so an active definition shares the details of its assembly's description.
final class DefinitionDetails: ManagedBuffer<DefinitionParts, PackedProperty> {
    /// The details of a definition, shared with the definition that it is derived from if they are the same. Nil if it has other
    /// properties than constants.
    static func of(_ definition: Definition, _ type: ObjectType) -> DefinitionDetails? {
        let properties = definition.body.properties.compactMap { PackedProperty($0, type.description) }
        guard properties.count == definition.body.properties.count else { return nil }
        let parts = DefinitionParts(
            type: type, location: definition.body.location, assembly: definition.body.assembly, count: properties.count)
        if let known = definition.details, known.isSame(parts, properties) { return known }
        let made = unsafeDowncast(
            create(minimumCapacity: properties.count) { _ in parts }, to: DefinitionDetails.self)
        made.withUnsafeMutablePointerToElements { elements in
            for (index, property) in properties.enumerated() { (elements + index).initialize(to: property) }
        }
        return made
    }

    deinit { withUnsafeMutablePointers { _ = $1.deinitialize(count: $0.pointee.count) } }

    var properties: [PackedProperty] {
        withUnsafeMutablePointerToElements { Array(UnsafeBufferPointer(start: $0, count: header.count)) }
    }

    func isSame(as other: DefinitionDetails) -> Bool { self === other || isSame(other.header, other.properties) }

    private func isSame(_ parts: DefinitionParts, _ others: [PackedProperty]) -> Bool {
        header.type === parts.type && header.location == parts.location
            && header.assembly.isSameName(as: parts.assembly)
            && properties.elementsEqual(others) { $0.index == $1.index && $0.value.isSame(as: $1.value) }
    }
}

struct DefinitionParts: Sendable {
    let type: ObjectType
    let location: Location
    let assembly: String?
    /// The number of properties.
    let count: Int
}

/// A property with a constant.
struct PackedProperty: Sendable {
    let value: Value
    private let number: UInt16

    init?(_ injection: Injection, _ type: TypeDescription) {
        guard let name = injection.name, injection.listeners == nil, injection.onChange == nil, !injection.owns,
            injection.source.parts.isEmpty,
            let value = injection.source.constant, value.isPacked,
            let (property, isFormerName) = try? type.property(named: name), !isFormerName,
            let number = UInt16(exactly: type.index(of: property))
        else { return nil }
        (self.value, self.number) = (value, number)
    }

    var index: Int { Int(number) }
}

extension Value {
    /// Whether a packed property may have it: it refers to no object or function, and equal values cannot be told apart.
    fileprivate var isPacked: Bool {
        switch self {
        case .null, .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .string,
            .bytes:
            true
        case .list, .map, .object, .type, .callable, .enumeration: false
        }
    }
}

extension Recipe {
    /// Whether there is nothing but an initializer, its objects, and steps.
    fileprivate var hasOnlyPackedParts: Bool {
        guard case .initializer = maker else { return false }
        return !isInCycle && needCount == 0 && decorators.isEmpty && undecorated == nil && before.isEmpty
            && after.isEmpty && afterAll.isEmpty && references.haveOnlyEdges
    }
}

extension Definition.Body {
    /// Whether there is nothing but a type, scope, flags, order, initializer, properties, source location and assembly.
    fileprivate var hasOnlyPackedParts: Bool {
        let makes = factory != nil || keepAlive != nil || maker != nil || constant != nil || parameters != nil
        let injects =
            !methods.isEmpty || !before.isEmpty || !after.isEmpty || !afterAll.isEmpty || inject != nil || !base.isEmpty
            || blockImage != nil || isPartial
        let names =
            scopeName != nil || alias != nil || origin != nil || choice != nil || parent != nil || typeName != nil
            || generic != nil || each != nil || entry != nil || isPattern || owner != nil || specKey != nil
        return !makes && !injects && !names && rank == 0 && startTimeout == 0 && stopTimeout == 0
            && onChange == nil && onChangeReason == nil
    }
}
