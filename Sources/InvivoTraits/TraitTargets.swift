public import InvivoBase
internal import InvivoSpec

/// The types whose objects a trait type of the host accepts.
public struct TraitTargets: Sendable {
    /// The names of the types; "*" accepts all.
    public let names: [String]
    /// Whether the trait runs code, which changes an instance in place.
    let runsCode: Bool

    /// Why objects of a type are not accepted.
    private enum Refusal {
        case otherType
        case sharedType
        case blockOnly
    }

    private func refusal(of type: TypeDescription) -> Refusal? {
        guard names.contains(where: { $0 == "*" || type.isKind(of: $0) }) else { return .otherType }
        guard runsCode else { return nil }
        return type.isShared ? .sharedType : type.isBlockOnly ? .blockOnly : nil
    }

    /// Whether objects of a type are accepted.
    public func accepts(_ type: TypeDescription) -> Bool { refusal(of: type) == nil }

    /// Throws if objects of a type are not accepted. `trait` is the name of the trait type.
    func require(_ type: TypeDescription, for trait: String, _ spec: TraitSpec) throws(Failure) {
        let reason: String
        switch refusal(of: type) {
        case nil: return
        case .otherType: reason = "is for \(names.listed()), and not for \(type.name)"
        case .sharedType:
            reason =
                "runs code, and \(type.name) is a shared type, whose objects are never changed in place: "
                + "use a trait that declares layers"
        case .blockOnly: reason = "runs code, and \(type.name) has only a block, and no instance"
        }
        throw Failure(.type, "the trait '\(trait)' \(reason)", path: spec.path, at: spec.typeLocation)
    }
}
