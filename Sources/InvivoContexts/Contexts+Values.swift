internal import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase

extension Contexts {
    /// A change of one key of a context.
    public enum Change {
        case set(Value)
        case remove
        case hide

        fileprivate var state: UInt16 {
            switch self {
            case .set: UInt16(IV_CONTEXT_VALUE)
            case .remove: UInt16(IV_CONTEXT_REMOVED)
            case .hide: UInt16(IV_CONTEXT_HIDDEN)
            }
        }
    }

    /// A value as contexts keep it: in the declared type of its key.
    func shared(_ value: Value, for key: UInt32) throws(Failure) -> invivo_value {
        if case .null = value {
            let name = keyName(key)
            throw Failure(
                .null, "the value for the key '\(name)' of a context is null: remove the key, or hide it", path: name)
        }
        return try keys.checked(value, for: key).shared()
    }

    // MARK: change

    /// Changes keys of a context, by their handles, at one instant: all or none.
    public static func change(
        _ handle: ContextHandle, _ changes: [(key: UInt64, change: Change)]
    ) throws(Failure) {
        guard !changes.isEmpty else { return try use(handle) { (_, _, _) throws(Failure) in } }
        var prepared = PreparedChanges()
        defer { prepared.freeUnused() }
        let full = try use(handle) { (contexts, context, garbage) throws(Failure) -> UInt64? in
            try prepared.prepare(changes, contexts)
            try contexts.requireChangeable(context, prepared.versions)
            return try contexts.locked(context) { () throws(Failure) -> UInt64? in
                try contexts.publish(&prepared, in: context, settled: nil, &garbage)
            }
        }
        guard let clock = full else { return }
        // The table has no free entry. Entries of removed keys are dropped if all readers know that they are removed.
        let settled = isSettled(handle) ? clock : 0
        _ = try use(handle) { (contexts, context, garbage) throws(Failure) -> UInt64? in
            try contexts.locked(context) { () throws(Failure) -> UInt64? in
                try contexts.publish(&prepared, in: context, settled: settled, &garbage)
            }
        }
    }

    /// Versions that are not published yet.
    private struct PreparedChanges {
        private(set) var versions: [RawVersion] = []

        mutating func prepare(_ changes: [(key: UInt64, change: Change)], _ contexts: Contexts) throws(Failure) {
            if changes.count > 1,
                let repeated = Contexts.repeated(changes.map { UInt32(truncatingIfNeeded: $0.key) })
            {
                let name = contexts.keyName(repeated)
                throw Failure(.argument, "the key '\(name)' is changed twice in one change", path: name)
            }
            for (bits, change) in changes {
                let key = try contexts.id(ofKey: bits)
                var value = invivo_null()
                if case .set(let given) = change { value = try contexts.shared(given, for: key) }
                guard let version = ContextMemory.version() else {
                    Value.free(&value)
                    throw Failure(.memory, "no memory for a value of a context")
                }
                (version.pointee.key, version.pointee.what) = (key, change.state)
                version.withValue { $0 = value }
                versions.append(version)
            }
        }

        mutating func taken() { versions = [] }
        func freeUnused() { for version in versions { ContextMemory.free(version) } }
    }

