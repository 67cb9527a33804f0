internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits

/// The decision of a document about the definition of a key, from an entry under `wiring:`. Immutable.
struct WiringDecision: Sendable {
    enum Kind: Sendable {
        case alias(String)
        case choose(Value)
        case scope(Scope, name: String?)
        /// The decisions of lower documents do not apply.
        case described
    }

    let key: String
    let kind: Kind
    let location: Location
    /// The key path of its entry.
    let path: String
    /// Stands for its value in messages, if environment variables are a part of it.
    let variables: String?

    init(_ entry: WiringEntry) throws(Failure) {
        (key, location, path) = (entry.key, entry.location, entry.path)
        var node: SpecNode?
        switch entry.decision {
        case .alias(let value):
            kind = .alias(value.text ?? "")
            node = value
        case .choose(let value):
            kind = .choose(try Value(spec: value))
            node = value
        case .scope(let scope): kind = .scope(Scope(manifest: scope), name: nil)
        case .namedScope(let value):
            let name = value.text ?? ""
            kind = ContextScope.kind(in: name).map { .scope(.context, name: $0) } ?? .scope(.host, name: name)
            node = value
        case .described: kind = .described
        }
        variables = node?.variables?.describedValue
    }

    /// Whether it only keeps the decisions of lower documents from applying.
    var isDescribed: Bool { if case .described = kind { true } else { false } }

    /// The target of the alias that the key is; nil if it is none.
    var target: String? { if case .alias(let target) = kind { target } else { nil } }

    /// Whether both change a definition in the same way.
    func isSame(as other: WiringDecision) -> Bool {
        switch (kind, other.kind) {
        case (.alias(let a), .alias(let b)): a.isSameName(as: b)
        case (.choose(let a), .choose(let b)): a.isSame(as: b)
        case (.scope(let a, let name), .scope(let b, let other)): a == b && name.isSameName(as: other)
        case (.described, .described): true
        default: false
        }
    }

    func failure(_ code: Status, _ message: String) -> Failure { Failure(code, message, path: path, at: location) }
}
