extension Container {
    /// Under the monitor: whether a close waits for what is under way, or has begun.
    public var isAskedToClose: Bool { isClosing || waitingCloses > 0 }
}
