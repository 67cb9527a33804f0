
extension DefinitionPlan {
    func isRemoved(_ id: UInt32) -> Bool { if case .some(nil) = changed[id] { true } else { false } }
}
