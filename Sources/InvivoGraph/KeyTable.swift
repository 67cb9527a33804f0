internal import CInvivo
public import CPlatform
internal import Glibc
public import InvivoBase

/// The names of a runtime's keys and their dense ids.
///
/// Interning and everything Swift-side happens under the container's monitor; `find` is wait-free for any thread that
/// is inside a view (or otherwise sure that the table lives): names are written before their slot is published, and stay
/// where they are. An outgrown table ends with the generation in which it was outgrown.
public final class KeyTable: @unchecked Sendable {
    /// The id of objects without a definition, which have no key.
    public static let noKey = UInt32.max

    public let raw: UnsafeMutablePointer<iv_keys>
    /// The upper half of every key of this runtime.
    public let owner: UInt32
    public private(set) var count = 0
    /// The offset of each id's name, in pages that are never moved.
    private var offsets: [UnsafeMutablePointer<UInt32>] = []
    /// The used size of the chunks, the chunks, and the kind of each allocation.
    private var used = 16
    private var chunkCount = 0
    private var chunkRoom = 0
    private var allocations: [UnsafeMutablePointer<CChar>] = []
    private var formerTexts: [UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>] = []
    private var outgrown: [Outgrown] = []
    private var versions: [UInt32: UnsafeMutablePointer<UInt64>] = [:]

    /// A table that was replaced by a larger one, while readers may be in it.
    public final class Outgrown: Sendable {
        private let table: ConstantMemory
        fileprivate init(_ table: UnsafeMutablePointer<iv_names>) { self.table = ConstantMemory(table) }
        deinit { KeyTable.free(UnsafeMutablePointer(mutating: table.address.assumingMemoryBound(to: iv_names.self))) }
    }

