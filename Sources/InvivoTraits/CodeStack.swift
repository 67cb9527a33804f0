internal import InvivoBase
internal import InvivoGraph

/// The traits of one live object that run code, from the lowest, each with the layers above it.
///
/// A trait that runs code sees everything below it. Before something below it changes, it is reversed, with everything
/// above it; afterwards all of it is applied again. Accessed in the object's domain only.
///
/// Entries are removed strictly from the top. If a value cannot be restored, its entry stays with the base value, and so do all entries
/// below it, until a later commit has restored the value.
final class CodeStack {
    final class Entry {
        let application: CodeApplication
        /// The layers above it.
        let tuning = Tuning()
        var reversal: Reversal?
        /// Whether a part of it is reversed. The layers that were above it are then not restored.
        var isPartlyReversed = false

        init(_ application: CodeApplication) { self.application = application }
    }

    /// The object, as its traits see it.
    struct Target {
        let type: ObjectType
        let object: UInt64
        let instance: UnsafeMutableRawPointer
        let key: String
        let moment: Tuning.Moment

        /// Adds the path to a failure of a layer above a trait.
        func located(_ failure: Failure, _ application: CodeApplication) -> Failure {
            if application.isSecret { return located(failure, application, "could not be reversed") }
            var located = failure
            if located.path.isEmpty { located.path = key }
            return located
        }

        /// Adds the path and the source location of a trait to a failure of its code.
        func located(_ failure: Failure, _ application: CodeApplication, _ what: String) -> Failure {
            guard !application.isSecret else {
                return Failure.ofSecret(
                    failure.code, "the trait '\(application.type.name)' \(what)",
                    path: key.isEmpty ? application.path : "\(key).\(application.type.name)",
                    at: application.location.location)
            }
            var located = Failure(
                failure.code, "the trait '\(application.type.name)' \(what)",
                path: key.isEmpty ? application.path : "\(key).\(application.type.name)",
                at: application.location.location, cause: failure)
            located.others = failure.others
            return located
        }
    }

    private(set) var entries: [Entry] = []
    /// Whether a reversal has failed, or the undo of one, or a layer above a trait could not be removed. The next change builds the stack
    /// again.
    private(set) var isBroken = false
    /// The applications whose own reversals have failed since the stack was built. Their effects are treated as reversed.
    private var left: [CodeApplication] = []

    /// Whether there is no state to keep.
    var isEmpty: Bool { entries.isEmpty && !isBroken }

    /// Whether a value could not be restored.
    var isStuck: Bool { isBroken || entries.contains { $0.tuning.isStuck } }

    /// The applications, with the layers above each.
    var segments: [CodeSegment] { entries.map { CodeSegment(application: $0.application, live: $0.tuning.layers) } }

    /// Called when the stack is built again. Returns the outcomes for reversals that have failed before.
    func mend(_ undo: inout Undo) -> [Tuning.Outcome] {
        guard isBroken else { return [] }
        let failed = left
        (isBroken, left) = (false, [])
        undo.add { [self] in (isBroken, left) = (true, failed + left) }
        return failed.map {
            Tuning.Outcome(path: $0.type.name, location: $0.location.location, what: .notReversed, variables: nil)
        }
    }

    /// The number of entries, from the lowest, that stay because their code and everything below it are unchanged. The layers of the last
    /// one may change.
    func countKept(of segments: [CodeSegment]) -> Int {
        var count = 0
        for (entry, segment) in zip(entries, segments) {
            guard entry.application.isSame(as: segment.application) else { break }
            count += 1
            guard !entry.tuning.changes(to: segment.live) else { break }
        }
        return count
    }

    /// Removes the topmost entry: first its layers, then its code.
    func pop(_ target: Target, _ undo: inout Undo) throws(Failure) -> [Tuning.Outcome] {
        guard let entry = entries.last else { return [] }
        let outcomes = try change(entry, to: [], target, &undo)
        // Its base value would be lost with the entry.
        for case .refused(let failure) in outcomes.lazy.map(\.what) { throw target.located(failure, entry.application) }
        do throws(Failure) { try reverse(entry, target) } catch {
            // The object needs a restore, whatever else is undone.
            undo.add { () throws(Failure) in throw error }
            throw error
        }
        undo.add { [self] () throws(Failure) in
            guard !isBroken else { return }
            if let failure = apply(entry, target) {
                isBroken = true
                throw failure
            }
        }
        return outcomes
    }

