public import CInvivo
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoReload
internal import InvivoTraits
internal import InvivoWiring

// type.h: describing kinds of host objects.

@c @implementation
public func invivo_type_register(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_type_options>!,
    _ out: UnsafeMutablePointer<invivo_type>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_type()
    return answering(error) { () throws(Failure) in
        let container = try Container.find(runtime.bits, .runtime)
        let type = try TypeTables.type(options)
        do throws(Failure) {
            try container.register(
                type, needs: try DefinitionReader.dependencies(of: options, type, in: container.registry))
        } catch {
            type.disown()
            throw error
        }
        out?.pointee.bits = type.handleBits
        try? Engine.find(runtime.bits).typeIsThere(type.name)
    }
}

@c @implementation
public func invivo_type_find(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_type>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_type()
    return answering(error) { () throws(Failure) in
        let registry = try RuntimeLookup.registry(for: runtime)
        let name = try text(name, "name")
        // A caller that takes no error does not pay for the search for the nearest name.
        guard error != nil || registry.has(name) else { throw Failure(.notFound, "no such type", path: name) }
        let type = try registry.find(name)
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = type.handleBits
    }
}

@c @implementation
public func invivo_type_extend(
    _ runtime: invivo_runtime, _ type: invivo_type, _ supertype: UnsafePointer<CChar>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let container = try Container.find(runtime.bits, .runtime)
        let name = try text(supertype, "supertype")
        guard !name.isEmpty else { throw Failure(.argument, "supertype is empty") }
        let described = try container.registry.type(of: type)
        container.currentGraph().types.later.add(name, to: described.description.name)
    }
}

@c @implementation
public func invivo_type_name(_ type: invivo_type) -> UnsafePointer<CChar>! {
    described(type)?.cName
}

@c @implementation
public func invivo_type_property_count(_ type: invivo_type) -> UInt64 {
    UInt64(described(type)?.properties.count ?? 0)
}

@c @implementation
public func invivo_type_property_at(
    _ type: invivo_type, _ index: UInt64, _ out: UnsafeMutablePointer<invivo_property>!
) -> invivo_status {
    answering(nil) { () throws(Failure) in
        if let out { do throws(Failure) { try fill(out, "out", least: 16, with: invivo_property()) } catch {} }
        let type = try TypeDescription.find(type.bits)
        guard let out else { throw Failure(.argument, "out is NULL") }
        try fill(out, "out", least: 16, with: try entry(Array(type.cProperties), index, "property"))
    }
}

@c @implementation
public func invivo_type_parameter_count(_ type: invivo_type) -> UInt64 {
    UInt64(described(type)?.cParameters.count ?? 0)
}

@c @implementation
public func invivo_type_parameter_at(
    _ type: invivo_type, _ index: UInt64, _ out: UnsafeMutablePointer<invivo_parameter>!
) -> invivo_status {
    out?.pointee = invivo_parameter()
    return answering(nil) { () throws(Failure) in
        let parameters = Array(try TypeDescription.find(type.bits).cParameters)
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try entry(parameters, index, "parameter")
    }
}

@c @implementation
public func invivo_type_method_count(_ type: invivo_type) -> UInt64 {
    UInt64(described(type)?.methods.count ?? 0)
}

@c @implementation
public func invivo_type_method_at(
    _ type: invivo_type, _ index: UInt64, _ out: UnsafeMutablePointer<invivo_method>!
) -> invivo_status {
    answering(nil) { () throws(Failure) in
        if let out { do throws(Failure) { try fill(out, "out", least: 16, with: invivo_method()) } catch {} }
        let type = try TypeDescription.find(type.bits)
        guard let out else { throw Failure(.argument, "out is NULL") }
        try fill(out, "out", least: 16, with: try entry(Array(type.cMethods), index, "method"))
    }
}

@c @implementation
public func invivo_property_text(
    _ type: invivo_type, _ property: UnsafePointer<CChar>!, _ value: UnsafePointer<invivo_value>!,
    _ out: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let property = try described(type, try text(property, "property"))
        let written = try PropertyText.text(of: try Value(borrowing: value, "value"), of: property)
        out.pointee = Value.string(written).owned()
    }
}

@c @implementation
public func invivo_property_read(
    _ type: invivo_type, _ property: UnsafePointer<CChar>!, _ given: UnsafePointer<CChar>!, _ length: UInt64,
    _ out: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let property = try described(type, try text(property, "property"))
        guard case .string(let text) = try Value(borrowing: invivo_string_n(given, length)) else { return }
        out.pointee = try PropertyText.value(text, of: property).owned()
    }
}

/// The property of a type, or the field of a nested struct, that a path names.
private func described(_ type: invivo_type, _ path: String) throws(Failure) -> Property {
    let type = try TypeDescription.find(type.bits)
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var property = try type.property(named: names[0]).property
    for name in names.dropFirst() {
        guard let field = property.fields.property(named: name) else {
            throw property.unknownField(name, path: path)
        }
        property = field
    }
    return property
}

/// The description behind a handle; nil for a bad one.
private func described(_ type: invivo_type) -> TypeDescription? {
    HandleTable.find(type.bits, .type, as: TypeDescription.self)
}

private func entry<Entry>(_ entries: [Entry], _ index: UInt64, _ what: String) throws(Failure) -> Entry {
    guard index < UInt64(entries.count) else {
        throw Failure(.notFound, "there is no \(what) \(index): there are \(entries.count)")
    }
    return entries[Int(index)]
}
