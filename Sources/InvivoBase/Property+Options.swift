internal import CInvivo

/// Creates properties from the tables of type.h.
struct PropertyTable {
    /// The struct that the offsets of the table refer to.
    struct Struct {
        /// The size in bytes; nil if only the host knows it.
        var size: Int?
        /// Whether the runtime writes the initial values, which must then be valid.
        var setsInitial: Bool
        var name: String
        /// The initial bytes, if they were given; valid while the table is read.
        var image: UnsafeRawPointer?
    }

    let instance: Struct
    /// Nil for the fields of a nested struct.
    let block: Struct?
    var depth = 0
    /// Whether the entries are fields of a trait type, which have none of the flags of a property.
    var isOfTrait = false

    static let deepest = 16
    static let least = MemoryLayout<invivo_property>.offset(of: \.initial) ?? 0

    /// The properties of a table, and the copy of the table that C may read while the type lives.
    func properties(
        _ pointer: UnsafePointer<invivo_property>?, _ count: UInt64, path: String, _ reader: inout TableReader
    ) -> (properties: [Property], copies: UnsafePointer<invivo_property>?) {
        let entries = reader.versionedElements(pointer, count, least: Self.least, "properties", path: path)
        let result = entries.enumerated().compactMap { property($1, $0, path: path, &reader) }
        reader.requireDistinct(result.flatMap(\.property.names), path: path) {
            "the property name '\($0)' is used twice (former names count)"
        }
        return (result.map(\.property), reader.store.table(result.map(\.copy)))
    }

    func property(
        _ entry: invivo_property, _ index: Int, path typePath: String, _ reader: inout TableReader
    ) -> (property: Property, copy: invivo_property)? {
        let before = reader.problems.count
        guard let name = reader.name(entry.name, "the name of property \(index)", path: typePath) else { return nil }
        let path = "\(typePath).\(name)"
        guard let kind = reader.kind(entry.kind, "the kind", path: path) else { return nil }
        var parts = Property.Parts(name: name, kind: kind)
        parts.text = reader.optional(entry.text, "the text", path: path)
        parts.unit = reader.optional(entry.unit, "the unit", path: path)
        parts.was = reader.names(entry.was, entry.was_count, "former names", path: path)
        parts.step = entry.step
        readFlags(entry, &parts, path: path, &reader)
        readChoices(entry, &parts, path: path, &reader)
        readAccess(entry, &parts, path: path, &reader)
        let fields = readFields(entry, &parts, path: path, &reader)
        readCodec(entry.codec, &parts, path: path, &reader)
        readRange(entry, &parts, path: path, &reader)
        guard reader.problems.count == before else { return nil }
        readInitial(entry, &parts, path: path, &reader)
        guard reader.problems.count == before else { return nil }
        return (Property(parts), copy(of: entry, parts, fields: fields, reader.store))
    }

    // MARK: Its parts

    private func readFlags(
        _ entry: invivo_property, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader
    ) {
        let known =
            isOfTrait
            ? UInt32(INVIVO_PROPERTY_REQUIRED | INVIVO_PROPERTY_SECRET)
            : UInt32(
                INVIVO_PROPERTY_READ_ONLY | INVIVO_PROPERTY_RESTART | INVIVO_PROPERTY_BLOCK
                    | INVIVO_PROPERTY_NOT_TUNABLE | INVIVO_PROPERTY_SECRET)
        if entry.flags & ~known != 0 { reader.problem(path, "the flags \(entry.flags) contain unknown ones") }
        parts.isReadOnly = entry.flags & UInt32(INVIVO_PROPERTY_READ_ONLY) != 0
        parts.isTunable = entry.flags & UInt32(INVIVO_PROPERTY_NOT_TUNABLE) == 0
        parts.takesRestart = entry.flags & UInt32(INVIVO_PROPERTY_RESTART) != 0
        parts.isSecret = entry.flags & UInt32(INVIVO_PROPERTY_SECRET) != 0
        // A nested struct is in the block if its outermost property is.
        parts.isInBlock = depth == 0 && entry.flags & UInt32(INVIVO_PROPERTY_BLOCK) != 0
        if !entry.step.isFinite || entry.step < 0 { reader.problem(path, "the step \(entry.step) is not a distance") }
    }

