internal import InvivoBase

/// The failures found in one document: all of them are reported at once, up to a bound that keeps a hostile document
/// from making the report larger than itself.
struct FailureList {
    private(set) var failures: [Failure] = []
    private var left = 0
    private static let limit = 100

    var isEmpty: Bool { failures.isEmpty }

    /// Whether what is appended from now on is only counted.
    var isFull: Bool { failures.count >= Self.limit }

    mutating func append(_ failure: @autoclosure () -> Failure) {
        if isFull { left += 1 } else { failures.append(failure()) }
    }

    /// Throws what was found, in the document's order. Does nothing if nothing was.
    func throwIfAny() throws(Failure) {
        var sorted = failures.sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
        if left > 0, let last = sorted.last {
            sorted.append(Failure(last.code, "and \(left) more errors", at: Place(file: last.place.file)))
        }
        if let failure = Failure.gathered(sorted) { throw failure }
    }
}
