internal import InvivoBase
public import InvivoGraph

/// An assembly that a change set activates or deactivates.
public enum AssemblyChange: Sendable {
    public struct Activation: Sendable {
        /// The name under which it becomes active.
        public let name: String
        /// Nil activates the assembly that was described under the name.
        public let description: AssemblyDescription?
        /// Descriptions that may become collaborators.
        public let companions: [AssemblyDescription]
        public let remaps: [AssemblyRemap]
        /// Whether it is an error if another assembly is active under the name.
        public let isNew: Bool
        /// Whether it extends the assembly that is active under the name.
        public let extends: Bool

        public init(
            name: String, description: AssemblyDescription?, companions: [AssemblyDescription] = [],
            remaps: [AssemblyRemap] = [], isNew: Bool = false, extends: Bool = false
        ) {
            self.name = name
            self.description = description
            self.companions = companions
            self.remaps = remaps
            self.isNew = isNew
            self.extends = extends
        }
    }

    case activate(Activation)
    case deactivate(String)
}
