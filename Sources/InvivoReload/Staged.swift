internal import InvivoBase
internal import InvivoConfig

/// A staged change set, with its parsed documents. Immutable.
final class Staged {
    let set: ChangeSet
    let documents: [(document: Document, next: Document.State)]
    /// The content that a rollback brings back.
    let restored: FormerContent?
    /// The new copy of the environment, with its layer; nil if they stay.
    let environment: ConfigLayers.NewEnvironment?

    init(
        _ set: ChangeSet, _ documents: [(document: Document, next: Document.State)] = [],
        environment: ConfigLayers.NewEnvironment? = nil, restoring restored: FormerContent? = nil
    ) {
        self.environment = environment
        self.set = set
        self.documents = documents
        self.restored = restored
    }
}
