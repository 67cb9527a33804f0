internal import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase

extension Contexts {
    /// How a context is opened.
    public struct Opening {
        public enum Parent {
            case current, none
            case given(ContextHandle)
        }

        public var kind: String?
        public var parent = Parent.current
        /// Nil: as the kind decides.
        public var holdsParent: Bool?
        public var values: [(key: UInt32, value: Value)] = []
        /// The handle of its object, or 0.
        public var object: UInt64 = 0
        /// The source location; the file is not copied.
        public var file: UnsafePointer<CChar>?
        public var line: UInt32 = 0

        public init() {}
    }

    // MARK: open

    public func open(_ opening: Opening) throws(Failure) -> ContextHandle {
        try requireOpenRuntime()
        let kind = try opening.kind.map { (name) throws(Failure) -> Int in try kinds.index(named: name) }
        try requireProvided(kind, opening)
        let context = try unpublished(opening, kind)
        do throws(Failure) {
            switch parent(of: opening) {
            case nil:
                // Close waits for the section, and then ends the context.
                guard let reader = ReadSection.begin(rawCore, tag: HandleBits(runtime).tag) else {
                    throw Failure(.closed, "the runtime is closed")
                }
                defer { ReadSection.end(reader) }
                return publish(context)
            case let parent?:
                return try Self.use(parent) { (contexts, parent, _) throws(Failure) in
                    guard contexts === self else {
                        throw Failure(.handle, "the parent is a context of another runtime")
                    }
                    return try self.publish(context, below: parent)
                }
            }
        } catch {
            ContextHandle.drop(context)
            context.pointee.parent = nil
            ContextGarbage.freeContent(context)
            throw error
        }
    }

    private func parent(of opening: Opening) -> ContextHandle? {
        switch opening.parent {
        case .none: nil
        case .given(let parent): parent
        case .current: Self.current(rawCore)
        }
    }

    /// All values that the kind provides must be given or have a default.
    private func requireProvided(_ kind: Int?, _ opening: Opening) throws(Failure) {
        guard let kind, let facts = kinds.kind(at: kind), !facts.provides.isEmpty else { return }
        let missing = facts.provides.map(\.key).filter { key in
            !opening.values.contains { $0.key == key } && !keys.hasDefault(key)
        }
        guard !missing.isEmpty else { return }
        let list = missing.map { "'\(keyName($0))'" }.listed()
        throw Failure(
            .notFound, "a context of the kind '\(facts.name)' is opened with \(list): give the values when it opens",
            path: facts.name)
    }

    /// A complete context that no other thread has.
    private func unpublished(_ opening: Opening, _ kind: Int?) throws(Failure) -> RawContext {
        var values: [invivo_value] = []
        values.reserveCapacity(opening.values.count)
        func freeValues() { for var value in values { Value.free(&value) } }
        do throws(Failure) {
            for (key, value) in opening.values { values.append(try shared(value, for: key)) }
            if let repeated = Self.repeated(opening.values.map(\.key)) {
                throw Failure(.argument, "the key '\(keyName(repeated))' is given twice", path: keyName(repeated))
            }
            if opening.object != 0, !ObjectTable.retain(opening.object) {
                throw Failure(.handle, "the object of the context is stale")
            }
            guard let context = ContextMemory.context(values: values.count) else {
                if opening.object != 0 { _ = ObjectTable.release(opening.object) }
                throw Failure(.memory, "no memory for a context")
            }
            for (index, (key, _)) in opening.values.enumerated() {
                guard let version = ContextMemory.inlineVersion(index, of: context) else { continue }
                version.pointee.key = key
                iv_context_version_set_home(version, context)
                version.withValue { $0 = values[index] }
                if let entry = iv_context_table_of(context)?.entry(key, adds: true) {
                    iv_context_entry_set(entry, version)
                }
            }
            (context.pointee.references, context.pointee.holders) = (1, 1)
            (context.pointee.core, context.pointee.root) = (rawCore, context)
            context.pointee.object = opening.object
            context.pointee.kind = UInt16(kind.map { $0 + 1 } ?? 0)
            context.pointee.flags = opening.holdsParent ?? (kind != nil) ? UInt8(IV_CONTEXT_STRONG) : 0
            context.pointee.since = iv_coarse_ns()
            (context.pointee.file, context.pointee.line) = (opening.file, opening.line)
            context.pointee.thread = currentThread().pointee.reader?.pointee.thread ?? 0
            guard ContextHandle.take(for: context) else {
                ContextGarbage.freeContent(context)
                values = []
                throw Failure(.memory, "no memory for a context, or \(1 << IV_CONTEXT_INDEX_BITS) are open")
            }
            return context
        } catch {
            freeValues()
            throw error
        }
    }