    private func readChoices(
        _ entry: invivo_property, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader
    ) {
        let entries = reader.elements(entry.choices, entry.choice_count, "choices", path: path)
        guard entry.choice_count > 0 else {
            if parts.kind == .enumeration {
                reader.problem(path, "an enumeration is an integer kind with choices, not the kind enumeration")
            }
            return
        }
        guard parts.kind.isInteger else {
            reader.problem(path, "choices need an integer kind, not \(parts.kind.name)")
            return
        }
        for (index, choice) in entries.enumerated() {
            guard let name = reader.name(choice.name, "the name of choice \(index)", path: path) else { continue }
            do throws(Failure) {
                // A uint64 beyond INT64_MAX cannot be written as a choice; the others must fit their width.
                _ = try Value.int64(choice.number).converted(to: parts.kind)
            } catch {
                reader.problem(path, "the choice '\(name)': \(error.message)")
            }
            parts.choices.append(Property.Choice(name: name, number: choice.number))
        }
        reader.requireDistinct(parts.choices.map(\.name), path: path) { "two choices are named '\($0)'" }
    }

    private func readAccess(
        _ entry: invivo_property, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader
    ) {
        if parts.kind == .null { reader.problem(path, "a property cannot be of the kind null") }
        guard let get = entry.get else {
            if entry.set != nil { reader.problem(path, "there is a set function without a get function") }
            if entry.verify != nil { reader.problem(path, "there is a verify function without a get function") }
            if entry.capture != nil { reader.problem(path, "there is a capture function without a get function") }
            readField(entry, &parts, path: path, &reader)
            return
        }
        parts.access = .functions(get: get, set: entry.set, userData: HostPointer(entry.user_data))
        if let capture = entry.capture, let restore = entry.restore, let forget = entry.forget {
            parts.keeping = Property.Keeping(
                capture: capture, restore: restore, forget: forget, userData: HostPointer(entry.user_data))
        } else if entry.capture != nil || entry.restore != nil || entry.forget != nil {
            reader.problem(path, "capture, restore and forget belong together")
        }
        if let verify = entry.verify {
            parts.verifying = Property.Verifying(verify: verify, userData: HostPointer(entry.user_data))
            if entry.set == nil { reader.problem(path, "there is a verify function without a set function") }
        }
        if entry.set == nil { parts.isReadOnly = true }
        if parts.isInBlock { reader.problem(path, "a property of the block is a field: it has no functions") }
        if depth > 0 { reader.problem(path, "a field of a nested struct has no functions") }
    }

    private func readField(
        _ entry: invivo_property, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader
    ) {
        guard let offset = Int(exactly: entry.offset), let given = Int(exactly: entry.size),
            offset <= TypeDescription.largest, given <= TypeDescription.largest
        else {
            reader.problem(path, "the offset \(entry.offset) or the size \(entry.size) is too large", .tooLarge)
            return
        }
        parts.offset = offset
        parts.size = given
        switch parts.kind {
        case .string, .bytes, .map:
            if given == 0 { reader.problem(path, "\(parts.kind.withArticle) by offset needs a size") }
            if parts.kind == .map, entry.field_count == 0 {
                reader.problem(path, "a map by offset is a nested struct: it needs fields")
            }
        default:
            guard let width = parts.kind.width else {
                if parts.kind != .null && parts.kind != .enumeration {
                    reader.problem(path, "\(parts.kind.withArticle) cannot be a field: it needs a get function")
                }
                return
            }
            if given == 0 { parts.size = width }
            if given != 0 && given != width {
                reader.problem(path, "\(parts.kind.withArticle) is \(width) bytes long, the size says \(given)")
            }
        }
        checkLocation(parts, path: path, &reader)
    }

    private func checkLocation(_ parts: Property.Parts, path: String, _ reader: inout TableReader) {
        let location = parts.isInBlock ? block ?? instance : instance
        guard let size = location.size else { return }
        let end = parts.offset + parts.size
        if end > size {
            reader.problem(path, "bytes \(parts.offset)..<\(end) are outside \(location.name) of \(size) bytes")
        }
    }

    /// Returns the copy of the table of fields.
    private func readFields(
        _ entry: invivo_property, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader
    ) -> UnsafePointer<invivo_property>? {
        guard entry.field_count > 0 else { return nil }
        guard parts.kind == .map else {
            reader.problem(path, "fields need the kind map, not \(parts.kind.name)")
            return nil
        }
        guard depth < Self.deepest else {
            reader.problem(path, "structs are nested deeper than \(Self.deepest)", .tooLarge)
            return nil
        }
        let location = parts.isInBlock ? block ?? instance : instance
        var isField = false
        if case .field = parts.access { isField = true }
        let nested = PropertyTable(
            instance: Struct(
                size: isField ? parts.size : nil, setsInitial: isField && location.setsInitial,
                name: "the nested struct",
                image: isField ? location.image.map { $0 + parts.offset } : nil),
            block: nil, depth: depth + 1)
        let (fields, copies) = nested.properties(entry.fields, entry.field_count, path: path, &reader)
        parts.fields = fields
        return copies
    }

