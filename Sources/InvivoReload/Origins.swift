internal import InvivoBase
internal import InvivoGraph

/// The layers that new values and definitions belong to. By the thread that plans.
struct Origins {
    private let documents: DocumentsNext
    private let manifest: String
    private let environmentPrefix: String?
    private let isRollback: Bool

    init(_ documents: DocumentsNext, isRollback: Bool, manifest: String, environmentPrefix: String?) {
        self.environmentPrefix = environmentPrefix
        self.documents = documents
        self.manifest = manifest
        self.isRollback = isRollback
    }

    /// The origin of a value of the documents and settings.
    func value(at location: Location) -> Report.Origin {
        if isRollback { return Report.Origin(.rollback, location.file) }
        guard !location.file.isEmpty else { return Report.Origin(.call) }
        if location.file == manifest { return Report.Origin(.manifest, manifest) }
        guard let document = documents.document(named: location.file) else {
            // A value of the environment has the name of its variable as the file, and no line.
            if let environmentPrefix, location.line == 0, location.file.rest(after: environmentPrefix) != nil {
                return Report.Origin(.environment, environmentPrefix)
            }
            return Report.Origin(.call)
        }
        return Report.Origin(document.path == nil ? .document : .file, document.name)
    }

    /// The origin of a definition below `covers`.
    func definition(_ definition: Definition, _ covers: Covers?) -> Report.Origin {
        if covers?.overrides.isEmpty == false { return Report.Origin(.override) }
        if let decision = covers?.wiring { return value(at: decision.location) }
        if isRollback { return Report.Origin(.rollback, definition.body.assembly ?? "") }
        if let assembly = definition.body.assembly { return Report.Origin(.assembly, assembly) }
        if !manifest.isEmpty && definition.location.file == manifest { return Report.Origin(.manifest, manifest) }
        return Report.Origin(.call)
    }
}
