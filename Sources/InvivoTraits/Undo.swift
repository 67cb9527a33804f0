public import InvivoBase

/// Steps that undo a commit, run in reverse order.
public struct Undo {
    private enum Step {
        case object(ObjectUndo)
        case other(() throws(Failure) -> Void)
    }
    /// The first step, stored inline: most commits have only one.
    private var first: ObjectUndo?
    private var steps: [Step] = []

    public init() {}

    public mutating func add(_ step: @escaping () throws(Failure) -> Void) { steps.append(.other(step)) }

    /// Adds all steps of another undo.
    public mutating func add(_ other: Undo) {
        guard !other.isEmpty else { return }
        add { () throws(Failure) in
            var steps = other
            if let failure = Failure.gathered(steps.run()) { throw failure }
        }
    }

    mutating func add(_ step: consuming ObjectUndo) {
        if isEmpty {
            first = step
        } else {
            steps.append(.object(step))
        }
    }

    public var isEmpty: Bool { first == nil && steps.isEmpty }

    /// Runs and drops all steps. Returns the failures.
    public mutating func run() -> [Failure] {
        var failures: [Failure] = []
        while let step = steps.popLast() {
            switch step {
            case .other(let run):
                do throws(Failure) { try run() } catch { failures.append(error) }
            case .object(let undo): failures += undo.run()
            }
        }
        failures += first?.run() ?? []
        first = nil
        return failures
    }
}