    /// Reverses and removes the topmost entry, even if its own reversal fails. It stays while a value that it has set through the runtime
    /// cannot be restored.
    private func reverse(_ entry: Entry, _ target: Target) throws(Failure) {
        do throws(Failure) {
            try entry.reversal?.run(target.object, target.instance)
        } catch {
            isBroken = true
            if entry.reversal?.isPending == true {
                entry.isPartlyReversed = true
            } else {
                entries.removeLast()
                left.append(entry.application)
            }
            throw target.located(error, entry.application, "could not be reversed")
        }
        entries.removeLast()
        (entry.reversal, entry.isPartlyReversed) = (nil, false)
    }

    /// Applies a segment above the others: first its code, then its layers.
    func push(_ segment: CodeSegment, _ target: Target, _ undo: inout Undo) throws(Failure) -> [Tuning.Outcome] {
        let entry = Entry(segment.application)
        if let failure = apply(entry, target) {
            if entries.last === entry {
                // Its changes could not be put back. The next commit tries again; the undo does not.
                isBroken = true
                undo.add { () throws(Failure) in
                    let kept = Failure(failure.code, "its changes could not be put back; the next commit tries again")
                    throw target.located(kept, segment.application, "could not be reversed")
                }
            }
            throw failure
        }
        // Also if a reversal above it has failed: nothing below it may change while its code is applied.
        undo.add { [self] () throws(Failure) in
            guard entries.last === entry else { return }
            // A layer above it could not be removed, and has the base value.
            guard !entry.tuning.isStuck else { return isBroken = true }
            try reverse(entry, target)
        }
        return try change(entry, to: segment.live, target, &undo)
    }

    /// Applies the code of an entry. Returns the failure. After one, the entry is on the stack only if a value that the trait has set could
    /// not be restored.
    private func apply(_ entry: Entry, _ target: Target) -> Failure? {
        let application = entry.application
        let applied = application.type.apply(application.values, target.object, target.instance)
        entry.reversal = applied.reversal
        entry.isPartlyReversed = applied.failure != nil
        if applied.reversal != nil { entries.append(entry) }
        guard let failure = applied.failure else { return nil }
        let failures = [target.located(failure, application, "could not be applied")]
        let remainder = applied.remainder.map { target.located($0, application, "could not be reversed") }
        return Failure.gathered(failures + [remainder].compactMap(\.self))
    }

    /// Changes the layers above an entry. Undo restores them only if the entry is still on the stack.
    func change(
        _ entry: Entry, to live: [Layer], _ target: Target, _ undo: inout Undo
    ) throws(Failure) -> [Tuning.Outcome] {
        var own = Undo()
        let result = Result { () throws(Failure) in
            try entry.tuning.change(
                target.type, target.instance, key: target.key, to: live, at: target.moment, undo: &own)
        }
        if !own.isEmpty {
            let steps = own
            undo.add { [self] () throws(Failure) in
                guard !entry.isPartlyReversed, entries.contains(where: { $0 === entry }) else { return }
                // The steps refer to the entry without retaining it.
                var steps = steps
                defer { withExtendedLifetime(entry) {} }
                if let failure = Failure.gathered(steps.run()) { throw failure }
            }
        }
        return try result.get()
    }
}

extension Tuning {
    /// Changes an object whose former or new traits run code.
    func changeStack(
        _ target: CodeStack.Target, to wanted: [Layer], _ segments: [CodeSegment], bases: [Base], _ undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        let stack = code ?? CodeStack()
        code = stack
        let isLowestChanged = stack.isBroken || !bases.isEmpty || changes(to: wanted)
        let kept = isLowestChanged ? 0 : stack.countKept(of: segments)
        var outcomes: [Outcome] = []
        while stack.entries.count > kept { outcomes += try stack.pop(target, &undo) }
        if isLowestChanged {
            outcomes += try change(
                target.type, target.instance, key: target.key, to: wanted, bases: bases, at: target.moment, undo: &undo)
        } else if kept > 0 {
            outcomes += try stack.change(stack.entries[kept - 1], to: segments[kept - 1].live, target, &undo)
        }
        for segment in segments[kept...] { outcomes += try stack.push(segment, target, &undo) }
        return outcomes + stack.mend(&undo)
    }
}
