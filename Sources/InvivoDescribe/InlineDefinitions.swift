internal import InvivoBase
public import InvivoGraph
internal import InvivoWiring

/// The inline definitions that a reader finds inside others.
public final class InlineDefinitions {
    public private(set) var definitions: [Definition] = []

    public init() {}

    /// Adds an inline definition of `owner`. Returns the source by which the owner refers to it.
    ///
    /// It is removed with its owner and is not found by type. If it declares no runtime arguments, it may use
    /// `parameters`, those of its owner, which then passes them on.
    func add(
        _ definition: Definition, owner: String, parameters: Signature?, isOptional: Bool
    ) -> Injection.Source {
        let passed = definition.body.parameters == nil && definition.usesArguments ? parameters : nil
        definitions.append(
            definition.with { body in
                body.owner = owner
                body.parameters = body.parameters ?? passed
                body.flags.formUnion([.hiddenClass, .hiddenInterface])
            })
        let arguments = (passed?.parameters ?? []).indices.map { Injection.Source.argument($0) }
        return .reference(definition.key, arguments: arguments, isOptional: isOptional)
    }

    /// Leaves everything that was read with the host, because the call that received it fails.
    public func disown() {
        for definition in definitions { definition.disown() }
    }
}

extension Definition {
    /// Leaves the user data with the host, because the call that received the definition fails.
    public func disown() { body.keepAlive?.disown() }
}
