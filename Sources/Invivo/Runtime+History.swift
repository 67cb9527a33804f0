internal import CInvivo

extension Runtime {
    /// A generation to which a rollback is possible, or the current one.
    public struct KeptGeneration: Sendable, Hashable {
        /// Several generations have the same content if commits changed none, as of a target that is attached.
        public let numbers: ClosedRange<UInt64>
        public var number: UInt64 { numbers.upperBound }
        /// The cause of the commit that made it; empty for the first generation.
        public let cause: String
        /// When that was, since 1970 (UTC).
        public let time: Duration
        /// The names under which it is kept.
        public let marks: [String]
    }

    /// Advances the clock of the properties that move to their values (the trait Ramp), and makes one step of them.
    ///
    /// The runtime must have the option `rampTick` = `.manual`. Waits for the domains of the objects that move.
    public func advance(by time: Duration) throws(InvivoError) {
        try core.call { $0.pointee.runtime_advance(core.handle, time.nanoseconds, $1) }
    }

    /// Copies the environment again, on the calling thread: documents and values that depend on it change, as one reload.
    ///
    /// A runtime copies the environment when it opens and in this call, and reads it at no other time. No other thread may change the
    /// environment meanwhile. If the reload fails, nothing changes, and the former copy stays.
    public func refreshEnvironment() throws(InvivoError) {
        try core.call { $0.pointee.runtime_refresh_environment(core.handle, $1) }
    }

    /// Brings the content of a kept generation back, as a reload: documents, settings, assemblies and definitions.
    ///
    /// Everything else stays as it is: types, converters, processors, scopes, overrides, targets, observers and pools. A rollback can
    /// undo a rollback. Files are not written: if a followed file has other bytes than the content that is live now, these bytes are
    /// refused until they change, or until `Source.retry`.
    public func rollBack(to generation: UInt64) throws(InvivoError) {
        try core.call { $0.pointee.rollback(core.handle, generation, $1) }
        core.restoreAssemblies(of: generation)
    }

    /// Brings the content of the generation with a mark back.
    public func rollBack(to mark: String) throws(InvivoError) { try rollBack(to: marked(mark)) }

    /// The generations to which a rollback is possible, the oldest first. The last one is the current one.
    public var history: [KeptGeneration] {
        get throws(InvivoError) {
            var raw = invivo_value()
            try core.call { $0.pointee.runtime_history(core.handle, &raw, $1) }
            guard case .list(let entries) = try InvivoValue(taking: &raw, core) else { return [] }
            return entries.compactMap { entry in
                guard case .map(let fields) = entry, case .uint64(let number)? = fields["generation"],
                    case .uint64(let first)? = fields["first"], case .string(let cause)? = fields["cause"],
                    case .uint64(let time)? = fields["time_ns"], case .list(let marks)? = fields["marks"]
                else { return nil }
                return KeptGeneration(
                    numbers: first...number, cause: cause, time: .nanoseconds(Int64(clamping: time)),
                    marks: marks.compactMap { if case .string(let mark) = $0 { mark } else { nil } })
            }
        }
    }

    /// Keeps the current generation under a name until `unmark`. Returns its number. A mark of the same name moves to it.
    @discardableResult
    public func mark(_ name: String) throws(InvivoError) -> UInt64 {
        var number: UInt64 = 0
        try core.call { $0.pointee.mark(core.handle, name, &number, $1) }
        return number
    }

    /// Ends a mark.
    public func unmark(_ name: String) throws(InvivoError) {
        try core.call { $0.pointee.unmark(core.handle, name, $1) }
    }

    /// Returns the number of the generation with a mark.
    public func marked(_ name: String) throws(InvivoError) -> UInt64 {
        var number: UInt64 = 0
        try core.call { $0.pointee.marked(core.handle, name, &number, $1) }
        return number
    }
}
