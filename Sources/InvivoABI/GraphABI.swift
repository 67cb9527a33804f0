public import CInvivo
internal import InvivoApp
internal import InvivoBase
internal import InvivoReload

// graph.h: the wiring as it stands.

private func value(_ graph: WiringGraph, _ format: UInt32) throws(Failure) -> Value {
    switch Int(format) {
    case INVIVO_GRAPH_FACTS: graph.facts
    case INVIVO_GRAPH_JSON: .string(graph.json)
    case INVIVO_GRAPH_DOT: .string(graph.dot)
    case INVIVO_GRAPH_MERMAID: .string(graph.mermaid)
    case INVIVO_GRAPH_KEYS_C: .string(try KeyFunctions(graph).c)
    case INVIVO_GRAPH_KEYS_SWIFT: .string(try KeyFunctions(graph).swift)
    case INVIVO_GRAPH_KEYS_PYTHON: .string(try KeyFunctions(graph).python)
    case INVIVO_GRAPH_UNREAD: .string(try unread(graph))
    default: throw Failure(.argument, "format \(format) is none of INVIVO_GRAPH_...")
    }
}

private func unread(_ graph: WiringGraph) throws(Failure) -> String {
    guard let unread = graph.unread else {
        throw Failure(.unsupported, "only the check of an application tells what of the configuration nothing reads")
    }
    return unread.map { "\($0.place.text): \($0.path)\n" }.joined()
}

@c @implementation
public func invivo_graph_describe(
    _ runtime: invivo_runtime, _ format: UInt32, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try value(try Engine.find(runtime.bits).wiringGraph(), format).owned()
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
        try Application.check(try appOptions(options)) { wiring throws(Failure) in
            if graph != nil { found = try value(wiring, format) }
        }
        if let graph, let found { graph.pointee = found.owned() }
    }
}
