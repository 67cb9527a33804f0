public import CInvivo

/// The fields of a trait type: the parameters that a spec file gives. Immutable.
public struct FieldTable: Sendable {
    public let properties: [Property]
    /// The size of the struct that the fields describe; 0 without one.
    public let size: Int
    private let required: Set<Int>

    /// Reads a table of type.h. Throws all errors at once. `path` is the name of the trait type.
    public init(
        _ pointer: UnsafePointer<invivo_property>?, _ count: UInt64, size given: UInt64, path: String
    ) throws(Failure) {
        var reader = TableReader(store: CStrings())
        if given > UInt64(TypeDescription.largest) {
            reader.problem(path, "the size \(given) is too large", .tooLarge)
        }
        let size = Int(min(given, UInt64(TypeDescription.largest)))
        let entries = reader.versionedElements(pointer, count, least: PropertyTable.least, "fields", path: path)
        var properties: [Property] = []
        var required: Set<Int> = []
        for (index, entry) in entries.enumerated() {
            let isRequired = entry.flags & UInt32(INVIVO_PROPERTY_REQUIRED) != 0
            // The initial value of a required field is never used.
            let instance = PropertyTable.Struct(
                size: size > 0 ? size : nil, setsInitial: size > 0 && !isRequired, name: "the struct of the fields")
            let table = PropertyTable(instance: instance, block: nil, isOfTrait: true)
            var field = entry
            if entry.get != nil || entry.set != nil || entry.capture != nil || entry.verify != nil {
                reader.problem(path, "the field \(index) has functions")
                continue
            }
            guard size > 0 || entry.size == 0 else {
                reader.problem(
                    path,
                    "the field \(index) has a size, and the struct of the fields has none: set size to the size of the struct that the "
                        + "fields describe, or leave offset and size of the fields 0 if there is no struct")
                continue
            }
            if size == 0 { (field.get, field.set) = (Self.noValue, Self.noSetter) }
            guard let found = table.property(field, index, path: path, &reader) else { continue }
            if isRequired { required.insert(properties.count) }
            properties.append(found.property)
        }
        reader.requireDistinct(properties.flatMap(\.names), path: path) {
            "the field name '\($0)' is used twice (former names count)"
        }
        if let failure = Failure.gathered(reader.problems) { throw failure }
        self.properties = properties
        self.size = size
        self.required = required
    }

    /// A field without a struct is never read or set: these functions stand for its memory.
    private static let noValue: Property.Getter = { _, _, _, _ in invivo_status(INVIVO_E_UNSUPPORTED) }
    private static let noSetter: Property.Setter = { _, _, _, _ in invivo_status(INVIVO_E_UNSUPPORTED) }

    public func isRequired(_ index: Int) -> Bool { required.contains(index) }

    /// The field with this name or former name.
    public func index(named name: String) -> Int? { properties.index(named: name) }

    /// Writes the values of all fields to zeroed memory of `size` bytes.
    public func write(_ values: [Value], to memory: UnsafeMutableRawPointer) {
        for (property, value) in zip(properties, values) {
            property.writeInitial(to: memory)
            if !value.isNull { property.write(value, to: memory) }
        }
    }
}