    public init(owner: UInt32) {
        self.owner = owner
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_keys(names: Self.table(capacity: 64), texts: nil, prefix: UInt64(owner) << 32))
    }

    deinit {
        for word in versions.values { VersionWords.giveBack(word) }
        if let table = iv_keys_names(raw) { Self.free(table) }
        for page in offsets { page.deallocate() }
        for chunk in allocations { chunk.deallocate() }
        for texts in formerTexts { texts.deallocate() }
        raw.pointee.texts?.deallocate()
        raw.deallocate()
    }

    private static func table(capacity: Int) -> UnsafeMutablePointer<iv_names> {
        let slots = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
        slots.initialize(repeating: 0, count: capacity)
        let table = UnsafeMutablePointer<iv_names>.allocate(capacity: 1)
        table.initialize(to: iv_names(mask: UInt64(capacity - 1), slots: slots))
        return table
    }

    private static func free(_ table: UnsafeMutablePointer<iv_names>) {
        table.pointee.slots.deallocate()
        table.deallocate()
    }

    // MARK: under the monitor

    private static let pageSize = 1024
    private static let chunkSize = 1 << Int(IV_TEXT_SHIFT)

    public func id(of name: String) -> UInt32? {
        var name = name
        return name.withUTF8 { bytes in bytes.baseAddress.flatMap { Self.find(raw, $0, bytes.count) } }
    }

    /// The storage of an id's name and its header.
    private func entry(_ id: UInt32) -> UnsafePointer<CChar>? {
        guard Int(id) < count else { return nil }
        return iv_keys_text(raw, offsets[Int(id) / Self.pageSize][Int(id) % Self.pageSize])
    }

    public func name(_ id: UInt32) -> String {
        guard let entry = entry(id), let text = iv_text_name(entry) else { return "?" }
        let bytes = UnsafeRawBufferPointer(start: text, count: iv_text_length(entry))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Borrowed while the runtime lives.
    public func text(_ id: UInt32) -> UnsafePointer<CChar>? { entry(id).flatMap { iv_text_name($0) } }

    /// The offset of an id's name.
    func offset(of id: UInt32) -> UInt32? {
        Int(id) < count ? offsets[Int(id) / Self.pageSize][Int(id) % Self.pageSize] : nil
    }

    /// Returns the id of a name, which is added if it is new.
    public func intern(_ name: String) throws(Failure) -> UInt32 {
        // Names must be C strings: they end at the first NUL.
        var name = name.contains(byte: 0) ? String(decoding: name.utf8.prefix { $0 != 0 }, as: UTF8.self) : name
        if let id = id(of: name) { return id }
        let id = UInt32(truncatingIfNeeded: count)
        let offset = name.withUTF8 { bytes in append(bytes, id) }
        guard count < Int(UInt32.max), let offset else { throw Failure(.memory, "no memory for the key '\(name)'") }
        if count % Self.pageSize == 0 { offsets.append(.allocate(capacity: Self.pageSize)) }
        offsets[count / Self.pageSize][count % Self.pageSize] = offset
        count += 1
        grow()
        let hash = name.withUTF8 { bytes in bytes.baseAddress.map { Self.hash($0, bytes.count) } ?? Self.hash(raw, 0) }
        if let table = iv_keys_names(raw) { Self.put(table, hash, offset) }
        return id
    }

    /// Appends a name. Returns its offset; nil when the names have no storage left.
    private func append(_ bytes: UnsafeBufferPointer<UInt8>, _ id: UInt32) -> UInt32? {
        let needed = 5 + bytes.count + 1
        if used + needed > chunkRoom {
            let chunks = (needed + Self.chunkSize - 1) / Self.chunkSize
            used = chunkCount * Self.chunkSize + (chunkCount == 0 ? 16 : 0)
            let room = max(chunks * Self.chunkSize, used == 16 ? 16 + needed : 0)
            let whole = (room + Self.chunkSize - 1) / Self.chunkSize
            guard used + whole * Self.chunkSize <= Int(UInt32.max) else { return nil }
            add(.allocate(capacity: whole * Self.chunkSize), whole)
        }
        guard let text = iv_keys_text(raw, UInt32(used)) else { return nil }
        let entry = UnsafeMutableRawPointer(mutating: text)
        entry.storeBytes(of: id, as: UInt32.self)
        entry.storeBytes(of: UInt8(min(bytes.count, Int(IV_TEXT_LONG))), toByteOffset: 4, as: UInt8.self)
        if let start = bytes.baseAddress { (entry + 5).copyMemory(from: start, byteCount: bytes.count) }
        entry.storeBytes(of: 0, toByteOffset: 5 + bytes.count, as: UInt8.self)
        defer { used += needed }
        return UInt32(used)
    }

    /// Adds a chunk of storage for names, at `count` consecutive offsets.
    private func add(_ chunk: UnsafeMutablePointer<CChar>, _ count: Int) {
        allocations.append(chunk)
        // A list of them is as long as the next power of two.
        let former = raw.pointee.texts
        let room = chunkCount == 0 ? 0 : max(16, 1 << (Int.bitWidth - (chunkCount - 1).leadingZeroBitCount))
        var texts = former
        if chunkCount + count > room || former == nil {
            let larger = max(16, 1 << (Int.bitWidth - (chunkCount + count - 1).leadingZeroBitCount))
            let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: larger)
            list.initialize(repeating: nil, count: larger)
            if let former { list.update(from: former, count: chunkCount) }
            texts = list
        }
        for index in 0..<count { texts?[chunkCount + index] = chunk + index * Self.chunkSize }
        if texts != former {
            iv_keys_publish_texts(raw, texts)
            if let former { formerTexts.append(former) }
        }
        chunkCount += count
        chunkRoom = chunkCount * Self.chunkSize
    }

    private func grow() {
        guard let table = iv_keys_names(raw), UInt64(count) * 16 > (table.pointee.mask + 1) * 13 else { return }
        let larger = Self.table(capacity: Int(table.pointee.mask + 1) * 2)
        for id in 0..<UInt32(count - 1) {
            guard let entry = entry(id), let text = iv_text_name(entry) else { continue }
            Self.put(
                larger, Self.hash(text, iv_text_length(entry)),
                offsets[Int(id) / Self.pageSize][Int(id) % Self.pageSize])
        }
        iv_keys_publish(raw, larger)
        outgrown.append(Outgrown(table))
    }

    /// Takes the tables that new readers do not find any more; they are freed with the current generation.
    public func takeOutgrown() -> [Outgrown] {
        defer { outgrown = [] }
        return outgrown
    }

    private static func put(_ table: UnsafeMutablePointer<iv_names>, _ hash: UInt64, _ offset: UInt32) {
        guard let slots = table.pointee.slots else { return }
        var index = hash & table.pointee.mask
        while slots[Int(index)] != 0 { index = (index &+ 1) & table.pointee.mask }
        iv_store_u64(slots + Int(index), (hash >> 32) << 32 | UInt64(offset))
    }

    /// The version word of a key, created at the first request.
    public func version(_ id: UInt32) -> UnsafePointer<UInt64> {
        if let word = versions[id] { return UnsafePointer(word) }
        let word = VersionWords.take()
        versions[id] = word
        return UnsafePointer(word)
    }

    public func bumpVersion(_ id: UInt32) {
        if let word = versions[id] { _ = iv_add_u64(word, 1) }
    }

    public func bumpAllVersions() {
        for word in versions.values { _ = iv_add_u64(word, 1) }
    }

    // MARK: wait-free

    /// The key whose name has the offset that `offset(of:)` returned. Any thread, while the table lives.
    func entry(at offset: UInt32) -> (id: UInt32, name: String) {
        guard let entry = iv_keys_text(raw, offset), let text = iv_text_name(entry) else { return (.max, "?") }
        let bytes = UnsafeRawBufferPointer(start: text, count: iv_text_length(entry))
        return (iv_text_id(entry), String(decoding: bytes, as: UTF8.self))
    }

    /// The id alone.
    func id(at offset: UInt32) -> UInt32 { iv_keys_text(raw, offset).map { iv_text_id($0) } ?? .max }

    /// The name of a key, or nil. Searches every name: in a forked child the pages of offsets may be half-written.
    public static func text(_ keys: UnsafePointer<iv_keys>, _ id: UInt32) -> UnsafePointer<CChar>? {
        guard let table = iv_keys_names(keys), let slots = table.pointee.slots else { return nil }
        for index in 0...Int(truncatingIfNeeded: table.pointee.mask) {
            let found = iv_load_u64(slots + index)
            guard found != 0, let entry = iv_keys_text(keys, UInt32(truncatingIfNeeded: found)) else { continue }
            if iv_text_id(entry) == id { return iv_text_name(entry) }
        }
        return nil
    }

    /// The id of the key with these bytes, or nil.
    @inlinable @inline(__always)
    public static func find(_ keys: UnsafePointer<iv_keys>, _ text: UnsafeRawPointer, _ length: Int) -> UInt32? {
        let hash = hash(text, length)
        guard let table = iv_keys_names(keys) else { return nil }
        let mask = table.pointee.mask
        let slots = table.pointee.slots.unsafelyUnwrapped
        var index = hash & mask
        while true {
            let found = iv_load_u64(slots + Int(truncatingIfNeeded: index))
            if found == 0 { return nil }
            if (found ^ hash) >> 32 == 0 {
                let entry = iv_keys_text(keys, UInt32(truncatingIfNeeded: found)).unsafelyUnwrapped
                if iv_text_length(entry) == length, iv_same_bytes(iv_text_name(entry), text, length) {
                    return iv_text_id(entry)
                }
            }
            index = (index &+ 1) & mask
        }
    }

    /// Eight bytes at a time, folded by a 128-bit product (after wyhash, public domain); never 0.
    @inlinable @inline(__always)
    static func hash(_ text: UnsafeRawPointer, _ length: Int) -> UInt64 {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(truncatingIfNeeded: length)
        var offset = 0
        while offset &+ 8 <= length {
            state = fold(state ^ text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        var rest: UInt64 = 0
        if length >= 8 {
            rest = text.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
        } else {
            while offset < length {
                rest = rest << 8 | UInt64(text.load(fromByteOffset: offset, as: UInt8.self))
                offset &+= 1
            }
        }
        state = fold(state ^ rest)
        return state | 1
    }

    @inlinable @inline(__always)
    public static func fold(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        return product.high ^ product.low
    }
}

/// Words with the versions of keys.
///
/// They are never freed, so that a cache may read one at any time. A returned word is incremented before it serves
/// another key, so that no version is used twice.
enum VersionWords {
    /// The addresses of free words.
    private static let free = Guarded<[UInt]>([], by: Monitor(isProcessWide: true))

    static func take() -> UnsafeMutablePointer<UInt64> {
        let address = free.locked { free -> UInt in
            if let address = free.popLast() { return address }
            let chunk = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
            chunk.initialize(repeating: 0, count: 512)
            free += (1..<512).map { UInt(bitPattern: chunk + $0) }
            return UInt(bitPattern: chunk)
        }
        let word = UnsafeMutablePointer<UInt64>(bitPattern: address)!
        _ = iv_add_u64(word, 1)
        return word
    }

    static func giveBack(_ word: UnsafeMutablePointer<UInt64>) {
        _ = iv_add_u64(word, 1)
        free.locked { $0.append(UInt(bitPattern: word)) }
    }
}