    /// With the lock: publishes all versions at one instant. Returns the clock if the table has no free entry and `settled` is nil;
    /// nothing has changed then.
    private func publish(
        _ prepared: inout PreparedChanges, in context: RawContext, settled: UInt64?, _ garbage: inout ContextGarbage
    ) throws(Failure) -> UInt64? {
        try requireOpen(context)
        for version in prepared.versions where version.pointee.what == UInt16(IV_CONTEXT_REMOVED) {
            let newest = iv_context_table_of(context)?.entry(version.pointee.key, adds: false).flatMap {
                iv_context_entry_newest($0)
            }
            guard let newest, newest.pointee.what != UInt16(IV_CONTEXT_REMOVED) else {
                let name = keyName(version.pointee.key)
                throw Failure(
                    .notFound, "\(description(of: context)) has no value of its own for '\(name)' to remove", path: name
                )
            }
        }
        let clock = iv_load_u64(iv_context_clock(context.pointee.root))
        guard try makeRoom(for: prepared.versions, in: context, settled: settled, &garbage) else { return clock }
        guard let table = iv_context_table_of(context) else { return clock }
        for version in prepared.versions {
            guard let entry = table.entry(version.pointee.key, adds: true) else { continue }
            let older = iv_context_entry_newest(entry)
            version.pointee.number = clock + 1
            version.pointee.older = older
            iv_context_entry_set(entry, version)
            if let older { garbage.add(older) }
            if iv_context_is_observed(context) != 0 {
                garbage.changes.append(ContextChange(context: ContextHandle(of: context), key: version.pointee.key))
            }
        }
        iv_store_u64(iv_context_clock(context.pointee.root), clock + 1)
        prepared.taken()
        return nil
    }

    /// With the lock: whether the table has an entry for each version. Replaces a full one if `settled` is given: entries that were
    /// removed at that time or before are dropped.
    private func makeRoom(
        for versions: [RawVersion], in context: RawContext, settled: UInt64?, _ garbage: inout ContextGarbage
    ) throws(Failure) -> Bool {
        let table = iv_context_table_of(context)
        let added = versions.count { table?.entry($0.pointee.key, adds: false) == nil }
        let used = table.map { Int($0.pointee.used) } ?? 0
        let capacity = table.map { Int($0.pointee.capacity) } ?? 0
        if added == 0 || capacity > 0 && used + added <= ContextMemory.limit(capacity) { return true }
        var removed = 0
        table?.forEach { entry in
            if iv_context_entry_newest(entry).map({ Self.isDroppable($0, .max) }) ?? true { removed += 1 }
        }
        // Only a table with many removed keys is worth a barrier.
        guard settled != nil || removed * 4 < used || removed == 0 else { return false }
        var dropped = 0
        table?.forEach { entry in
            if iv_context_entry_newest(entry).map({ Self.isDroppable($0, settled ?? 0) }) ?? true { dropped += 1 }
        }
        // A removed key that changes now needs an entry again.
        let needed = versions.count { version in
            guard let entry = table?.entry(version.pointee.key, adds: false) else { return true }
            return iv_context_entry_newest(entry).map { Self.isDroppable($0, settled ?? 0) } ?? true
        }
        // With room for half as many more.
        let kept = used - dropped + needed
        guard let next = ContextMemory.table(capacity: ContextMemory.capacity(for: kept + kept / 2)) else {
            throw Failure(.memory, "no memory for the values of a context")
        }
        table?.forEach { entry in
            guard let newest = iv_context_entry_newest(entry) else { return }
            if Self.isDroppable(newest, settled ?? 0) {
                garbage.add(newest)
            } else if let copy = next.entry(newest.pointee.key, adds: true) {
                iv_context_entry_set(copy, newest)
            }
        }
        iv_context_publish(context, next)
        if let table, !ContextMemory.isInline(table, of: context) { garbage.add(table) }
        return true
    }

    private static func isDroppable(_ version: RawVersion, _ settled: UInt64) -> Bool {
        version.pointee.what == UInt16(IV_CONTEXT_REMOVED) && version.pointee.number <= settled
    }

    /// Whether no reader is left that began before this call. Outside of reading sections.
    private static func isSettled(_ handle: ContextHandle) -> Bool {
        guard let core = handle.core else { return false }
        let epochs = ReadEpochs(core)
        let epoch = epochs.advance()
        epochs.barrier()
        return epochs.oldestOpen() > epoch &+ 1
    }

