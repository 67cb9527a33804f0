internal import InvivoBase

/// A name in the traits of a document that has no effect, and resembles one that has an effect.
struct DoubtfulName {
    /// The key whose traits have it.
    let key: String
    let finding: Finding
    /// Whether it is a mistake beyond doubt. It is an error of a check then.
    let isCertain: Bool
    /// The path in the document.
    let path: String
    let location: Location
    let message: String
    /// The path of the configuration that a condition reads, and the path that is meant.
    var readPath: (given: String, near: String)?

    var warning: Report.Warning { Report.Warning(.unread, "\(path): \(message)", at: location) }

    /// Whether a warning about an entry of the configuration has the same two paths.
    func isReported(_ entries: [UnreadEntry]) -> Bool {
        readPath.map { path in entries.contains { $0.path == path.near && $0.near == path.given } } ?? false
    }

    var failure: Failure {
        var failure = Failure(.spec, message, path: path, at: location)
        failure.finding = finding
        return failure
    }
}
