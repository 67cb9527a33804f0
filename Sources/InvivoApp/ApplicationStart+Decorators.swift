internal import InvivoBase
internal import InvivoGraph
internal import InvivoReload
internal import InvivoSpec
internal import InvivoWiring

/// What decorates, as processors.
extension ApplicationStart {
    func processor(_ decorator: ManifestDecorator) throws(Failure) -> Processor {
        var key: (id: UInt32, name: String)?
        if let name = decorator.key { key = (try engine.container.intern(name), name) }
        return Processor(
            name: decorator.name, key: key, type: decorator.type, priority: decorator.priority, process: nil,
            decorator: .component(
                try engine.container.intern(decorator.component), name: decorator.component, method: decorator.method),
            owner: Factory(nil, userData: nil, destroy: nil), place: decorator.place)
    }
}
