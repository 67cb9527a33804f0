public import InvivoBase

/// Steps that take back what a commit did, run last first.
public struct Undo {
    /// One property of one object, which is most of what commits do; kept without a closure of its own. Its object is
    /// held by the commit until the undo is run or forgotten, and with it what is not retained here.
    struct PropertyStep {
        unowned(unsafe) let tuning: Tuning
        unowned(unsafe) let property: Property
        let index: Int
        let instance: UnsafeMutableRawPointer
        /// Nil leaves the object alone.
        let value: Value?
        let state: Tuning.Applied?

        func run() throws(Failure) {
            if let value { try property.set(instance, value) }
            tuning.put(state, at: index)
        }
    }
    private enum Step {
        case property(PropertyStep)
        case other(() throws(Failure) -> Void)
    }
    /// The step before all others, in place: most commits have no second one.
    private var first: PropertyStep?
    private var steps: [Step] = []

    public init() {}

    public mutating func add(_ step: @escaping () throws(Failure) -> Void) { steps.append(.other(step)) }

    mutating func add(_ step: PropertyStep) {
        if isEmpty {
            first = step
        } else {
            steps.append(.property(step))
        }
    }

    public var isEmpty: Bool { first == nil && steps.isEmpty }

    /// Runs and forgets all steps; answers what could not be undone.
    public mutating func run() -> [Failure] {
        var failures: [Failure] = []
        while let step = steps.popLast() {
            do throws(Failure) {
                switch step {
                case .other(let run): try run()
                case .property(let step): try step.run()
                }
            } catch { failures.append(error) }
        }
        if let step = first {
            first = nil
            do throws(Failure) { try step.run() } catch { failures.append(error) }
        }
        return failures
    }
}
