public import InvivoBase

extension DomainTable {
    /// Callbacks that the runtime sets once, before it is open. They run without the monitor.
    public struct Events: Sendable {
        /// A job waits for a domain's thread.
        public var jobWaits: (@Sendable (Domain) -> Void)?
        /// A thread has waited for longer than 1 s.
        public var longWait: (@Sendable (Failure) -> Void)?
        /// A wait that was reported with this message is over.
        public var longWaitIsOver: (@Sendable (_ message: String) -> Void)?

        public init() {}
    }
}
