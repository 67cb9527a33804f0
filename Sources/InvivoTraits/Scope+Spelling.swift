public import InvivoGraph
public import InvivoSpec

extension Scope {
    /// The scope that a manifest or document names.
    public init(manifest scope: ManifestScope) {
        self =
            switch scope {
            case .prototype: .prototype
            case .graph: .graph
            case .weakSingleton: .weakSingleton
            case .lazySingleton: .lazySingleton
            case .singleton: .singleton
            case .context: .context
            case .thread: .thread
            }
    }
}