    static func repeated(_ keys: [UInt32]) -> UInt32? {
        guard keys.count > 1 else { return nil }
        if keys.count <= 8 {
            return keys.indices.first { keys[..<$0].contains(keys[$0]) }.map { keys[$0] }
        }
        var seen: Set<UInt32> = []
        return keys.first { !seen.insert($0).inserted }
    }

    private func publish(_ context: RawContext) -> ContextHandle {
        countOpened(1)
        return ContextHandle.open(context, rawCore)
    }

    private func publish(_ context: RawContext, below parent: RawContext) throws(Failure) -> ContextHandle {
        context.pointee.parent = parent
        context.pointee.root = parent.pointee.root
        return try locked(parent) { () throws(Failure) in
            try requireOpen(parent)
            guard iv_load_u64(iv_context_work(parent)) & UInt64(IV_CONTEXT_ENDING) == 0 else {
                throw Failure(.stale, "\(description(of: parent)) is ending: no context is opened in it")
            }
            try requireOrder(context, below: parent)
            _ = iv_add_u64(iv_context_references(parent), 1)
            if context.pointee.flags & UInt8(IV_CONTEXT_STRONG) != 0 {
                _ = iv_add_u64(iv_context_holders(parent), 1)
                context.pointee.next = parent.pointee.first_child
                parent.pointee.first_child?.pointee.previous = context
                parent.pointee.first_child = context
            }
            return publish(context)
        }
    }

    /// A context is opened in contexts of its kind or of outer ones.
    private func requireOrder(_ context: RawContext, below parent: RawContext) throws(Failure) {
        guard context.pointee.kind != 0 else { return }
        var outer: RawContext? = parent
        while let next = outer, next.pointee.kind == 0, iv_load_u64(iv_context_ended(next)) == 0 {
            outer = next.pointee.parent
        }
        guard let outer, iv_load_u64(iv_context_ended(outer)) == 0, outer.pointee.kind > context.pointee.kind else {
            return
        }
        let (own, other) = (kindName(of: context) ?? "", kindName(of: outer) ?? "")
        throw Failure(
            .argument,
            "a context of the kind '\(own)' cannot be opened in one of the kind '\(other)', which is declared as an inner kind",
            path: own)
    }

    // MARK: end

    /// How the end of a context goes on.
    public enum Ending {
        /// It has ended, with those that hold it strongly.
        case over
        /// These are ending: those below a context come before it, the newest first. Each ends by `completeEnd`.
        case begun([Part])
        /// Another call ends it.
        case underWay
    }

    /// A context that is ending.
    public struct Part {
        public let context: ContextHandle
        /// Not if another call ends it.
        public let isMine: Bool
        /// How many contexts are between it and the context whose end was requested, with that.
        public let depth: Int
    }

