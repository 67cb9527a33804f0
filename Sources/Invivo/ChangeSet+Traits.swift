internal import CInvivo

/// The layers that a trait type declares, in order. Valid during the call of the function that receives it, on its thread.
public struct TraitLayers {
    private let core: Core
    private let pointer: OpaquePointer?

    fileprivate init(_ core: Core, _ pointer: OpaquePointer?) {
        self.core = core
        self.pointer = pointer
    }

    /// Sets a property.
    public func set(_ property: String, _ value: some InvivoConvertible) throws(InvivoError) {
        let value = try value.asInvivo()
        try withArena { arena throws(InvivoError) in
            var value = try value.borrowed(arena, core)
            try core.call(naming: property) { $0.pointee.layers_set(pointer, $1, &value, $2) }
        }
    }

    /// Multiplies the value of the layer below, or the base value, by a number.
    public func scale(_ property: String, by factor: Double) throws(InvivoError) {
        try core.call(naming: property) { $0.pointee.layers_scale(pointer, $1, factor, $2) }
    }

    /// Adds a number to the value of the layer below, or to the base value.
    public func offset(_ property: String, by amount: Double) throws(InvivoError) {
        try core.call(naming: property) { $0.pointee.layers_offset(pointer, $1, amount, $2) }
    }
}

extension ChangeSet {
    /// Adds a trait type, or replaces the one with the same name: its applications are reversed by the former type, and applied by
    /// this one, in the same reload.
    public func addTrait<Fields>(_ trait: TraitType<Fields>) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            var options = invivo_trait()
            options.struct_size = MemoryLayout<invivo_trait>.size
            options.name = try arena.name(trait.name)
            options.text = try arena.name(trait.text)
            options.targets = try arena.names(trait.targets.map { core.name(of: $0) })
            options.target_count = UInt64(trait.targets.count)
            var fields: [invivo_property] = []
            for field in trait.fields { fields.append(try field.described(arena, core)) }
            options.fields = UnsafePointer(arena.table(fields))
            options.field_count = UInt64(fields.count)
            if trait.check != nil { options.check = TraitBox.check }
            if trait.layers != nil { options.layers = TraitBox.layers }
            if trait.apply != nil { options.apply = TraitBox.apply }
            let pointer = Unmanaged.passRetained(TraitBox(core, trait))
            options.user_data = pointer.toOpaque()
            options.destroy = { data in if let data { Unmanaged<TraitBox>.fromOpaque(data).release() } }
            do throws(InvivoError) {
                try core.call { $0.pointee.changes_add_trait(handle, &options, $1) }
            } catch {
                pointer.release()
                throw error
            }
        }
    }

    /// Removes a trait type by its name, and reverses its applications.
    public func removeTrait(_ name: String) throws(InvivoError) {
        try core.call(naming: name) { $0.pointee.changes_remove_trait(handle, $1, $2) }
    }
}

extension Runtime {
    /// Adds or replaces a trait type, as one reload: see `ChangeSet.addTrait`.
    public func addTrait<Fields>(_ trait: TraitType<Fields>) throws { try changes { try $0.addTrait(trait) } }

    /// Removes a trait type by its name, as one reload.
    public func removeTrait(_ name: String) throws { try changes { try $0.removeTrait(name) } }
}

extension Core {
    /// The registered name of the accepted type, which need not be registered yet.
    fileprivate func name<Fields>(of target: TraitType<Fields>.Target) -> String {
        switch target {
        case .name(let name): return name
        case .type(let type):
            if let bits = registry.withLock({ $0.described[ObjectIdentifier(type)] }) {
                return TypeReference(self, invivo_type(bits: bits)).name
            }
            if let described = type as? any InvivoObject.Type { return described.registeredName }
            return kindName(type)
        }
    }
}

extension InvivoObject {
    fileprivate static var registeredName: String { invivoType.name }
}

extension TraitType.Field {
    /// The C side's description. Fields without a value are null, so an optional has the kind of its values.
    fileprivate func described(_ arena: Arena, _ core: Core) throws(InvivoError) -> invivo_property {
        var described = try property.described(arena, box: nil)
        described.kind = property.shape().kind.rawValue
        (described.get, described.set, described.user_data) = (nil, nil, nil)
        if isRequired {
            described.flags |= UInt32(INVIVO_PROPERTY_REQUIRED)
        } else {
            let start = try initial()
            if start != .null {
                described.initial_value = UnsafePointer(arena.table([try start.borrowed(arena, core)]))
            }
        }
        return described
    }
}

