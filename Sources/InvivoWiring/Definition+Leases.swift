internal import InvivoBase

/// The objects that a definition says: its constant, and what it injects as it stands. They are the runtime's as long as it
/// keeps the definition, also one that makes nothing now: under an override, in a table that is described, where a
/// processor or another definition has replaced it.
extension Definition {
    func forEachLease(_ see: (ObjectLease) -> Void) {
        if let constant = body.constant { see(constant) }
        for injection in body.initializer { injection.source.forEachLease(see) }
        for injection in body.properties { injection.source.forEachLease(see) }
        for invocation in body.methods { invocation.forEachLease(see) }
        for invocation in body.before { invocation.forEachLease(see) }
        for invocation in body.after { invocation.forEachLease(see) }
        for invocation in body.afterAll { invocation.forEachLease(see) }
        if let maker = body.maker {
            maker.object.forEachLease(see)
            maker.invocation.forEachLease(see)
        }
        if let choice = body.choice {
            choice.chooser.forEachLease(see)
            for option in choice.options {
                if case .equal(let value) = option.when { value.forEachLease(see) }
                option.use?.forEachLease(see)
            }
        }
        for value in body.base.values { value.forEachLease(see) }
        for parameter in body.parameters?.parameters ?? [] { parameter.defaultValue?.forEachLease(see) }
    }
}

extension Invocation {
    fileprivate func forEachLease(_ see: (ObjectLease) -> Void) {
        for argument in arguments { argument.source.forEachLease(see) }
    }
}

extension Injection.Source {
    func forEachLease(_ see: (ObjectLease) -> Void) {
        forEach { if case .value(let value) = $0 { value.forEachLease(see) } }
    }
}
