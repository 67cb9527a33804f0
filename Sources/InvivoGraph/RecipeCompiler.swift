public import InvivoBase

/// Compiles definitions, and finds all their errors without creating objects.
public struct RecipeCompiler {
    /// The inputs that all compiled definitions share: the rest of their generation, and the rules of the runtime.
    public final class Context {
        public let definitions: DefinitionLookup
        let types: TypeIndex
        /// The configuration of the next generation.
        let config: ConfigLookup
        /// Returns the error for a name that is not one of the host's scopes.
        let scopeFailure: (Scope, String?) -> Failure?
        /// Whether the properties that a type declares as needed are injected.
        let fillsNeeds: Bool

        public init(
            definitions: DefinitionLookup, types: TypeIndex, config: ConfigLookup = .none,
            scopeFailure: @escaping (Scope, String?) -> Failure? = { _, _ in nil }, fillsNeeds: Bool = true
        ) {
            self.definitions = definitions
            self.types = types
            self.config = config
            self.scopeFailure = scopeFailure
            self.fillsNeeds = fillsNeeds
        }
    }

    /// An error in one definition.
    struct Error {
        /// The definition.
        let id: UInt32
        var failure: Failure
        /// Identifies the invalid value of a document; nil for other errors.
        let value: String?
    }

    public let context: Context
    private var errors: [Error] = []
    /// The known dependencies of each definition with an error.
    public private(set) var needs: [UInt32: [UInt32]] = [:]

    public init(_ context: Context) { self.context = context }

    /// The compiled definition; nil after an error, which is added to `failures`.
    public mutating func compile(_ described: Definition, former: Recipe?) -> Recipe? {
        var compiler = DefinitionCompiler(described, former: former, context)
        let recipe = compiler.compile()
        errors += compiler.errors
        if recipe == nil { needs[described.id] = compiler.references.merged().edges.map(\.id) }
        return recipe
    }

    public var failures: [Failure] { errors.map(\.failure) }
    public var failureCount: Int { errors.count }

    /// The failures after the first `count`.
    public func failures(after count: Int) -> [Failure] { errors[count...].map(\.failure) }

    /// All failures, without those that a definition inherited: these are reported for the parent. An error in one
    /// value of the documents is reported once, for its first dependent.
    public var ownFailures: [Failure] {
        var firsts: [String: Int] = [:]
        var others: [Int: Set<UInt32>] = [:]
        for (index, error) in errors.enumerated() {
            guard let value = error.value else { continue }
            if let first = firsts[value] {
                others[first, default: []].insert(error.id)
            } else {
                firsts[value] = index
            }
        }
        var own: [Error] = []
        for (index, error) in errors.enumerated() {
            var error = error
            if let value = error.value, firsts[value] != index { continue }
            let count = (others[index] ?? []).subtracting([error.id]).count
            if count > 0 {
                error.failure.message += " (\(count) more \(count == 1 ? "definition needs" : "definitions need") it)"
            }
            own.append(error)
        }
        return withoutInherited(own)
    }

    private func withoutInherited(_ errors: [Error]) -> [Failure] {
        var messages: [UInt32: Set<String>] = [:]
        for error in errors { messages[error.id, default: []].insert(error.failure.message) }
        let definitions = context.definitions
        return errors.filter { error in
            var seen: Set<UInt32> = [error.id]
            var child = definitions.described(error.id)
            while let name = child?.body.parent, let parent = definitions.identify(name), seen.insert(parent).inserted {
                if messages[parent]?.contains(error.failure.message) == true { return false }
                child = definitions.described(parent)
            }
            return true
        }.map(\.failure)
    }
}