    /// Begins the end of a context and of the open contexts that hold it strongly. Without objects and work in them, they end at once.
    public static func beginEnd(_ handle: ContextHandle, refusesChildren: Bool = false) throws(Failure) -> Ending {
        do throws(Failure) {
            return try use(handle) { (contexts, context, garbage) throws(Failure) in
                try contexts.locked(context) { () throws(Failure) in
                    guard iv_load_u64(iv_context_ended(context)) == 0 else { return .over }
                    try contexts.refuseOwnWork(in: context)
                    guard iv_load_u64(iv_context_work(context)) & UInt64(IV_CONTEXT_ENDING) == 0 else {
                        return .underWay
                    }
                    if refusesChildren { try contexts.refuseChildren(of: context) }
                    return contexts.beginEnd(of: context, &garbage)
                }
            }
        } catch  where error.code == .stale { return .over }
    }

    /// With the lock.
    private func beginEnd(of top: RawContext, _ garbage: inout ContextGarbage) -> Ending {
        var isIdle = true
        var ending: [Part] = []
        var (next, depth) = (top, 0)
        func descend() {
            while let child = next.pointee.first_child { (next, depth) = (child, depth + 1) }
        }
        descend()
        while true {
            let former = iv_or_u64(iv_context_work(next), UInt64(IV_CONTEXT_ENDING))
            if !Self.isIdle(next, former) { isIdle = false }
            ending.append(
                Part(
                    context: ContextHandle(of: next), isMine: former & UInt64(IV_CONTEXT_ENDING) == 0, depth: depth))
            guard next != top else { break }
            if let older = next.pointee.next {
                next = older
                descend()
            } else {
                (next, depth) = (next.pointee.parent, depth - 1)
            }
        }
        guard isIdle else { return .begun(ending) }
        endTree(from: top, &garbage)
        return .over
    }

    private static func innermost(of context: RawContext) -> RawContext {
        var next = context
        while let child = next.pointee.first_child { next = child }
        return next
    }

    /// Ends a context in which no object and no work is left, or whose work is abandoned.
    public static func completeEnd(_ handle: ContextHandle) {
        try? use(handle) { (contexts, context, garbage) throws(Failure) in
            try contexts.locked(context) { () throws(Failure) in contexts.endTree(from: context, &garbage) }
        }
    }

    /// With the lock: code of an object in a context, or of a build in it, cannot end it, because the end would wait for that code.
    private func refuseOwnWork(in top: RawContext) throws(Failure) {
        for handle in Self.working(rawCore) {
            var next = handle.context
            while let context = next {
                guard context != top else {
                    throw Failure(
                        .inCallback,
                        "\(description(of: top)) cannot be ended by a build or hook of an object in it: end it when that has returned"
                    )
                }
                next = context.pointee.flags & UInt8(IV_CONTEXT_STRONG) == 0 ? nil : context.pointee.parent
            }
        }
    }

    /// With the lock.
    private func refuseChildren(of context: RawContext) throws(Failure) {
        var children: [String] = []
        var next = context.pointee.first_child
        while let child = next {
            children.append(description(of: child))
            next = child.pointee.next
        }
        guard !children.isEmpty else { return }
        throw Failure(
            .busy,
            "\(description(of: context)) cannot end while contexts in it are open: \(children.listed(most: 8)); end them first"
        )
    }

    /// With the lock: ends a context after those that hold it strongly, the newest first, all at one instant.
    func endTree(from top: RawContext, _ garbage: inout ContextGarbage) {
        guard iv_load_u64(iv_context_ended(top)) == 0 else { return }
        let number = iv_load_u64(iv_context_clock(top.pointee.root)) &+ 1
        var ended: [RawContext] = []
        var next = top
        while true {
            while let child = next.pointee.first_child { next = child }
            unlink(next)
            iv_store_u64(iv_context_ended(next), number)
            ended.append(next)
            guard next != top else { break }
            next = next.pointee.parent
        }
        iv_store_u64(iv_context_clock(top.pointee.root), number)
        for context in ended {
            let handle = ContextHandle(of: context)
            if iv_context_is_observed(context) != 0 { garbage.changes.append(ContextChange(context: handle, key: nil)) }
            garbage.ended.append(handle)
            if context == top, context.pointee.flags & UInt8(IV_CONTEXT_STRONG) != 0,
                let parent = context.pointee.parent,
                iv_load_u64(iv_context_ended(parent)) == 0
            {
                garbage.parents.append(ContextHandle(of: parent))
            }
            ContextHandle.close(context)
            garbage.add(context)
            countOpened(-1)
        }
    }

