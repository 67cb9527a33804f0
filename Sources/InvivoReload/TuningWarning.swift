internal import InvivoTraits

extension Tuning.Outcome {
    /// The kind of the warning about it.
    var warning: Report.Warning.Kind {
        switch what {
        case .adjusted: .adjusted
        case .left: .foreign
        case .refused: .unrestored
        }
    }
}
