internal import InvivoBase

/// The C side of a report. C borrows its strings and errors as long as the report exists.
public final class ReportStrings: Sendable {
    private let storage = CStrings()
    private let causeText, summary: CText
    private let failure, stopFailure: ErrorBox?
    private let keys, properties, locations, warnings: [CText]

    init(_ report: Report) {
        let storage = storage
        causeText = storage.text(report.cause)
        summary = storage.text(report.text)
        keys = report.changes.map { storage.text($0.key) }
        properties = report.changes.map { storage.text($0.property) }
        locations = report.changes.map { storage.text($0.location.text) }
        warnings = report.warnings.map { storage.text($0.text) }
        failure = report.failure.map { ErrorBox($0) }
        stopFailure = report.stopFailure.map { ErrorBox($0) }
    }

    public var cause: UnsafePointer<CChar> { causeText.pointer }
    public var text: UnsafePointer<CChar> { summary.pointer }
    public var error: OpaquePointer? { failure?.borrowed }
    public var stopError: OpaquePointer? { stopFailure?.borrowed }

    public func key(_ index: Int) -> UnsafePointer<CChar>? { keys.pointer(at: index) }
    public func warning(_ index: Int) -> UnsafePointer<CChar>? { warnings.pointer(at: index) }
    public func property(_ index: Int) -> UnsafePointer<CChar>? { properties.pointer(at: index) }
    public func location(_ index: Int) -> UnsafePointer<CChar>? { locations.pointer(at: index) }
}

extension [CText] {
    /// The string with this index; NULL if there is none.
    func pointer(at index: Int) -> UnsafePointer<CChar>? { indices.contains(index) ? self[index].pointer : nil }
}