    private func unlink(_ context: RawContext) {
        guard context.pointee.flags & UInt8(IV_CONTEXT_STRONG) != 0, let parent = context.pointee.parent else { return }
        if let previous = context.pointee.previous {
            previous.pointee.next = context.pointee.next
        } else if parent.pointee.first_child == context {
            parent.pointee.first_child = context.pointee.next
        }
        context.pointee.next?.pointee.previous = context.pointee.previous
        (context.pointee.next, context.pointee.previous) = (nil, nil)
    }

    func notifyEnded(_ contexts: [ContextHandle]) { observing?.ended(contexts) }

    // MARK: holders

    public static func retain(_ handle: ContextHandle) throws(Failure) {
        try use(handle) { (contexts, context, _) throws(Failure) in
            try contexts.locked(context) { () throws(Failure) in
                try contexts.requireOpen(context)
                _ = iv_add_u64(iv_context_holders(context), 1)
            }
        }
    }

    /// With the lock: nobody holds the context any more.
    private func endReleased(_ context: RawContext, _ garbage: inout ContextGarbage) {
        if Self.isIdle(context) {
            _ = beginEnd(of: context, &garbage)
        } else {
            garbage.released.append(ContextHandle(of: context))
        }
    }

    /// Whether nothing of a context has to be waited for or stopped: the calling thread may be inside.
    private static func isIdle(_ context: RawContext, _ work: UInt64) -> Bool {
        if work == 0 { return true }
        guard work % IV_CONTEXT_INSIDE == 0 else { return false }
        return work / IV_CONTEXT_INSIDE == entries(of: ContextHandle(of: context), context.pointee.core)
    }

    /// With the lock: whether a context, and those that hold it strongly, have no objects and no work.
    private static func isIdle(_ top: RawContext) -> Bool {
        var next = innermost(of: top)
        while true {
            guard isIdle(next, iv_load_u64(iv_context_work(next))) else { return false }
            guard next != top else { return true }
            if let older = next.pointee.next { next = innermost(of: older) } else { next = next.pointee.parent }
        }
    }

    /// Removes a holder. The last one ends a context without a kind.
    public static func release(_ handle: ContextHandle) throws(Failure) {
        guard handle.bits != 0 else { return }
        var parents: [ContextHandle] = []
        try releaseOnce(handle, &parents)
        while let parent = parents.popLast() { try? releaseOnce(parent, &parents) }
    }

    /// The same. `parents` receives the contexts that lose a holder by its end.
    static func releaseOnce(_ handle: ContextHandle, _ parents: inout [ContextHandle]) throws(Failure) {
        do throws(Failure) {
            try section(handle, &parents) { (contexts, context, garbage) throws(Failure) in
                try contexts.locked(context) { () throws(Failure) in
                    guard iv_load_u64(iv_context_ended(context)) == 0 else { return }
                    guard iv_load_u64(iv_context_holders(context)) > 0 else {
                        throw Failure(.handle, "\(contexts.description(of: context)) is released more often than held")
                    }
                    guard iv_sub_u64(iv_context_holders(context), 1) == 1 else { return }
                    // Its end is under way.
                    guard iv_load_u64(iv_context_work(context)) & UInt64(IV_CONTEXT_ENDING) == 0 else { return }
                    if context.pointee.kind == 0 {
                        contexts.endReleased(context, &garbage)
                    } else {
                        garbage.abandoned = contexts.description(of: context)
                    }
                }
            }
        } catch  where error.code == .stale { return }
    }
}
