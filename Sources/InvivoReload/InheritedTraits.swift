internal import InvivoBase
internal import InvivoSpec

/// The numbers of traits that keys inherit, and the limit for all of them together. Belongs to one plan.
final class InheritedTraits {
    private let most: Int
    private let former: TraitUses
    private var total: Int
    /// The numbers of the keys that the plan concerns.
    private(set) var counts: [Name: Int] = [:]
    /// The first error about the limit. Nothing else is resolved then.
    private(set) var overflow: Failure?

    init(_ former: TraitUses, most: Int) {
        self.former = former
        self.most = most
        total = former.inheritedCount
    }

    /// Keys are about to be resolved again: their former numbers no longer count.
    func forget(_ keys: NameSet) {
        for key in keys where former.inheritedCount(key) > 0 { replace(key, by: 0) }
    }

    /// Counts the traits that a key inherits.
    func count(_ key: String, _ count: Int, at location: Location) throws(Failure) {
        replace(key, by: count)
        try check(total, "traits.\(key)", location)
    }

    private func replace(_ key: String, by count: Int) {
        let name = Name(key)
        // Most keys inherit nothing.
        guard count > 0 || counts[name] != nil || former.inheritedCount(key) > 0 else { return }
        total += count - (counts[name] ?? former.inheritedCount(key))
        counts[name] = count
    }

    /// Checks a number of inherited traits against the limit.
    func check(_ count: Int, _ path: String, _ location: Location) throws(Failure) {
        guard count > most else { return }
        let failure = Failure(
            .tooLarge, "the keys inherit more than \(most) traits together; max_document_nodes permits more",
            path: path,
            at: location)
        overflow = overflow ?? failure
        throw failure
    }
}
