internal import CPlatform
internal import Glibc
internal import InvivoBase

/// Memory that an operation has removed from contexts. Retired after its reading section.
struct ContextGarbage {
    private var versions: [RawVersion] = []
    private var tables: [RawTable] = []
    private var contexts: [RawContext] = []
    /// Observed contexts and keys that have changed.
    var changes: [ContextChange] = []
    var ended: [ContextHandle] = []
    /// Contexts that lose a holder.
    var parents: [ContextHandle] = []
    /// Whether an end may wait for what has ended.
    var wakes = false
    /// Contexts that nobody holds any more, with objects or work in them.
    var released: [ContextHandle] = []
    /// A context with a kind that nobody holds any more.
    var abandoned: String?

    /// With the lock. A version in the allocation of an open context keeps that allocation until the version is freed.
    mutating func add(_ version: RawVersion) {
        if let home = iv_context_version_home(version) { _ = iv_add_u64(iv_context_references(home), 1) }
        versions.append(version)
    }
    mutating func add(_ table: RawTable) { tables.append(table) }
    /// A context that has ended, with all that it has.
    mutating func add(_ context: RawContext) { contexts.append(context) }

    /// The kinds of retired memory, in the lowest bits of an address of `malloc`.
    private enum Kind: UInt {
        case memory, version, context
        static let mask: UInt = 3
    }

    private static func tagged(_ pointer: UnsafeMutableRawPointer, _ kind: Kind) -> UnsafeMutableRawPointer {
        pointer + Int(kind.rawValue)
    }

    /// Without locks and outside of reading sections.
    func leave(to contexts: Contexts) {
        let retired = contexts.retired
        for version in versions {
            retired.add(
                Self.tagged(version, .version), size: MemoryLayout<iv_context_version>.stride,
                isUrgent: version.holdsObjects)
        }
        for table in tables {
            retired.add(table, size: ContextMemory.size(capacity: Int(table.pointee.capacity)))
        }
        for context in self.contexts {
            retired.add(
                Self.tagged(context, .context), size: ContextMemory.contextSize * 2, isUrgent: Self.isUrgent(context))
        }
        if !changes.isEmpty { contexts.notify(changes) }
        if !ended.isEmpty { contexts.notifyEnded(ended) }
        if wakes { contexts.wake() }
        for context in released { contexts.endReleased(context) }
        if let abandoned {
            contexts.log(
                .warning,
                "\(abandoned) was released before its end, and stays open until its parent or the runtime ends; end it")
        }
    }

    private static func isUrgent(_ context: RawContext) -> Bool {
        if context.pointee.object != 0 { return true }
        var isUrgent = false
        iv_context_table_of(context)?.forEach { entry in
            if iv_context_entry_newest(entry)?.holdsObjects == true { isUrgent = true }
        }
        return isUrgent
    }

    /// Frees retired memory, when no section may see it.
    static func free(_ pointer: UnsafeMutableRawPointer) {
        let kind = Kind(rawValue: UInt(bitPattern: pointer) & Kind.mask) ?? .memory
        let address = pointer - Int(kind.rawValue)
        switch kind {
        case .memory: Glibc.free(address)
        case .version:
            let version = address.assumingMemoryBound(to: iv_context_version.self)
            let home = iv_context_version_home(version)
            // Host code may run here, which may end the context.
            ContextMemory.free(version)
            if let home { releaseMemory(home) }
        case .context: freeContent(address.assumingMemoryBound(to: iv_context.self))
        }
    }

    /// Frees the content of a context that no section may see, and the context, if no context below it is left.
    static func freeContent(_ context: RawContext) {
        if let table = iv_context_table_of(context) {
            table.forEach { entry in
                if let newest = iv_context_entry_newest(entry) { ContextMemory.free(newest) }
            }
            iv_context_publish(context, nil)
            if !ContextMemory.isInline(table, of: context) { Glibc.free(table) }
        }
        if context.pointee.object != 0 { _ = ObjectTable.release(context.pointee.object) }
        context.pointee.object = 0
        detachMemory(context)
        releaseMemory(context)
    }

    /// Lookups stop at a context that has ended: of those above it, only the root is needed, for the clock. Otherwise contexts that are
    /// opened each below the one before, which ends then, would keep the memory of all of them.
    private static func detachMemory(_ context: RawContext) {
        guard let parent = context.pointee.parent, let root = context.pointee.root, parent != root,
            iv_load_u64(iv_context_references(context)) > 1
        else { return }
        _ = iv_add_u64(iv_context_references(root), 1)
        context.pointee.parent = root
        releaseMemory(parent)
    }

    /// Removes one reference to the memory of a context; the last one frees it, and is one of its parent's.
    static func releaseMemory(_ context: RawContext) {
        var next: RawContext? = context
        while let current = next {
            guard iv_sub_u64(iv_context_references(current), 1) == 1 else { return }
            next = current.pointee.parent
            Glibc.free(current)
        }
    }
}
