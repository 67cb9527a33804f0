internal import CInvivo

/// The description of a registered type of any language. Read again at each use, on any thread; empty once the runtime
/// is closed.
extension TypeReference {
    /// The description of a property.
    public struct Property {
        public let name: String
        public let kind: InvivoKind
        public let isReadOnly: Bool
        /// Values of documents take effect when the next object is created.
        public let needsRestart: Bool
        /// Messages do not show its values.
        public let isSecret: Bool
        /// Whether it is a field of a block, and read in views.
        public let isInBlock: Bool
        /// The allowed range, where it is smaller than that of the kind.
        public let minimum: Double?
        public let maximum: Double?
        /// A hint for editors.
        public let step: Double?
        /// The unit. With "Hz", documents may contain `1.2 kHz`.
        public let unit: String?
        /// The text form of its values in documents.
        public let codec: PropertyCodec
        /// One line for people.
        public let text: String?
        /// Its initial value; nil if the type declares none.
        public let initial: InvivoValue?
        /// The names of an enumeration, in the type's order.
        public let choices: [Choice]
        /// Former names, which documents may still contain.
        public let was: [String]
        /// The fields of a nested struct.
        public let fields: [Property]
    }

    /// One value of an enumeration.
    public struct Choice: Sendable, Hashable {
        public let name: String
        public let number: Int64
    }

    /// A parameter of an initializer or of a method.
    public struct Parameter: Sendable, Hashable {
        public let name: String
        /// The kind of the parameter. `.any`: any kind.
        public let kind: InvivoKind
        /// May be left out or null.
        public let isOptional: Bool
        /// Errors show none of its values.
        public let isSecret: Bool
        /// For objects: the name of the required type; nil: any type.
        public let type: String?
    }

    /// The description of a method.
    public struct Method: Sendable, Hashable {
        public let name: String
        /// One line for people.
        public let text: String?
        public let parameters: [Parameter]
        /// `.null`: none; `.any`: it varies.
        public let result: InvivoKind
    }

    public var properties: [Property] {
        read(core.table.pointee.type_property_count(handle)) { index in
            var one = invivo_property()
            one.struct_size = MemoryLayout<invivo_property>.size
            guard core.table.pointee.type_property_at(handle, index, &one) == 0 else { return nil }
            return Property(one, core)
        }
    }

    /// The parameters of its initializer.
    public var parameters: [Parameter] {
        read(core.table.pointee.type_parameter_count(handle)) { index in
            var one = invivo_parameter()
            guard core.table.pointee.type_parameter_at(handle, index, &one) == 0 else { return nil }
            return Parameter(one)
        }
    }

    public var methods: [Method] {
        read(core.table.pointee.type_method_count(handle)) { index in
            var one = invivo_method()
            one.struct_size = MemoryLayout<invivo_method>.size
            guard core.table.pointee.type_method_at(handle, index, &one) == 0 else { return nil }
            let method = Method(one)
            return method.name.contains(":") ? nil : method  // of a language's own, not of the type's author
        }
    }

    private func read<Member>(_ count: UInt64, _ member: (UInt64) -> Member?) -> [Member] {
        (0..<count).compactMap(member)
    }
}

extension TypeReference.Property {
    init(_ raw: invivo_property, _ core: Core) {
        func says(_ flag: Int) -> Bool { raw.flags & UInt32(flag) != 0 }
        kind = InvivoKind(rawValue: raw.kind) ?? .any
        name = String(text: raw.name)
        isReadOnly = says(INVIVO_PROPERTY_READ_ONLY)
        needsRestart = says(INVIVO_PROPERTY_RESTART)
        isSecret = says(INVIVO_PROPERTY_SECRET)
        isInBlock = says(INVIVO_PROPERTY_BLOCK)
        let limits = kind.limits
        minimum = raw.min < raw.max && raw.min > limits.lowerBound ? raw.min : nil
        maximum = raw.min < raw.max && raw.max < limits.upperBound ? raw.max : nil
        step = raw.step == 0 ? nil : raw.step
        unit = raw.unit.map { String(cString: $0) }
        codec = PropertyCodec(rawValue: raw.codec) ?? .none
        text = raw.text.map { String(cString: $0) }
        initial = raw.initial_value.flatMap { try? InvivoValue(reading: $0.pointee, core) }
        choices = UnsafeBufferPointer(start: raw.choices, count: Int(raw.choice_count)).map {
            TypeReference.Choice(name: String(text: $0.name), number: $0.number)
        }
        was = UnsafeBufferPointer(start: raw.was, count: Int(raw.was_count)).map { String(text: $0) }
        fields = UnsafeBufferPointer(start: raw.fields, count: Int(raw.field_count)).map {
            TypeReference.Property($0, core)
        }
    }
}

extension TypeReference.Parameter {
    fileprivate init(_ raw: invivo_parameter) {
        name = String(text: raw.name)
        kind = InvivoKind(rawValue: raw.kind) ?? .any
        isOptional = raw.flags & UInt32(INVIVO_PARAMETER_OPTIONAL) != 0
        isSecret = raw.flags & UInt32(INVIVO_PARAMETER_SECRET) != 0
        type = raw.type_name.map { String(cString: $0) }
    }
}

extension TypeReference.Method {
    fileprivate init(_ raw: invivo_method) {
        name = String(text: raw.name)
        text = raw.text.map { String(cString: $0) }
        parameters = UnsafeBufferPointer(start: raw.parameters, count: Int(raw.parameter_count)).map {
            TypeReference.Parameter($0)
        }
        result = InvivoKind(rawValue: raw.result) ?? .any
    }
}

extension InvivoKind {
    /// The least and the largest number that the kind holds, of those that are a Double.
    fileprivate var limits: ClosedRange<Double> {
        switch self {
        case .int8: Double(Int8.min)...Double(Int8.max)
        case .int16: Double(Int16.min)...Double(Int16.max)
        case .int32: Double(Int32.min)...Double(Int32.max)
        case .int64: -0x1p63...0x1p63.nextDown
        case .uint8: 0...Double(UInt8.max)
        case .uint16: 0...Double(UInt16.max)
        case .uint32: 0...Double(UInt32.max)
        case .uint64: 0...0x1p64.nextDown
        default: -Double.infinity...Double.infinity
        }
    }
}
