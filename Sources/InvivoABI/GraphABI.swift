public import CInvivo
internal import InvivoApp
internal import InvivoBase
internal import InvivoReload
internal import InvivoTools

// graph.h: the wiring as facts, drawings and generated code.

@c @implementation
public func invivo_graph_describe(
    _ runtime: invivo_runtime, _ format: UInt32, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let engine = try Engine.find(runtime.bits)
        let facts = Int(format) == INVIVO_GRAPH_SCHEMA ? try engine.schemaFacts() : engine.wiringFacts()
        let described = try facts.output(format).owned()
        out.pointee = described
    }
}

@c @implementation
public func invivo_app_check(
    _ options: UnsafePointer<invivo_app_options>!, _ format: UInt32, _ graph: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    graph?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        var found: Value?
        try Application.check(try appOptions(options)) { facts throws(Failure) in
            if graph != nil { found = try facts.output(format) }
        }
        if let graph, let found { graph.pointee = found.owned() }
    }
}
