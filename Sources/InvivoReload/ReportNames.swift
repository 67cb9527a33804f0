internal import InvivoBase

/// The C strings of a report's causes, layers and files.
public final class ReportNames: Sendable {
    private let storage = CStrings()
    private let causes, layers, files, warningFiles: [CText]

    init(_ report: Report) {
        let storage = storage
        causes = report.causes.parts.map { storage.text($0.name) }
        layers = report.changes.map { storage.text($0.origin.layer) }
        files = report.changes.map { storage.text($0.location.file) }
        warningFiles = report.warnings.map { storage.text($0.location.file) }
    }

    public func cause(_ index: Int) -> UnsafePointer<CChar>? { causes.pointer(at: index) }
    public func layer(_ index: Int) -> UnsafePointer<CChar>? { layers.pointer(at: index) }
    public func file(_ index: Int) -> UnsafePointer<CChar>? { files.pointer(at: index) }
    public func warningFile(_ index: Int) -> UnsafePointer<CChar>? { warningFiles.pointer(at: index) }
}