    /// Values that the kind provides do not change, unless they are declared as live.
    private func requireChangeable(_ context: RawContext, _ versions: [RawVersion]) throws(Failure) {
        guard context.pointee.kind != 0, let kind = kinds.kind(at: Int(context.pointee.kind) - 1) else { return }
        for provided in kind.provides
        where !provided.isLive && versions.contains(where: { $0.pointee.key == provided.key }) {
            let name = keyName(provided.key)
            throw Failure(
                .readOnly,
                "the value for the key '\(name)' is provided at the opening of \(description(of: context)), and cannot change: declare it as live, or set it in a context below",
                path: name)
        }
    }

    // MARK: enumerate

    public struct Entry {
        public let key: String
        public let value: Value
        /// The number of contexts between.
        public let distance: Int
    }

    /// The values that a lookup from a context finds, sorted by key.
    public static func entries(_ handle: ContextHandle, isLocal: Bool) throws(Failure) -> [Entry] {
        try use(handle) { (contexts, context, _) throws(Failure) in
            var found: [UInt32: (value: Value?, distance: Int)] = [:]
            let copies = try contexts.locked(context) { () throws(Failure) -> [(UInt32, invivo_value, Int)] in
                try contexts.requireOpen(context)
                // Before the first copy, which an error would lose.
                var above = isLocal ? nil : context.pointee.parent
                while let current = above {
                    guard iv_load_u64(iv_context_ended(current)) == 0 else {
                        throw Self.orphaned(contexts, context, nil)
                    }
                    above = current.pointee.parent
                }
                var copies: [(UInt32, invivo_value, Int)] = []
                var seen: Set<UInt32> = []
                var level: RawContext? = context
                var distance = 0
                while let current = level {
                    iv_context_table_of(current)?.forEach { entry in
                        guard let newest = iv_context_entry_newest(entry),
                            newest.pointee.what != UInt16(IV_CONTEXT_REMOVED),
                            seen.insert(newest.pointee.key).inserted,
                            newest.pointee.what == UInt16(IV_CONTEXT_VALUE),
                            let copy = Value.copyShared(newest.valuePointer.pointee)
                        else { return }
                        copies.append((newest.pointee.key, copy, distance))
                    }
                    distance += 1
                    level = isLocal ? nil : current.pointee.parent
                }
                return copies
            }
            for (key, copy, distance) in copies {
                var copy = copy
                found[key] = (try? Value(borrowing: copy), distance)
                Value.free(&copy)
            }
            return found.compactMap { key, found in
                found.value.map { Entry(key: contexts.keyName(key), value: $0, distance: found.distance) }
            }.sorted { $0.key.hasLowerBytes(than: $1.key) }
        }
    }

    // MARK: errors of reads

    static func orphaned(_ contexts: Contexts, _ context: RawContext, _ key: UInt32?) -> Failure {
        let what = key.map { "the value for the key '\(contexts.keyName($0))'" } ?? "the values above it"
        return Failure(
            .orphaned,
            "\(contexts.description(of: context)) cannot find \(what): a context above it has ended, which it does not hold",
            path: key.map { contexts.keyName($0) } ?? "")
    }

    /// The error of a read that has found nothing.
    public static func readFailure(_ handle: ContextHandle, _ bits: UInt64, outcome: Int32, isLocal: Bool) -> Failure {
        do throws(Failure) {
            return try use(handle) { (contexts, context, _) throws(Failure) in
                let key = try contexts.id(ofKey: bits)
                let name = contexts.keyName(key)
                switch outcome {
                case Int32(IV_CONTEXT_ORPHANED): return orphaned(contexts, context, key)
                case Int32(IV_CONTEXT_IS_HIDDEN):
                    return Failure(
                        .notFound, "the key '\(name)' is hidden in \(contexts.description(of: context)), or above it",
                        path: name)
                default:
                    let above = isLocal ? " of its own" : ", and no context above it has one"
                    return Failure(
                        .notFound, "\(contexts.description(of: context)) has no value for the key '\(name)'\(above)",
                        path: name)
                }
            }
        } catch { return error }
    }
}
