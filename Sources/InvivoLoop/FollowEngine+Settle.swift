internal import InvivoBase

/// Settling: decides when changes are reported.
extension FollowEngine {
    /// Returns the bursts that are due, and the time of the next call.
    func advance() -> Outcome {
        var outcome = Outcome()
        outcome.next = sweep()
        let now = world.now()
        var ready: [Followed] = []
        var group: [Followed] = []
        var waitsForWriter = false
        func wake(at time: UInt64) { outcome.next = min(outcome.next ?? .max, time) }

        for (id, change) in pending.sorted(by: { $0.key.number < $1.key.number }) {
            guard let file = followed[id] else { continue }
            switch change.state {
            case .open(let since), .begun(let since):
                if now >= since + cap {
                    ready.append(file)
                } else {
                    waitsForWriter = true
                    wake(at: since + cap)
                }
            case .uncertain, .whole:
                if change.seen.kind == .missing {
                    // Some editors remove a file before they create the new one: only a file that stays away was
                    // removed.
                    if now >= change.last + maximum { ready.append(file) } else { wake(at: change.last + maximum) }
                } else {
                    group.append(file)
                }
            }
        }
        if let due = settled(group, waitsForWriter, now) {
            if due <= now { ready += group } else { wake(at: due) }
        }
        for file in ready where !report(file, now, &outcome) { wake(at: now + maximum) }
        outcome.bursts.sort { $0.id.number < $1.id.number }
        outcome.troubles += watches.takeTroubles()
        return outcome
    }

    /// The time at which the files of a burst are reported together: after the quiet time since the last event, at the
    /// latest `maximum` after the first event. Nil without files.
    private func settled(_ group: [Followed], _ waitsForWriter: Bool, _ now: UInt64) -> UInt64? {
        let due = due(group, waitsForWriter)
        guard let due, due <= now else { return due }
        // Checks files without a reliable event once more: a file that still grows gets another quiet time.
        for file in group where pending[file.id]?.state == .uncertain {
            let signature = world.signature(file.path)
            guard signature.kind != .missing, signature != pending[file.id]?.seen else { continue }
            pending[file.id]?.seen = signature
            pending[file.id]?.seenIn = round
            pending[file.id]?.last = now
        }
        return self.due(group, waitsForWriter)
    }

    private func due(_ group: [Followed], _ waitsForWriter: Bool) -> UInt64? {
        var first = UInt64.max
        var quietEnds: UInt64 = 0
        for change in group.compactMap({ pending[$0.id] }) {
            first = min(first, change.first)
            // An empty file is nearly always one that is about to be filled.
            let isWhole = change.state == .whole && !(change.seen.kind == .file && change.seen.size == 0)
            quietEnds = max(quietEnds, change.last + (isWhole ? quiet : max(quiet, Self.grace)))
        }
        guard first != .max else { return nil }
        // With a quiet time, a file that is just being written belongs to the burst.
        return waitsForWriter && quiet > 0 ? first + maximum : min(quietEnds, first + maximum)
    }

    /// Returns false when the file was just removed: it may still be created again.
    private func report(_ file: Followed, _ now: UInt64, _ outcome: inout Outcome) -> Bool {
        guard var change = pending[file.id] else { return true }
        let signature = change.seenIn == round ? change.seen : world.signature(file.path)
        if signature.kind == .missing && change.seen.kind != .missing {
            change.seen = signature
            change.state = .uncertain
            change.last = now
            pending[file.id] = change
            return false
        }
        if case .open(let since) = change.state, now >= since + cap, !file.isOpenReported {
            file.isOpenReported = true
            outcome.troubles.append(
                Failure(
                    .busy,
                    "the file has been open for writing for \(cap / 1_000_000) ms; it is read as it is, and again "
                        + "when it is closed", at: Location(file: file.shown)))
        }
        // A dangling link is no removed file: its reader reports the error.
        let isGone = signature.kind == .missing && !signature.isLink
        if isGone {
            if file.reported.kind != .missing {
                outcome.troubles.append(
                    Failure(
                        .notFound, "the file was removed; its last content stays in effect until it is back",
                        at: Location(file: file.shown)))
            }
        } else if change.isForced || !file.isUnchanged(signature) {
            outcome.bursts.append(
                FileBurst(
                    id: file.id,
                    firstEventNs: file.putOffSince == 0 ? change.first : min(file.putOffSince, change.first),
                    lastEventNs: change.last,
                    size: signature.kind == .file ? signature.size : .max))
        }
        file.reported = signature
        file.putOffSince = 0
        file.isUnread = false
        pending[file.id] = nil
        return true
    }
}
