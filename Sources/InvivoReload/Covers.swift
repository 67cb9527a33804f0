internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits

/// The layers above the base definition of a key: the decision of the documents, then overrides. Immutable.
struct Covers: Sendable {
    var wiring: WiringDecision?
    /// The last one is in force.
    var overrides: [Override] = []

    var isEmpty: Bool { wiring == nil && overrides.isEmpty }

    /// Returns the target of the alias that the key is with the base definition `base`.
    func alias(over base: Definition) -> String? { wired(base, { _ in nil }).alias }

    /// Returns the definitions that a base definition has below the one in force. Each comes into force when those above it end, so
    /// it must be sound. A choice differs from its base definition only in what selects.
    func covered(_ base: Definition) -> [Definition] {
        let decided = base.wired(by: wiring)
        guard !overrides.isEmpty else {
            if case .choose = wiring?.kind { return [] }
            return [base]
        }
        return wiring == nil ? [base] : [base, decided]
    }

    /// Returns the definition in force above a base definition. `wired` returns the base definitions of other keys, as documents
    /// have decided about them.
    func wired(_ base: Definition, _ wired: (String) -> Definition?) -> Definition {
        let decided = base.wired(by: wiring)
        // An alias has no scope, type or flags that an override could keep.
        return overrides.isEmpty ? decided : (decided.alias == nil ? decided : base).covered(by: overrides, wired)
    }
}
