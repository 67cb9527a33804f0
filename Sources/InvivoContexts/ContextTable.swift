internal import CInvivo
internal import CPlatform
internal import Glibc
internal import InvivoBase

typealias RawVersion = UnsafeMutablePointer<iv_context_version>
typealias RawTable = UnsafeMutablePointer<iv_context_table>

/// The memory of contexts: records, tables, and versions of values.
///
/// A context that is opened with values has its table and their versions in its own allocation.
enum ContextMemory {
    static let contextSize = (MemoryLayout<iv_context>.size + 15) & ~15

    /// An unpublished context with room for `count` values; nil without memory.
    static func context(values count: Int) -> RawContext? {
        let capacity = count == 0 ? 0 : capacity(for: count)
        let tableSize = capacity == 0 ? 0 : size(capacity: capacity)
        let size = contextSize + tableSize + count * MemoryLayout<iv_context_version>.stride
        guard let memory = calloc(1, size) else { return nil }
        let context = memory.assumingMemoryBound(to: iv_context.self)
        if capacity > 0, let table = inlineTable(of: context) {
            table.pointee.capacity = UInt32(capacity)
            iv_context_publish(context, table)
        }
        return context
    }

    private static func inlineTable(of context: RawContext) -> RawTable? {
        (UnsafeMutableRawPointer(context) + contextSize).assumingMemoryBound(to: iv_context_table.self)
    }

    /// The version number `index` in the allocation of a context that was created with `capacity`.
    static func inlineVersion(_ index: Int, of context: RawContext) -> RawVersion? {
        guard let table = iv_context_table_of(context) else { return nil }
        let versions = UnsafeMutableRawPointer(table) + size(capacity: Int(table.pointee.capacity))
        return versions.assumingMemoryBound(to: iv_context_version.self) + index
    }

    /// The least power of two with a quarter of its entries free.
    static func capacity(for count: Int) -> Int {
        var capacity = 2
        while limit(capacity) < count { capacity *= 2 }
        return capacity
    }

    static func limit(_ capacity: Int) -> Int { capacity - max(1, capacity / 4) }

    static func size(capacity: Int) -> Int {
        MemoryLayout<iv_context_table>.size + capacity * MemoryLayout<iv_context_entry>.stride
    }

    static func table(capacity: Int) -> RawTable? {
        guard let memory = calloc(1, size(capacity: capacity)) else { return nil }
        let table = memory.assumingMemoryBound(to: iv_context_table.self)
        table.pointee.capacity = UInt32(capacity)
        return table
    }

    static func version() -> RawVersion? {
        calloc(1, MemoryLayout<iv_context_version>.stride)?.assumingMemoryBound(to: iv_context_version.self)
    }

    // MARK: freeing

    static func isInline(_ table: RawTable, of context: RawContext) -> Bool { table == inlineTable(of: context) }

    /// Frees the value of a version, and the version, if it has an allocation of its own.
    static func free(_ version: RawVersion) {
        let isInline = version.pointee.is_inline != 0
        version.withValue { value in Value.free(&value) }
        if !isInline { Glibc.free(version) }
    }
}

extension RawVersion {
    /// The value, as an invivo_value.
    @inline(__always)
    func withValue<Result>(_ body: (inout invivo_value) -> Result) -> Result {
        body(&valuePointer.pointee)
    }

    @inline(__always)
    var valuePointer: UnsafeMutablePointer<invivo_value> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<iv_context_version>.offset(of: \.value).unsafelyUnwrapped)
            .assumingMemoryBound(to: invivo_value.self)
    }

    /// Whether other code may wait for the end of what the value holds.
    var holdsObjects: Bool {
        switch pointee.kind {
        case UInt32(INVIVO_KIND_OBJECT), UInt32(INVIVO_KIND_CALLABLE), UInt32(INVIVO_KIND_LIST),
            UInt32(INVIVO_KIND_MAP):
            true
        default: false
        }
    }
}

extension iv_context_version {
    var kind: UInt32 { UInt32(truncatingIfNeeded: value.0) }
}

extension RawTable {
    /// The entry of a key, which is added if there is a free one. With the lock of the tree, or before the table is published.
    func entry(_ key: UInt32, adds: Bool) -> UnsafeMutablePointer<iv_context_entry>? {
        guard let entries = iv_context_entries(self) else { return nil }
        let mask = pointee.capacity - 1
        var index = iv_context_hash(key) & mask
        while true {
            let entry = entries + Int(index)
            let found = iv_context_entry_key(entry)
            if found == UInt64(key) + 1 { return entry }
            if found == 0 {
                guard adds, Int(pointee.used) < ContextMemory.limit(Int(pointee.capacity)) else { return nil }
                pointee.used += 1
                // Readers find no version until one is set.
                iv_context_entry_set_key(entry, UInt64(key) + 1)
                return entry
            }
            index = (index + 1) & mask
        }
    }

    func forEach(_ body: (UnsafeMutablePointer<iv_context_entry>) -> Void) {
        guard let entries = iv_context_entries(self) else { return }
        for index in 0..<Int(pointee.capacity) where iv_context_entry_key(entries + index) != 0 {
            body(entries + index)
        }
    }
}
