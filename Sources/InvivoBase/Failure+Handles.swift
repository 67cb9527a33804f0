/// The errors for handles that cannot be used.
extension Failure {
    /// The error for a handle of a runtime that the parent process opened.
    public static func parents(_ kind: HandleKind) -> Failure {
        Failure(
            .forked,
            "the \(kind.name) belongs to a runtime of the parent process; open a runtime of your own after fork")
    }

    /// The error of a call in a forked child on a runtime that the parent process opened.
    public static func forked() -> Failure {
        Failure(
            .forked,
            "the runtime was opened by the parent process: only objects built before the fork can be read; "
                + "nothing else; open a runtime of your own after fork")
    }

    /// The error for a handle that cannot be used.
    public static func badHandle(_ bits: UInt64, _ kind: HandleKind) -> Failure {
        if bits == 0 { return Failure(.handle, "the \(kind.name) handle is zero") }
        if let other = HandleKind(rawValue: HandleBits(bits).kind), other != kind {
            return Failure(
                .handle,
                "\(withArticle(kind.name)) handle is needed, this one is of \(withArticle(other.name))"
            )
        }
        return Failure(.handle, "the \(kind.name) handle is stale or foreign")
    }

    /// The error for a lease too many on one object.
    public static func exhausted(path: String = "") -> Failure {
        Failure(
            .tooLarge,
            "the object has 2,147,483,648 leases and takes no more: a holder does not release its leases",
            path: path)
    }
}
