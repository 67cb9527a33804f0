internal import InvivoBase
internal import InvivoGraph

/// The layers that new values and definitions belong to. By the thread that plans.
struct Origins {
    private let staged: [Document]
    private let open: [Document]
    private let manifest: String
    private let environmentPrefix: String?
    private let isRollback: Bool

    init(_ staged: Staged, _ open: [Document], manifest: String, environmentPrefix: String?) {
        self.environmentPrefix = environmentPrefix
        self.staged = staged.documents.map(\.document)
        self.open = open
        self.manifest = manifest
        isRollback = staged.restored != nil
    }

    /// The origin of a value of the documents and settings.
    func value(at location: Location) -> Report.Origin {
        if isRollback { return Report.Origin(.rollback, location.file) }
        guard !location.file.isEmpty else { return Report.Origin(.call) }
        if location.file == manifest { return Report.Origin(.manifest, manifest) }
        // A changed value is nearly always one of a document that changes.
        let document =
            staged.first { $0.name == location.file } ?? open.first { $0.name == location.file }
        guard let document else {
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
