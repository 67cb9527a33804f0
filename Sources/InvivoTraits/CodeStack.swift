internal import InvivoBase
internal import InvivoGraph

/// The traits of one live object that run code, from the lowest, each with the layers above it.
///
/// A trait that runs code sees everything below it. Before something below it changes, it is reversed, with everything
/// above it; afterwards all of it is applied again. Accessed in the object's domain only.
final class CodeStack {
    final class Entry {
        let application: CodeApplication
        /// The layers above it.
        let tuning = Tuning()
        var reversal: Reversal?

        init(_ application: CodeApplication) { self.application = application }
    }

    /// The object, as its traits see it.
    struct Target {
        let type: ObjectType
        let object: UInt64
        let instance: UnsafeMutableRawPointer
        let key: String
        let moment: Tuning.Moment

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
    /// Whether a reversal has failed, or an application that an undo repeated. The next change builds the stack again.
    private(set) var isBroken = false

    /// Whether nothing has to be remembered.
    var isEmpty: Bool { entries.isEmpty && !isBroken }

    /// The applications, with the layers above each.
    var segments: [CodeSegment] { entries.map { CodeSegment(application: $0.application, live: $0.tuning.layers) } }

    /// The stack is about to be built again.
    func mend() { isBroken = false }

    /// The number of entries, from the lowest, that stay: their code and what lies below it are the same. Of the last one the layers
    /// may change.
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
        entries.removeLast()
        do throws(Failure) { try entry.reversal?.run(target.object, target.instance) } catch {
            isBroken = true
            let failure = target.located(error, entry.application, "could not be reversed")
            // The object needs a restore, whatever else is undone.
            undo.add { () throws(Failure) in throw failure }
            throw failure
        }
        entry.reversal = nil
        undo.add { [self] () throws(Failure) in
            guard !isBroken else { return }
            do throws(Failure) { try apply(entry, target) } catch {
                isBroken = true
                throw error
            }
        }
        return outcomes
    }

    /// Applies a segment above the others: first its code, then its layers.
    func push(_ segment: CodeSegment, _ target: Target, _ undo: inout Undo) throws(Failure) -> [Tuning.Outcome] {
        let entry = Entry(segment.application)
        try apply(entry, target)
        // Also if a reversal above it has failed: nothing below may change while its code is applied.
        undo.add { [self] () throws(Failure) in
            guard entries.last === entry else { return }
            entries.removeLast()
            do throws(Failure) { try entry.reversal?.run(target.object, target.instance) } catch {
                isBroken = true
                throw target.located(error, entry.application, "could not be reversed")
            }
        }
        return try change(entry, to: segment.live, target, &undo)
    }

    private func apply(_ entry: Entry, _ target: Target) throws(Failure) {
        let application = entry.application
        do throws(Failure) {
            entry.reversal = try application.type.apply(application.values, target.object, target.instance)
        } catch { throw target.located(error, application, "could not be applied") }
        entries.append(entry)
    }

    /// Changes the layers above an entry. If the entry is not there when this is undone, they are not put back.
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
                guard entries.contains(where: { $0 === entry }) else { return }
                // The entry holds what the steps refer to.
                var steps = steps
                defer { withExtendedLifetime(entry) {} }
                if let failure = Failure.gathered(steps.run()) { throw failure }
            }
        }
        return try result.get()
    }
}

extension Tuning {
    /// Changes an object whose traits run code, or did so.
    func changeStack(
        _ target: CodeStack.Target, to wanted: [Layer], _ segments: [CodeSegment], bases: [Base], _ undo: inout Undo
    ) throws(Failure) -> [Outcome] {
        let stack = code ?? CodeStack()
        code = stack
        let isLowestChanged = stack.isBroken || !bases.isEmpty || changes(to: wanted)
        let kept = isLowestChanged ? 0 : stack.countKept(of: segments)
        stack.mend()
        undo.add { [self] in code = stack.isEmpty ? nil : stack }
        defer { if stack.isEmpty { code = nil } }
        var outcomes: [Outcome] = []
        while stack.entries.count > kept { outcomes += try stack.pop(target, &undo) }
        if isLowestChanged {
            outcomes += try change(
                target.type, target.instance, key: target.key, to: wanted, bases: bases, at: target.moment, undo: &undo)
        } else if kept > 0 {
            outcomes += try stack.change(stack.entries[kept - 1], to: segments[kept - 1].live, target, &undo)
        }
        for segment in segments[kept...] { outcomes += try stack.push(segment, target, &undo) }
        return outcomes
    }
}
