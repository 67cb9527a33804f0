public import InvivoBase
public import InvivoGraph
public import InvivoTraits

/// The permitted content of the documents of a generation: keys, properties, trait types, sections and values that are read.
///
/// A copy, from which a schema of documents is written.
public struct SchemaFacts: Sendable {
    /// A key under `traits:`.
    public struct Target: Sendable {
        public let key: String
        /// The types of its objects; empty if they are unknown until the objects exist.
        public var types: [TypeDescription]
    }

    /// The keys of the definitions of entries: `before[ENTRY]after`.
    public struct Entries: Sendable {
        public let before: String
        public let after: String
        public let types: [TypeDescription]
    }

    /// A key under `wiring:`.
    public struct Definition: Sendable {
        public let key: String
        /// The conditions of the options of a choice; nil for other definitions.
        public let choice: [DefinitionChoice.When]?
        /// Whether the definition creates objects, and so has a scope.
        public let hasScope: Bool
    }

    /// A trait type of the host.
    public struct Trait: Sendable {
        public let name: String
        public let text: String?
        public let targets: TraitTargets
        public let fields: FieldTable
    }

    /// A section with a binding.
    public struct Section: Sendable {
        public enum Form: Sendable {
            case fields(FieldTable)
            /// A JSON Schema of the host; nil if it gives none.
            case host(String?)
        }

        public let name: String
        public let path: String
        public let form: Form
        /// The value that the layers other than documents give to the section; null if they give none.
        public let given: Value
        /// The paths of its secret parts; "" is the whole section.
        public let secrets: [String]
    }

    /// A value of the configuration that the wiring or the host reads.
    public struct Reading: Sendable {
        public enum Receiver: Sendable {
            case property(Property)
            case kind(ValueKind)
            /// The host, which declares these kinds.
            case host(Set<ValueKind>)
            /// The choice with this key. A decision of a document replaces the reading.
            case choice(key: String, [DefinitionChoice.When])
            /// A definition for each entry of a map or list.
            case entries
        }

        /// The paths at which the value is searched, in this order.
        public let paths: [String]
        public let receiver: Receiver
    }

    /// The keys under `traits:` whose objects have traits, sorted.
    public var targets: [Target] = []
    public var entries: [Entries] = []
    /// The keys that others inherit from in several documents; empty for one document.
    public var inherited: [String] = []
    public var definitions: [Definition] = []
    /// The names of host scopes, sorted.
    public var scopes: [String] = []
    /// Sorted by name.
    public var traits: [Trait] = []
    /// Sorted by name.
    public var sections: [Section] = []
    public var readings: [Reading] = []
    /// Whether documents may name keys that are not defined yet.
    public var permitsOtherKeys = false
    /// Whether there is more than one document, so that another one may give a required value.
    public var hasOtherDocuments = false
    /// The name of the application; "" without a manifest.
    public var application = ""

    public init() {}
}
