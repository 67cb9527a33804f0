internal import CInvivo

/// A property as it is declared to the runtime.
struct Property: Sendable {
    var name: String
    /// Evaluated when the type is registered, because the description of a class may refer to the class.
    var shape: @Sendable () -> InvivoShape
    var about: About
    /// A field of a block lies at this offset; a property of an instance has accessors instead.
    var place: Place

    enum Place: Sendable {
        case field(offset: Int, size: Int)
        case accessors(get: Get, set: Set?, verify: Verify?)
    }
    typealias Get = @Sendable (AnyObject) throws -> InvivoValue
    typealias Set = @Sendable (AnyObject, InvivoValue) throws -> Void
    typealias Verify = @Sendable (InvivoValue) throws -> Void

    /// The metadata of a property for people, editors and checks.
    struct About: Sendable {
        var range: ClosedRange<Double>?
        var step: Double?
        var unit: String?
        var codec = PropertyCodec.none
        var text: String?
        var was: [String] = []
        var restart = false
        /// Messages do not show its values.
        var secret = false
    }

    /// The C side's description; `box` (of properties with accessors) must live as long as the type.
    func described(_ arena: Arena, box: PropertyBox?) throws(InvivoError) -> invivo_property {
        var property = invivo_property()
        property.struct_size = MemoryLayout<invivo_property>.size
        let shape = shape()
        property.name = try arena.name(name)
        // A property that takes objects also takes null; its kind is known nevertheless.
        let isNullable = shape.isOptional && shape.choices.isEmpty && shape.kind != .object
        property.kind = (isNullable ? InvivoKind.any : shape.kind).rawValue
        if about.restart { property.flags |= UInt32(INVIVO_PROPERTY_RESTART) }
        if about.secret { property.flags |= UInt32(INVIVO_PROPERTY_SECRET) }
        if let range = about.range {
            property.min = range.lowerBound
            property.max = range.upperBound
        }
        property.step = about.step ?? 0
        property.unit = try arena.name(about.unit)
        property.codec = about.codec.rawValue
        property.text = try arena.name(about.text)
        property.was = try arena.names(about.was)
        property.was_count = UInt64(about.was.count)
        var choices: [invivo_choice] = []
        for choice in shape.choices {
            choices.append(invivo_choice(name: try arena.name(choice.name), number: choice.number))
        }
        property.choices = UnsafePointer(arena.table(choices))
        property.choice_count = UInt64(choices.count)
        switch place {
        case .field(let offset, let size):
            property.flags |= UInt32(INVIVO_PROPERTY_BLOCK)
            property.offset = UInt64(offset)
            property.size = UInt64(size)
        case .accessors(_, let set, let verify):
            property.get = PropertyBox.get
            if set == nil {
                property.flags |= UInt32(INVIVO_PROPERTY_READ_ONLY)
            } else {
                property.set = PropertyBox.set
            }
            if verify != nil { property.verify = PropertyBox.verify }
            property.user_data = box.map { Unmanaged.passUnretained($0).toOpaque() }
        }
        return property
    }
}

/// The Swift side of a property with accessors; owned by the box of its type.
final class PropertyBox: Sendable {
    private let core: Core
    private let read: Property.Get
    private let write: Property.Set?
    private let check: Property.Verify?

    init?(_ property: Property, _ core: Core) {
        guard case .accessors(let get, let set, let verify) = property.place else { return nil }
        self.core = core
        read = get
        write = set
        check = verify
    }

    static let get:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<invivo_value>?, ErrorOut?
        ) -> invivo_status = { instance, data, out, error in
            guard let instance, let data else { return InvivoError.Code.internal.rawValue }
            let box = Unmanaged<PropertyBox>.fromOpaque(data).takeUnretainedValue()
            let object = Unmanaged<AnyObject>.fromOpaque(instance).takeUnretainedValue()
            return answering(box.core, error) { try box.read(object).answered(out, box.core) }
        }

    static let set:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, ErrorOut?
        ) -> invivo_status = { instance, data, value, error in
            guard let instance, let data, let value else { return InvivoError.Code.internal.rawValue }
            let box = Unmanaged<PropertyBox>.fromOpaque(data).takeUnretainedValue()
            let object = Unmanaged<AnyObject>.fromOpaque(instance).takeUnretainedValue()
            return answering(box.core, error) {
                try box.write?(object, try InvivoValue(reading: value.pointee, box.core, .component))
            }
        }

    static let verify:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, ErrorOut?) -> invivo_status = {
            data, value, error in
            guard let data, let value else { return InvivoError.Code.internal.rawValue }
            let box = Unmanaged<PropertyBox>.fromOpaque(data).takeUnretainedValue()
            return answering(box.core, error) {
                try box.check?(try InvivoValue(reading: value.pointee, box.core, .component))
            }
        }
}
