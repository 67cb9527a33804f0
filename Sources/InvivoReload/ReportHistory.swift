/// The reports of the last reloads, bounded in number and in bytes.
struct ReportHistory: Sendable {
    struct Entry: Sendable {
        let report: Report
        let bytes: Int

        init(_ report: Report) {
            self.report = report.kept()
            bytes = self.report.bytes
        }
    }

    static let mostReports = 64
    static let mostBytes = 1 << 20

    /// The oldest first.
    private var entries: [Entry] = []
    private var bytes = 0

    var reports: [Report] { entries.map(\.report) }

    /// Adds a report, and drops the oldest ones above the limits. The newest one is always kept.
    mutating func append(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.bytes
        while entries.count > Self.mostReports || bytes > Self.mostBytes && entries.count > 1 {
            bytes -= entries.removeFirst().bytes
        }
    }
}