/// The reversal of one application of a trait.
///
/// The closure may capture values that are not Sendable. It is called where the object belongs, as the function that created it.
final class TraitReversal: @unchecked Sendable {
    let repeats: Bool
    private let body: (Object) throws -> Void

    init(repeats: Bool, _ body: @escaping (Object) throws -> Void) {
        self.repeats = repeats
        self.body = body
    }

    func run(_ object: Object) throws { try body(object) }
}

/// A trait type as the C side holds it: its functions, which receive the values of its fields. Immutable.
private final class TraitBox: Sendable {
    private let core: Core
    private let check: @Sendable ([InvivoValue], UnsafeMutablePointer<Int>?) throws -> Void
    private let declare: @Sendable ([InvivoValue], TraitLayers) throws -> Void
    private let apply: @Sendable (Object, [InvivoValue]) throws -> TraitReversal?

    init<Fields>(_ core: Core, _ trait: TraitType<Fields>) {
        self.core = core
        check = { values, at in
            do { try trait.check?(try trait.fields(values)) } catch let refusal as TraitRefusal {
                let index = trait.fields.firstIndex { $0.property.name == refusal.field }
                if let index { at?.pointee = index }
                throw InvivoError(.host, refusal.message)
            }
        }
        declare = { values, layers in try trait.layers?(try trait.fields(values), layers) }
        apply = { object, values in try trait.apply?(object, try trait.fields(values)) }
    }

    private static func box(_ data: UnsafeMutableRawPointer) -> TraitBox {
        Unmanaged<TraitBox>.fromOpaque(data).takeUnretainedValue()
    }

    static let check: CheckFunction = { _, values, count, at, data, error in
        guard let data else { return InvivoError.Code.internal.rawValue }
        let box = box(data)
        return answering(box.core, error) {
            try box.check(try InvivoValue.array(values, count, box.core, .component), at)
        }
    }

    static let layers: LayersFunction = { _, values, count, layers, data, error in
        guard let data else { return InvivoError.Code.internal.rawValue }
        let box = box(data)
        return answering(box.core, error) {
            try box.declare(
                try InvivoValue.array(values, count, box.core, .component), TraitLayers(box.core, layers))
        }
    }

    static let apply: ApplyFunction = { target, _, _, values, count, reversal, data, error in
        guard let data else { return InvivoError.Code.internal.rawValue }
        let box = box(data)
        return answering(box.core, error) {
            let object = try Object(holding: target, box.core, .component)
            let values = try InvivoValue.array(values, count, box.core, .component)
            guard let taken = try box.apply(object, values), let reversal else { return }
            reversal.pointee.data = Unmanaged.passRetained(HeldReversal(box.core, taken)).toOpaque()
            reversal.pointee.revert = HeldReversal.revert
            reversal.pointee.destroy = { data in if let data { Unmanaged<HeldReversal>.fromOpaque(data).release() } }
            if taken.repeats, reversal.pointee.struct_size >= MemoryLayout<invivo_reversal>.size {
                reversal.pointee.flags = UInt32(INVIVO_REVERSAL_REPEATS)
            }
        }
    }

    typealias CheckFunction =
        @convention(c) (
            UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?,
            ErrorOut?
        ) -> invivo_status
    typealias LayersFunction =
        @convention(c) (
            UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int, OpaquePointer?, UnsafeMutableRawPointer?, ErrorOut?
        ) -> invivo_status
    typealias ApplyFunction =
        @convention(c) (
            invivo_object, UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int,
            UnsafeMutablePointer<invivo_reversal>?, UnsafeMutableRawPointer?, ErrorOut?
        ) -> invivo_status
}

/// A reversal as the C side holds it.
private final class HeldReversal: Sendable {
    private let core: Core
    private let reversal: TraitReversal

    init(_ core: Core, _ reversal: TraitReversal) {
        self.core = core
        self.reversal = reversal
    }

    static let revert:
        @convention(c) (invivo_object, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, ErrorOut?) -> invivo_status =
            { target, _, data, error in
                guard let data else { return InvivoError.Code.internal.rawValue }
                let held = Unmanaged<HeldReversal>.fromOpaque(data).takeUnretainedValue()
                return answering(held.core, error) {
                    try held.reversal.run(try Object(holding: target, held.core, .component))
                }
            }
}

extension TraitType {
    /// The fields with these values; one without a value keeps the initial one.
    fileprivate func fields(_ values: [InvivoValue]) throws(InvivoError) -> Fields {
        var read = initial
        for (field, value) in zip(fields, values) where value != .null { try field.store(&read, value) }
        return read
    }
}
