internal import CInvivo

/// The memory of the arguments of one call of the C ABI: strings, tables, values. Freed with the arena, which must
/// outlive the call; `withArena` ensures this.
final class Arena {
    private var blocks: [UnsafeMutableRawPointer] = []
    private var cleanups: [() -> Void] = []

    fileprivate init() {}

    deinit {
        for block in blocks { block.deallocate() }
        for cleanup in cleanups { cleanup() }
    }

    /// Runs at the end of the arena, for example to release a handle that was held for the call.
    func atEnd(_ cleanup: @escaping () -> Void) { cleanups.append(cleanup) }

    /// Zeroed memory for `count` elements of a plain type; nil for none.
    func memory<Element>(_ count: Int, of type: Element.Type = Element.self) -> UnsafeMutablePointer<Element>? {
        guard count > 0 else { return nil }
        let bytes = count * MemoryLayout<Element>.stride
        let raw = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: MemoryLayout<Element>.alignment)
        raw.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        blocks.append(raw)
        return raw.assumingMemoryBound(to: Element.self)
    }

    func table<Element>(_ elements: [Element]) -> UnsafeMutablePointer<Element>? {
        let copy = memory(elements.count, of: Element.self)
        if let copy { for (index, element) in elements.enumerated() { copy[index] = element } }
        return copy
    }

    /// A name or path, which ends with NUL and so cannot hold one.
    func name(_ text: String) throws(InvivoError) -> UnsafePointer<CChar>? {
        UnsafePointer(bytes(try Self.whole(text).utf8.map { CChar(bitPattern: $0) } + [0]))
    }

    /// Rejects a string that C would truncate.
    static func whole(_ name: String) throws(InvivoError) -> String {
        guard name.utf8.contains(0) else { return name }
        let shown = name.split(separator: "\0", omittingEmptySubsequences: false).joined(separator: "\\0")
        throw InvivoError(.argument, "a name or path may not contain NUL: '\(shown)'")
    }

    func name(_ text: String?) throws(InvivoError) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        return try name(text)
    }

    func names(_ texts: [String]) throws(InvivoError) -> UnsafePointer<UnsafePointer<CChar>?>? {
        var pointers: [UnsafePointer<CChar>?] = []
        for text in texts { pointers.append(try name(text)) }
        return UnsafePointer(table(pointers))
    }

    /// Text as data, of any length and content.
    func data(_ text: String) -> (UnsafePointer<CChar>?, UInt64) {
        let utf8 = text.utf8.map { CChar(bitPattern: $0) }
        return (UnsafePointer(bytes(utf8)), UInt64(utf8.count))
    }

    private func bytes(_ bytes: [CChar]) -> UnsafeMutablePointer<CChar>? { table(bytes) }
}

/// Runs `body` with an arena that lives to its end.
func withArena<Result>(_ body: (Arena) throws(InvivoError) -> Result) throws(InvivoError) -> Result {
    let arena = Arena()
    defer { withExtendedLifetime(arena) {} }
    return try body(arena)
}
