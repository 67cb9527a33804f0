internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

/// The facts of a generation about traits. A value.
struct TraitFacts: Sendable {
    /// The trait types of the host.
    var types = TraitTypes()
    /// The names that the traits of each key refer to.
    var uses = TraitUses()
    /// The types of targets that were declared or attached, by key.
    var targetTypes: TreeDictionary<UInt32, ObjectType> = [:]
    /// The layers of attached objects whose key has a definition with the traits of another key (spec_key), by their key. Reports compare
    /// them. Of objects of several types, those of the first one.
    var attached: TreeDictionary<UInt32, TargetLayers> = [:]
    /// The keys with warnings about their traits. A document that names one plans it again, so that each report has them.
    var warned: NameSet = []

    /// Returns the facts after a plan.
    func applying(_ wiring: NextWiring, _ findings: LayerFindings) -> TraitFacts {
        var next = self
        if let types = wiring.traitTypes { next.types = types }
        next.uses = uses.applying(findings.uses, inherited: findings.inherited)
        // A key that once had a target may be named by documents while it has none.
        for target in wiring.set.targets.attached where targetTypes[target.id] == nil {
            next.targetTypes[target.id] = target.type
        }
        for (id, layers) in findings.attached { next.attached[id] = layers }
        for key in findings.planned { next.warned.remove(key) }
        next.warned.formUnion(findings.warned)
        return next
    }
}
