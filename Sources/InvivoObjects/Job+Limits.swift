extension Job {
    /// The limits for waiting for jobs, in nanoseconds.
    public struct Patience: Sendable {
        /// The least time for which a job that has begun is awaited: a short limit is for jobs that have not.
        public var withBegunJobs: UInt64 = 5_000_000_000
        /// The time in which a posted domain of this kind must take a job without a limit. The domain cannot tell where
        /// the calling code is, so the waiting thread may be the one that would have to run the job.
        public var withBlindDomains: UInt64 = 5_000_000_000

        public init() {}
    }

    /// The times of a job that a thread waits for.
    struct Limits {
        let begun: UInt64
        /// The deadline for its domain to begin it.
        let takenBy: UInt64
        /// The deadline for its end.
        let doneBy: UInt64

        init(_ begun: UInt64, _ limit: UInt64, _ domain: Domain, isUnlimited: Bool, _ patience: Patience) {
            self.begun = begun
            takenBy = domain.isBlind && isUnlimited ? begun + patience.withBlindDomains : limit
            doneBy = max(limit, begun + patience.withBegunJobs)
        }
    }
}
