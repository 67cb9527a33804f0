internal import CPlatform
internal import InvivoBase
internal import InvivoWiring

/// The keys of a reload whose objects nobody shares and nobody tracks: what was made for them before keeps what it got.
struct Formerly: Sendable {
    private let ids: Set<UInt32>
    /// What was made until then.
    private let sequence: UInt64
    private weak let container: Container?

    /// Before anything is made for the next generation; nil where there are no such keys.
    init?(_ plan: Plan, _ container: Container) {
        ids = Set(plan.replaced.map(\.recipe).filter { !$0.scope.isShared && !$0.isTracked }.map(\.id))
        guard !ids.isEmpty else { return nil }
        sequence = iv_load_u64(iv_live_sequence())
        self.container = container
    }

    func count() -> [String: UInt64] {
        guard let container else { return [:] }
        return RuntimeFacts(container).living(of: ids, until: sequence)
    }
}
