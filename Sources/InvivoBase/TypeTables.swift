public import CInvivo

/// Creates types from the options of type.h.
public enum TypeTables {
    /// The alignment of a type that declares none: that of malloc.
    private static let usualAlignment: UInt64 = 16
    private static let largestAlignment: UInt64 = 4096

    /// The type that options describe. Everything is copied except functions and user data. Throws all that is wrong at once; then
    /// `destroy` is not called.
    public static func type(_ pointer: UnsafePointer<invivo_type_options>?) throws(Failure) -> TypeDescription {
        guard let pointer else { throw Failure(.argument, "options is NULL") }
        let least = MemoryLayout<invivo_type_options>.offset(of: \.text) ?? 0
        let options = try versioned(pointer, "invivo_type_options", least: least, as: invivo_type_options.self)
        let name = try InvivoBase.text(options.name, "the name of the type")
        guard !name.isEmpty else { throw Failure(.argument, "the name of the type is empty") }

        let store = CStrings()
        var reader = TableReader(store: store)
        let text = reader.optional(options.text, "the text", path: name)
        let supertypes = reader.names(options.supertypes, options.supertype_count, "supertypes", path: name)
        let lookupName = reader.optional(options.lookup_name, "the lookup name", path: name)
        checkMemory(options, path: name, &reader)
        let limit = UInt64(TypeDescription.largest)
        let size = Int(min(options.size, limit))
        let blockSize = Int(min(options.block_size, limit))
        let alignment = Int(min(options.alignment == 0 ? usualAlignment : options.alignment, largestAlignment))
        let (parameters, cParameters) = reader.parameters(options.parameters, options.parameter_count, path: name)

        let isHosts = options.make != nil
        let instance = PropertyTable.Struct(
            size: isHosts ? nil : size, setsInitial: !isHosts, name: "the instance")
        let block = PropertyTable.Struct(
            size: blockSize, setsInitial: true, name: "the block", image: UnsafeRawPointer(options.block_initial))
        let (properties, cProperties) = PropertyTable(instance: instance, block: block)
            .properties(options.properties, options.property_count, path: name, &reader)
        let (methods, cMethods) = reader.methods(options.methods, options.method_count, path: name)
        if let failure = Failure.gathered(reader.problems) { throw failure }
        return TypeDescription(
            options, name: name, text: text, supertypes: supertypes, lookupName: lookupName ?? name, size: size,
            alignment: alignment, blockSize: blockSize, signature: Signature(name: name, parameters: parameters),
            members: TypeDescription.Members(
                properties, methods, size: size, blockSize: blockSize, image: UnsafeRawPointer(options.block_initial)),
            borrowed: TypeDescription.Borrowed(
                store: store, name: store.text(name),
                parameters: CTable(cParameters, count: parameters.count),
                properties: CTable(cProperties, count: properties.count),
                methods: CTable(cMethods, count: methods.count)))
    }

    private static func checkMemory(_ options: invivo_type_options, path: String, _ reader: inout TableReader) {
        if options.concurrency > UInt32(INVIVO_SHARED) {
            reader.problem(path, "the concurrency \(options.concurrency) is neither INVIVO_CONFINED nor INVIVO_SHARED")
        }
        if options.concurrency == UInt32(INVIVO_SHARED), options.domain.bits != 0 {
            reader.problem(path, "a shared type belongs to no domain")
        }
        let alignment = options.alignment
        if alignment & (alignment &- 1) != 0 || alignment > largestAlignment {
            reader.problem(path, "the alignment \(alignment) is not a power of two up to \(largestAlignment)")
        }
        for (what, size) in [("size", options.size), ("block_size", options.block_size)]
        where size > UInt64(TypeDescription.largest) {
            reader.problem(path, "the \(what) \(size) is too large", .tooLarge)
        }
        if options.size > 0, options.make != nil {
            reader.problem(path, "there is a size and a make function: one of them allocates the instance, not both")
        }
        if options.size == 0, options.make == nil {
            if options.block_size == 0 {
                reader.problem(
                    path, "there is neither a size nor a make function nor a block, so no instance can be created")
            }
            if TypeDescription.Functions(options).haveLife || options.method_count > 0 {
                reader.problem(path, "start, stop, setup and methods need an instance: give a size or a make function")
            }
        }
        if options.block_initial != nil, options.block_size == 0 {
            reader.problem(path, "there is a block_initial without a block_size")
        }
        if options.size == 0, options.`init` != nil || options.deinit != nil {
            reader.problem(path, "init and deinit need a size")
        }
        if options.make == nil, options.count_references != nil {
            reader.problem(path, "count_references needs a make function")
        }
        if options.make == nil, options.release != nil { reader.problem(path, "release needs a make function") }
        if options.make != nil, options.release == nil {
            reader.problem(
                path,
                "make needs a release function, which ends an instance; it may do nothing")
        }
        let weak = [options.weak_make != nil, options.weak_load != nil, options.weak_free != nil]
        if weak.contains(true), weak.contains(false) {
            reader.problem(path, "weak_make, weak_load and weak_free belong together: give all three or none")
        }
        if weak.contains(true), options.make == nil {
            reader.problem(path, "weak_make, weak_load and weak_free need a make function")
        }
    }
}
