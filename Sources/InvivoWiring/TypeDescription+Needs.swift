internal import InvivoBase
internal import InvivoGraph

extension TypeDescription {
    /// Checks the needs of a type: each names a property that can be set, once.
    func check(needs: [Injection]) throws(Failure) {
        var failures: [Failure] = []
        var names: NameSet = []
        for (index, need) in needs.enumerated() {
            do throws(Failure) {
                guard let name = need.name else {
                    throw Failure(.argument, "needs[\(index)] has no name: a need is a property")
                }
                let property = try property(named: name).property
                if property.isReadOnly {
                    throw Failure(.readOnly, "\(self.name).\(name) cannot be set: it is read only")
                }
                if property.isInBlock { throw Failure(.type, "the block property '\(name)' cannot be a need") }
                if !names.insert(property.name).inserted {
                    throw Failure(.exists, "the need '\(name)' is declared twice")
                }
                if need.source.usesArguments {
                    throw Failure(.argument, "the need '\(name)' takes runtime arguments, which its type has none of")
                }
            } catch { failures.append(error.under(self.name)) }
        }
        if let failure = Failure.gathered(failures) { throw failure }
    }
}
