internal import InvivoBase

/// The failures found in one document: all of them are reported at once, up to a bound that keeps a hostile document
/// from making the report larger than itself.
struct FailureList {
    private(set) var failures: [Failure] = []
    private var left = 0

    var isEmpty: Bool { failures.isEmpty }

    /// Whether the list is full, so that further failures are only counted.
    var isFull: Bool { failures.count >= Failure.most }

    mutating func append(_ failure: @autoclosure () -> Failure) {
        if isFull { left += 1 } else { failures.append(failure()) }
    }

    /// The failures as one, in the document's order; nil if there are none.
    var gathered: Failure? {
        let sorted = failures.sorted { ($0.location.line, $0.location.column) < ($1.location.line, $1.location.column) }
        return Failure.gathered(sorted, omitted: left)
    }

    /// Throws the failures in the document's order. Does nothing if there are none.
    func throwIfAny() throws(Failure) { if let failure = gathered { throw failure } }
}
