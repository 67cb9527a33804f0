internal import CPlatform
internal import InvivoBase

/// The content of a simple definition, in two words besides the type: a scope, flags, and one or two objects for the
/// initializer. `Definition` and `Recipe` are unpacked from it on each access; there may be a million of them.
///
/// `bits`, from the lowest: 1 for packed, 2 for the number of operands, 4 for the scope (0 = not declared), 8 for the
/// flags, for each operand 3 for its position and 1 for whether it was named, 40 for the order. `operands`: the offset
/// of each key's name in the table of keys.
struct PackedRecipe {
    let bits: UInt64
    let operands: UInt64

    static let none = PackedRecipe(bits: 0, operands: 0)
    var isPacked: Bool { bits & 1 != 0 }
    var operandCount: Int { Int(bits >> 1 & 3) }
    var saidScope: Scope? { Scope(rawValue: UInt32(bits >> 3 & 15)) }
    var flags: Definition.Flags { Definition.Flags(rawValue: UInt32(bits >> 7 & 255)) }
    func position(_ operand: Int) -> Int { Int(bits >> (15 + UInt64(operand) * 4) & 7) }
    func isNamed(_ operand: Int) -> Bool { bits >> (18 + UInt64(operand) * 4) & 1 != 0 }
    var order: DefinitionOrder { DefinitionOrder(number: bits >> 23) }
    func place(_ operand: Int) -> UInt32 { UInt32(truncatingIfNeeded: operands >> (UInt64(operand) * 32)) }

    private init(bits: UInt64, operands: UInt64) {
        self.bits = bits
        self.operands = operands
    }

    /// Nil for a definition that cannot be packed.
    init?(_ recipe: Recipe, _ type: ObjectType) {
        let definition = recipe.definition
        let body = definition.body
        guard recipe.saysOnlyItsInitializer, body.saysOnlyItsInitializer, body.initializer.count <= 2,
            recipe.slots.count == body.initializer.count, body.flags.rawValue < 256, body.order.number < 1 << 40,
            body.order.position == 0,
            !recipe.scope.isPlaced, recipe.scope.isShared || type.raw.pointee.is_simple == 1
        else { return nil }
        var bits = 1 | UInt64(body.initializer.count) << 1 | UInt64(body.scope?.rawValue ?? 0) << 3
        bits |= UInt64(body.flags.rawValue) << 7 | body.order.number << 23
        var operands: UInt64 = 0
        var ids: [UInt32] = []
        let parameters = type.description.signature.parameters
        for (index, injection) in body.initializer.enumerated() {
            guard case .reference(let key, false) = injection.source.kind, injection.source.parts.isEmpty,
                injection.hears == nil
            else { return nil }
            // An operand without a name fills the first free position. This is unambiguous only where no operand before
            // it is named.
            guard injection.name != nil || body.initializer[..<index].allSatisfy({ $0.name == nil }) else { return nil }
            let position =
                injection.name.map { name in parameters.firstIndex { $0.name.isSameName(as: name) } ?? 8 } ?? index
            guard position < 8, let slot = recipe.slots.first(where: { $0.position == position }),
                case .object(let id, let given, false) = slot.source, given.isEmpty,
                let place = type.keys.offset(of: id, named: key.text)
            else { return nil }
            if !ids.contains(id) { ids.append(id) }
            operands |= UInt64(place) << (UInt64(index) * 32)
            bits |= UInt64(position | (injection.name == nil ? 0 : 8)) << (15 + UInt64(index) * 4)
        }
        guard recipe.edges.map(\.id) == ids, recipe.edges.allSatisfy({ $0.edge == .initializer }) else { return nil }
        self.init(bits: bits, operands: operands)
    }

    /// Unpacks the definition of the key whose name has the offset `name`.
    func definition(_ name: UInt32, _ type: ObjectType) -> Definition {
        let keys = type.keys.table
        var body = Definition.Body()
        body.scope = saidScope
        body.flags = flags
        body.type = type
        body.order = order
        let parameters = type.description.signature.parameters
        body.initializer = (0..<operandCount).map { operand in
            Injection(
                name: isNamed(operand) ? parameters[position(operand)].name : nil,
                .reference(keys.entry(at: place(operand)).name))
        }
        let own = keys.entry(at: name)
        return Definition(id: own.id, key: own.name, body)
    }

    func recipe(_ name: UInt32, _ type: ObjectType) -> Recipe {
        let keys = type.keys.table
        let parameters = type.description.signature.parameters
        var slots: [Recipe.Slot] = []
        var edges: [(id: UInt32, edge: Recipe.Edge)] = []
        for operand in 0..<operandCount {
            let id = keys.entry(at: place(operand)).id
            let position = position(operand)
            slots.append(
                Recipe.Slot(
                    position: position, source: .object(id, arguments: [], isOptional: false),
                    parameter: position < parameters.count ? parameters[position] : nil))
            if !edges.contains(where: { $0.id == id }) { edges.append((id, .initializer)) }
        }
        if slots.count == 2 && slots[0].position > slots[1].position { slots.swapAt(0, 1) }
        return Recipe(
            definition(name, type), maker: .initializer, slots: slots, steps: [], before: [], after: [], afterAll: [],
            edges: edges, bindings: [:], wishes: [], asks: false, awaits: [])
    }
}

extension Recipe {
    /// Whether the definition has only an initializer and its arguments.
    fileprivate var saysOnlyItsInitializer: Bool {
        guard case .initializer = maker else { return false }
        return !asks && !isInCircle && needCount == 0 && decorators.isEmpty && undecorated == nil && steps.isEmpty
            && before.isEmpty && after.isEmpty && afterAll.isEmpty && bindings.isEmpty && wishes.isEmpty
            && missing.isEmpty && awaits.isEmpty && hearing.isEmpty
    }
}

extension Definition.Body {
    /// Whether it has only type, scope, flags, order and initializer.
    fileprivate var saysOnlyItsInitializer: Bool {
        let makes = factory != nil || keepAlive != nil || maker != nil || constant != nil || parameters != nil
        let injects =
            !properties.isEmpty || !methods.isEmpty || !before.isEmpty || !after.isEmpty || !afterAll.isEmpty
            || inject != nil || !base.isEmpty || blockImage != nil
        let names =
            scopeName != nil || alias != nil || origin != nil || choice != nil || parent != nil || typeName != nil
            || generic != nil
            || assembly != nil || each != nil || entry != nil || isPattern || owner != nil
        return !makes && !injects && !names && rank == 0 && startTimeout == 0 && stopTimeout == 0 && place == Place()
    }
}
