internal import InvivoBase
internal import InvivoLoop
internal import InvivoWiring

/// Reading the files of documents.
extension Documents {
    /// Drops a set that failed before its turn or in it, and ends the watches that were started for it.
    func giveUp(_ changes: DocumentChanges) {
        guard !changes.entries.isEmpty else { return }
        drop(changes)
        endIdleFollowing()
    }

    /// The files whose content differs, or may soon differ, from the content that was read.
    func movedOn(_ read: [(document: Document, hash: ContentHash?)]) -> [Document] {
        let thread = loop.running?.threadNumber ?? 0
        let limit = container.options.current.maxDocumentBytes
        return read.filter { document, hash in
            guard let now = try? document.readFile(limit: limit, thread: thread) else {
                return hash != nil
            }
            return now.isBeingWritten || now.hash != hash
        }.map(\.document)
    }

    /// Whether events are so recent that their files may still be in the middle of a save.
    func isYoung(_ events: ClosedRange<UInt64>) -> Bool {
        monotonicNow() < events.lowerBound &+ container.options.current.writerPatience * 1_000_000
    }

    /// Returns the stage of a change set, which reads its files. Files that are open for writing are left out where they are followed, and
    /// refused otherwise, unless they have been open for long or `heedingWriters` is false.
    func stage(for set: ChangeSet, heedingWriters: Bool, _ before: Snapshot) -> Stage {
        Stage(
            documents: self, live: before.documents, options: container.options.current, log: container.log,
            thread: set.documents.withEvents.isEmpty ? loop.running?.threadNumber ?? 0 : 0,
            heedsWriters: heedingWriters && (set.documents.withEvents.isEmpty || isYoung(set.events)),
            environment: before.config.environment,
            next: set.rebuilds.environment ?? before.config.environment,
            environmentPrefix: options.environmentPrefix)
    }
}
