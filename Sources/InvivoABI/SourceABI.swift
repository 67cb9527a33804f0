public import CInvivo
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoLoop
internal import InvivoReload

// source.h: where documents come from, and following their changes.

/// The bytes of a document that C hands over.
func documentBytes(_ text: UnsafePointer<CChar>?, _ length: UInt64) throws(Failure) -> [UInt8] {
    guard length > 0 else { return [] }
    guard let text else { throw Failure(.argument, "text is NULL") }
    guard length <= 1 << 31 else { throw Failure(.tooLarge, "the text has \(length) bytes") }
    return Array(UnsafeRawBufferPointer(start: text, count: Int(length)))
}

/// A document as options describe it.
private func newDocument(
    _ options: UnsafePointer<invivo_source_options>?, _ engine: Engine, isFile: Bool = false
) throws(Failure) -> NewDocument {
    guard let options else { throw Failure(.argument, "options is NULL") }
    let least = MemoryLayout<invivo_source_options>.offset(of: \.flags) ?? 8
    let given = try versioned(options, "options", least: least, as: invivo_source_options.self)
    let path = try optionalText(given.path, "options.path")
    let known = INVIVO_SOURCE_WAIT | INVIVO_SOURCE_KEEP_GOING
    try requireKnown(given.flags, known, "options.flags", "INVIVO_SOURCE_...")
    let keepsGoing = given.flags & UInt32(INVIVO_SOURCE_KEEP_GOING) != 0
    let waits = given.flags & UInt32(INVIVO_SOURCE_WAIT) != 0
    guard let name = try optionalText(given.name, "options.name") ?? path, path != nil || !isFile else {
        throw Failure(
            .argument,
            isFile
                ? "options.path is NULL: only a file is watched; add a string as a document of the change set"
                : "a source needs options.path, or options.name and options.text")
    }
    guard let path else {
        let bytes = try documentBytes(given.text, given.length)
        return engine.newDocument(.bytes(bytes), name: name, keepsGoing: keepsGoing)
    }
    return engine.newDocument(try FilePath(path), name: name, waits: waits, keepsGoing: keepsGoing)
}

@c @implementation
public func invivo_source_open(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_source_options>!,
    _ out: UnsafeMutablePointer<invivo_source>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_source()
    return answering(error) { () throws(Failure) in
        let engine = try Engine.find(runtime.bits)
        let document = try engine.openDocument(try newDocument(options, engine))
        out?.pointee.bits = document.handleBits
    }
}

@c @implementation
public func invivo_watch(
    _ runtime: invivo_runtime, _ path: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let path = try text(path, "path")
        let engine = try Engine.find(runtime.bits)
        _ = try engine.openDocument(engine.newDocument(try FilePath(path), name: path, waits: false))
    }
}

@c @implementation
public func invivo_changes_watch(
    _ changes: invivo_changes, _ options: UnsafePointer<invivo_source_options>!,
    _ out: UnsafeMutablePointer<invivo_source>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_source()
    return answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let new = try newDocument(options, changes.engine, isFile: true)
        changes.set.open(new)
        changes.note(new.document.cause, new.document.name)
        out?.pointee.bits = new.document.handleBits
    }
}

private func document(_ source: invivo_source) throws(Failure) -> Document {
    try HandleTable.require(source.bits, .source, as: Document.self)
}

@c @implementation
public func invivo_source_update(
    _ source: invivo_source, _ text: UnsafePointer<CChar>!, _ length: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let document = try document(source)
        try Engine.of(document.runtime).update(document, text: try documentBytes(text, length))
    }
}

@c @implementation
public func invivo_source_refresh(_ source: invivo_source, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let document = try document(source)
        try Engine.of(document.runtime).refresh(document)
    }
}

@c @implementation
public func invivo_source_retry(_ source: invivo_source, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let document = try document(source)
        try Engine.of(document.runtime).refresh(document, retrying: true)
    }
}

@c @implementation
public func invivo_source_close(_ source: invivo_source, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let document = try document(source)
        try Engine.of(document.runtime).close(document)
    }
}

@c @implementation
public func invivo_runtime_advance(
    _ runtime: invivo_runtime, _ nanoseconds: UInt64, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Engine.find(runtime.bits).advance(by: nanoseconds) }
}

@c @implementation
public func invivo_runtime_refresh_environment(
    _ runtime: invivo_runtime, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Engine.find(runtime.bits).refreshEnvironment() }
}

// MARK: documents as text

@c @implementation
public func invivo_document_text(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ format: UInt32,
    _ out: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let isJson = try isJson(format)
        let written = try Engine.find(runtime.bits).text(ofDocument: try text(name, "name"), asJson: isJson)
        out.pointee = Value.string(written).owned()
    }
}

@c @implementation
public func invivo_traits_text(
    _ runtime: invivo_runtime, _ key: UnsafePointer<CChar>!, _ document: UnsafePointer<CChar>!, _ format: UInt32,
    _ out: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let isJson = try isJson(format)
        let written = try Engine.find(runtime.bits).text(
            ofTraits: try optionalText(key, "key"), in: try optionalText(document, "document"), asJson: isJson)
        out.pointee = Value.string(written).owned()
    }
}

private func isJson(_ format: UInt32) throws(Failure) -> Bool {
    switch format {
    case UInt32(INVIVO_FORMAT_YAML): return false
    case UInt32(INVIVO_FORMAT_JSON): return true
    default: throw Failure(.argument, "the format \(format) is unknown; expected a constant INVIVO_FORMAT_...")
    }
}
