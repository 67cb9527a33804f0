internal import CInvivo
public import CPlatform
internal import Glibc
public import InvivoBase

/// The names of a runtime's keys and their dense ids.
///
/// Interning and everything Swift-side happens under the container's monitor; `find` is wait-free for any thread that
/// is inside a view (or otherwise sure that the table lives): names are written before their hash is published, tables
/// only grow, and outgrown ones are kept until the runtime is freed.
public final class KeyTable: @unchecked Sendable {
    public let raw: UnsafeMutablePointer<iv_keys>
    /// The upper half of every key of this runtime.
    public let owner: UInt32
    private var names: [String] = []
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private var ids: [String: UInt32] = [:]
    private var outgrown: [UnsafeMutablePointer<iv_names>] = []
    private var versions: [UInt32: UnsafeMutablePointer<UInt64>] = [:]

    init(owner: UInt32) {
        self.owner = owner
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_keys(names: Self.table(capacity: 64), prefix: UInt64(owner) << 32))
    }

    deinit {
        for word in versions.values { VersionWords.giveBack(word) }
        for table in outgrown + [iv_keys_names(raw)].compactMap({ $0 }) {
            table.pointee.slots.deallocate()
            table.deallocate()
        }
        for text in texts { free(text) }
        raw.deallocate()
    }

    private static func table(capacity: Int) -> UnsafeMutablePointer<iv_names> {
        let slots = UnsafeMutablePointer<iv_name>.allocate(capacity: capacity)
        slots.initialize(repeating: iv_name(), count: capacity)
        let table = UnsafeMutablePointer<iv_names>.allocate(capacity: 1)
        table.initialize(to: iv_names(mask: UInt64(capacity - 1), slots: slots))
        return table
    }

    // MARK: under the monitor

    public var count: Int { names.count }
    public func id(of name: String) -> UInt32? { ids[name] }
    public func name(_ id: UInt32) -> String { Int(id) < names.count ? names[Int(id)] : "?" }
    /// Borrowed while the runtime lives.
    public func text(_ id: UInt32) -> UnsafePointer<CChar>? {
        Int(id) < texts.count ? UnsafePointer(texts[Int(id)]) : nil
    }

    /// The id of a name, made when new.
    public func intern(_ name: String) throws(Failure) -> UInt32 {
        if let id = ids[name] { return id }
        guard let text = strdup(name), names.count < Int(UInt32.max) else {
            throw Failure(.memory, "no memory for the key '\(name)'")
        }
        let id = UInt32(names.count)
        names.append(name)
        texts.append(text)
        ids[name] = id
        grow()
        let length = strlen(text)
        let hash = Self.hash(UnsafeRawPointer(text), length)
        if let table = iv_keys_names(raw) {
            Self.put(table, iv_name(hash: hash, text: text, length: UInt32(length), id: id))
        }
        return id
    }

    private func grow() {
        guard let table = iv_keys_names(raw), UInt64(names.count) * 2 > table.pointee.mask else { return }
        let larger = Self.table(capacity: Int(table.pointee.mask + 1) * 4)
        for index in 0...Int(table.pointee.mask) where table.pointee.slots[index].hash != 0 {
            Self.put(larger, table.pointee.slots[index])
        }
        iv_keys_publish(raw, larger)
        outgrown.append(table)
    }

    private static func put(_ table: UnsafeMutablePointer<iv_names>, _ name: iv_name) {
        var index = name.hash & table.pointee.mask
        while table.pointee.slots[Int(index)].hash != 0 { index = (index &+ 1) & table.pointee.mask }
        let slot = table.pointee.slots + Int(index)
        slot.pointee.text = name.text
        slot.pointee.length = name.length
        slot.pointee.id = name.id
        iv_store_u64(iv_name_hash(slot), name.hash)
    }

    /// The version word of a key; made when first asked for.
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

    /// The id of the key with these bytes, or nil.
    @inlinable @inline(__always)
    public static func find(_ keys: UnsafePointer<iv_keys>, _ text: UnsafeRawPointer, _ length: Int) -> UInt32? {
        let hash = hash(text, length)
        guard let table = iv_keys_names(keys) else { return nil }
        let mask = table.pointee.mask
        let slots = table.pointee.slots.unsafelyUnwrapped
        var index = hash & mask
        while true {
            let slot = slots + Int(truncatingIfNeeded: index)
            let found = iv_load_u64(iv_name_hash(slot))
            if found == 0 { return nil }
            if found == hash, Int(slot.pointee.length) == length, iv_same_bytes(slot.pointee.text, text, length) {
                return slot.pointee.id
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
    static func fold(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        return product.high ^ product.low
    }
}

/// Words that say a key's version. Never freed, so that a cache may read one at any time; a word given back is counted
/// up before it serves another key, so no version comes twice.
enum VersionWords {
    private static let monitor = Monitor(isProcessWide: true)
    nonisolated(unsafe) private static var free: [UnsafeMutablePointer<UInt64>] = []

    static func take() -> UnsafeMutablePointer<UInt64> {
        let word = monitor.locked { () -> UnsafeMutablePointer<UInt64> in
            if let word = free.popLast() { return word }
            let chunk = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
            chunk.initialize(repeating: 0, count: 512)
            free += (1..<512).map { chunk + $0 }
            return chunk
        }
        _ = iv_add_u64(word, 1)
        return word
    }

    static func giveBack(_ word: UnsafeMutablePointer<UInt64>) {
        _ = iv_add_u64(word, 1)
        monitor.locked { free.append(word) }
    }
}