    private func readRange(
        _ entry: invivo_property, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader
    ) {
        do throws(Failure) {
            parts.bounds = try Property.Bounds(min: entry.min, max: entry.max, kind: parts.kind)
        } catch {
            reader.problems.append(error.under(path))
            return
        }
        guard parts.bounds != .none else { return }
        if !parts.choices.isEmpty { reader.problem(path, "an enumeration has choices, not a range") }
        parts.range = entry.min...entry.max
    }

    /// The value at the start. It must be an allowed one where the runtime writes it, or where one is given.
    private func readInitial(
        _ entry: invivo_property, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader
    ) {
        let location = parts.isInBlock ? block ?? instance : instance
        var isWritten = location.setsInitial
        if case .functions = parts.access { isWritten = false }
        guard let text = readInitialText(entry, parts, path: path, &reader) else { return }
        var start: Value?
        if let pointer = entry.initial_value {
            do throws(Failure) { start = try Value(borrowing: pointer, "the initial_value") } catch {
                reader.problem(path, "the initial_value: \(error.message)")
                return
            }
            if entry.initial != 0 || text != nil {
                reader.problem(path, "there is an initial_value and another initial beside it")
            }
        } else if entry.initial != 0 || text != nil {
            start = given(entry, text, parts, path: path, &reader)
        } else if isWritten {
            start = fromImage(parts)
            parts.isInitialFromImage = start != nil
            if start == nil { start = given(entry, nil, parts, path: path, &reader) }
        }
        guard let start else { return }
        do throws(Failure) {
            parts.initial = try Property(parts).checkedContent(start)
        } catch {
            reader.problem(path, "the initial value: \(error.message)")
        }
    }

    /// The initial value in the image of the block; nil without an image.
    private func fromImage(_ parts: Property.Parts) -> Value? {
        guard let image = parts.isInBlock ? block?.image : instance.image, parts.fields.isEmpty else { return nil }
        return Property(parts).read(image)
    }

    /// The value of `initial` or `initial_text`.
    private func given(
        _ entry: invivo_property, _ text: String?, _ parts: Property.Parts, path: String, _ reader: inout TableReader
    ) -> Value? {
        if entry.initial != 0, !parts.kind.isNumber, parts.kind != .bool {
            reader.problem(path, "\(parts.kind.withArticle) cannot have an initial number")
            return nil
        }
        if let text, parts.kind != .string, parts.choices.isEmpty {
            return value(of: text, parts, path: path, &reader)
        }
        switch parts.kind {
        case .bool: return .bool(entry.initial != 0)
        case .string: return .string(text ?? "")
        case .bytes: return .bytes(Array(repeating: 0, count: parts.size))
        case _ where parts.kind.isNumber: return text.map { .string($0) } ?? .double(entry.initial)
        default: return nil
        }
    }

    /// The value of an initial text in the form of the property: with its unit or codec.
    private func value(
        of text: String, _ parts: Property.Parts, path: String, _ reader: inout TableReader
    ) -> Value? {
        guard parts.fields.isEmpty, let read = PropertyTextReading.read.function else {
            reader.problem(path, "an initial_text is for a plain value, not for \(parts.kind.withArticle)")
            return nil
        }
        do throws(Failure) { return try read(text, Property(parts)).get() } catch {
            reader.problem(path, "the initial_text: \(error.message)")
            return nil
        }
    }

    /// Nil when there is a problem with it; `.some(nil)` when there is no text.
    private func readInitialText(
        _ entry: invivo_property, _ parts: Property.Parts, path: String, _ reader: inout TableReader
    ) -> String?? {
        guard let pointer = entry.initial_text else { return .some(nil) }
        guard let text = reader.optional(pointer, "the initial_text", path: path) else { return nil }
        return .some(text)
    }

    /// The copy that C may read while the type lives.
    private func copy(
        of entry: invivo_property, _ parts: Property.Parts, fields: UnsafePointer<invivo_property>?, _ store: CStrings
    ) -> invivo_property {
        var copy = entry
        copy.struct_size = MemoryLayout<invivo_property>.size
        copy.name = store.string(parts.name)
        copy.size = UInt64(parts.size)
        copy.initial_text = nil
        copy.flags = parts.isReadOnly ? entry.flags | UInt32(INVIVO_PROPERTY_READ_ONLY) : entry.flags
        if case .string(let text)? = parts.initial { copy.initial_text = store.string(text) }
        if case .enumeration(_, let name?)? = parts.initial { copy.initial_text = store.string(name) }
        if let number = parts.initial?.approximateNumber { copy.initial = number }
        copy.initial_value = parts.initial.map { store.element($0.owned()) { Value.free(&$0) } }
        copy.unit = store.string(parts.unit)
        copy.text = store.string(parts.text)
        copy.choices = store.table(parts.choices.map { invivo_choice(name: store.string($0.name), number: $0.number) })
        copy.was = store.table(parts.was.map { Optional(store.string($0)) })
        copy.fields = fields
        return copy
    }
}
