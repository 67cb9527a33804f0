internal import InvivoBase
internal import InvivoLoop
internal import InvivoWiring

extension Documents {
    /// The follower and the documents that a close ends.
    struct Closing {
        let follower: FileFollower?
        let documents: [Document]

        func endFollowing() { follower?.stop() }
        func closeHandles() { for document in documents { document.closeHandle() } }
    }
}

extension FileFollower.Settle {
    init(_ options: RuntimeOptions) {
        self.init()
        (quiet, maximum, openForWriteCap) = (options.quiet, options.settleMaximum, options.writerPatience)
    }
}
