internal import CPlatform
internal import InvivoBase
internal import InvivoWiring

/// Counts the objects of replaced keys that are neither shared nor tracked. They keep their former dependencies.
struct UntrackedObjects: Sendable {
    private let ids: Set<UInt32>
    /// The sequence number of the last object that was created before.
    private let sequence: UInt64
    private weak let container: Container?

    /// Before anything is created for the next generation; nil if there are no such keys.
    init?(_ replaced: [Cell], _ container: Container) {
        ids = Set(replaced.map(\.recipe).filter { !$0.scope.isShared && !$0.isTracked }.map(\.id))
        guard !ids.isEmpty else { return nil }
        sequence = iv_load_u64(iv_live_sequence())
        self.container = container
    }

    func count() -> [String: UInt64] {
        guard let container else { return [:] }
        return RuntimeFacts(container).living(of: ids, until: sequence)
    }
}
