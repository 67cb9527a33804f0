internal import CPlatform

/// The refusals of calls that a callback must not make.
extension Failure {
    /// Fails inside a host function that may be called under any lock.
    public static func refuseWhileAsking() throws(Failure) {
        guard iv_thread().pointee.asking > 0 else { return }
        throw Failure(
            .inCallback, "is_current must not call the runtime: it may be called with a lock of the runtime held")
    }

    /// Fails on a thread that runs a rule of the runtime with this tag.
    public static func refuseInRule(of tag: UInt64) throws(Failure) {
        if iv_thread().pointee.barred == tag && tag != 0 { throw inRule }
    }

    /// Fails on a thread that runs a rule, of any runtime.
    static func refuseInRules() throws(Failure) { if isInRule { throw inRule } }

    /// Whether the calling thread runs a rule.
    static var isInRule: Bool { iv_thread().pointee.barred != 0 }

    private static var inRule: Failure {
        Failure(
            .inCallback,
            "a rule must not call its runtime, nor use change sets, pools or sources: it decides by the values that it receives"
        )
    }
}
