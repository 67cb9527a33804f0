public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

// view.h: wait-free reads of one generation, by slots of readers (hot.h).

@c @implementation
public func invivo_view_begin(_ runtime: invivo_runtime) -> invivo_view {
    let handle = HandleBits(runtime.bits)
    guard handle.kind == HandleBits.runtimeKind, handle.index == 0, let core = handle.core,
        let reader = Readers.enter(core, tag: handle.tag), let graph = reader.pointee.graph
    else {
        return invivo_view(
            graph: UnsafeRawPointer(iv_no_graph()).assumingMemoryBound(to: invivo_graph.self), reader: nil)
    }
    return invivo_view(graph: graph.assumingMemoryBound(to: invivo_graph.self), reader: OpaquePointer(reader))
}

@c @implementation
public func invivo_view_end(_ view: invivo_view) {
    guard let reader = view.reader else { return }
    Readers.leave(UnsafeMutablePointer<iv_reader>(reader))
}

@c @implementation
public func invivo_view_key(_ view: invivo_view, _ name: UnsafePointer<CChar>!, _ length: Int) -> invivo_key {
    guard let name, view.reader != nil, let graph = view.graph else { return invivo_key() }
    let full = UnsafeRawPointer(graph).assumingMemoryBound(to: iv_graph.self)
    guard let keys = full.pointee.keys, let id = KeyTable.find(keys, name, length) else { return invivo_key() }
    return invivo_key(bits: UInt64(full.pointee.owner) << 32 | UInt64(id))
}

@c @implementation
public func invivo_view_config_late(_ view: invivo_view, _ id: invivo_config) -> UnsafePointer<invivo_value>! {
    guard let graph = view.graph, UInt32(truncatingIfNeeded: id.bits >> 32) == graph.pointee.owner else { return nil }
    return Graph.read(graph)?.setting(UInt32(truncatingIfNeeded: id.bits))?.raw
}

@c @implementation
public func invivo_view_get_confined(_ view: invivo_view, _ key: invivo_key) -> UnsafeMutableRawPointer! {
    guard let entry = invivo_view_entry(view, key) else { return nil }
    return FastResolve.confinedInstance(entry)
}
