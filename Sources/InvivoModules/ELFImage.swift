import InvivoBase

/// A shared library as described by its bytes, checked before it is loaded.
///
/// The dynamic linker trusts the files that it maps: a truncated library kills the process inside `dlopen`. So every
/// table and range that the linker would follow is checked here first. The checks only ensure that the file is complete
/// and built for this machine; they do not protect against malicious code.
struct ELFImage {
    /// The ABI version of the module's note; nil when it carries none.
    private(set) var abiVersion: UInt32?
    /// Names of the functions and variables that it defines for others; nil when the file does not list them.
    private(set) var exports: Set<String>?
    /// The libraries it needs (DT_NEEDED).
    private(set) var needed: [String] = []

    private let bytes: Bytes
    private var segments: [Segment] = []
    private var sections: [Section] = []

    /// Checks a file's bytes. The failure describes their first defect, without the file's name.
    init(_ content: [UInt8]) throws(Defect) {
        bytes = Bytes(content)
        try checkHeader()
        try readSegments()
        try readSections()
        try readDynamic()
        readNotes()
        try readExports()
    }

    /// A defect of a file. The text completes a sentence after "module PATH ".
    struct Defect: Error { let text: String }

    private struct Segment {
        let kind, address, offset, fileSize, memorySize, alignment: Int
    }

    private struct Section {
        let kind, offset, size, link: Int
    }

    private enum Layout {
        static let header = 64, segment = 56, section = 64, symbol = 24, dynamic = 16
        static let sharedLibrary = 3
        static let load = 1, dynamicSegment = 2, note = 4
        static let stringTable = 3, withoutBytes = 8, dynamicSymbols = 11
        static let neededTag = 1, stringTableTag = 5, symbolTableTag = 6, stringSizeTag = 10
        #if arch(x86_64)
            static let machine = 62
        #elseif arch(arm64)
            static let machine = 183
        #endif
    }

    private static let cut = Defect(text: "is cut off or still being written: a table of it lies outside the file")

    private func checkHeader() throws(Defect) {
        guard bytes.count >= 4, bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46]) else {
            throw Defect(
                text: bytes.count == 0 ? "is empty" : "is no shared library: it does not begin as an ELF file does")
        }
        guard bytes.count >= Layout.header else { throw Self.cut }
        guard bytes.u8(4) == 2, bytes.u8(5) == 1, bytes.u8(6) == 1 else {
            throw Defect(text: "is for another kind of machine: 64-bit little-endian ELF is expected")
        }
        guard bytes.u16(16) == Layout.sharedLibrary else {
            throw Defect(text: "is an ELF file, but no shared library (build it with -shared)")
        }
        guard bytes.u16(18) == Layout.machine else {
            throw Defect(
                text: "is built for another machine (ELF machine \(bytes.u16(18) ?? 0), expected \(Layout.machine))")
        }
    }

    private mutating func readSegments() throws(Defect) {
        guard let start = bytes.size(32), let entry = bytes.u16(54), let count = bytes.u16(56), entry == Layout.segment,
            count > 0, bytes.holds(start, count * entry)
        else { throw Self.cut }
        for index in 0..<count {
            let at = start + index * entry
            guard let kind = bytes.u32(at), let offset = bytes.size(at + 8), let address = bytes.size(at + 16),
                let fileSize = bytes.size(at + 32), let memorySize = bytes.size(at + 40),
                let alignment = bytes.size(at + 48), bytes.holds(offset, fileSize), fileSize <= memorySize
            else { throw Self.cut }
            segments.append(
                Segment(
                    kind: kind, address: address, offset: offset, fileSize: fileSize, memorySize: memorySize,
                    alignment: alignment))
        }
        guard segments.contains(where: { $0.kind == Layout.load }) else { throw Self.cut }
    }

    /// The section table is written last, so it is the first thing that an unfinished file lacks.
    private mutating func readSections() throws(Defect) {
        guard let start = bytes.size(40), let entry = bytes.u16(58), let count = bytes.u16(60),
            let names = bytes.u16(62)
        else { throw Self.cut }
        guard start > 0, count > 0 else { return }
        guard entry == Layout.section, bytes.holds(start, count * entry), names < count else { throw Self.cut }
        for index in 0..<count {
            let at = start + index * entry
            guard let kind = bytes.u32(at + 4), let offset = bytes.size(at + 24), let size = bytes.size(at + 32),
                let link = bytes.u32(at + 40), kind == Layout.withoutBytes || bytes.holds(offset, size)
            else { throw Self.cut }
            sections.append(Section(kind: kind, offset: offset, size: size, link: link))
        }
        guard sections[names].kind == Layout.stringTable else { throw Self.cut }
    }

    private mutating func readDynamic() throws(Defect) {
        guard let dynamic = segments.first(where: { $0.kind == Layout.dynamicSegment }) else {
            throw Defect(text: "is no shared library: it has no dynamic section")
        }
        var values: [Int: Int] = [:]
        var names: [Int] = []
        var ended = false
        for at in stride(from: dynamic.offset, to: dynamic.offset + dynamic.fileSize, by: Layout.dynamic) {
            guard let tag = bytes.size(at), let value = bytes.size(at + 8) else { continue }
            if tag == 0 {
                ended = true
                break
            }
            if tag == Layout.neededTag { names.append(value) } else { values[tag] = value }
        }
        guard ended, let symbols = values[Layout.symbolTableTag], offset(of: symbols) != nil,
            let stringsAddress = values[Layout.stringTableTag], let strings = offset(of: stringsAddress),
            let size = values[Layout.stringSizeTag], bytes.holds(strings, size)
        else { throw Self.cut }
        needed = names.compactMap { $0 < size ? bytes.text(at: strings + $0) : nil }
    }

    /// The file offset of an address of the loaded image.
    private func offset(of address: Int) -> Int? {
        segments.first {
            $0.kind == Layout.load && address >= $0.address && address - $0.address < $0.fileSize
        }.map { $0.offset + (address - $0.address) }
    }

    private mutating func readNotes() {
        for segment in segments where segment.kind == Layout.note {
            let step = segment.alignment == 8 ? 8 : 4
            let end = segment.offset + segment.fileSize
            var at = segment.offset
            while at + 12 <= end, let nameSize = bytes.u32(at), let size = bytes.u32(at + 4),
                let kind = bytes.u32(at + 8)
            {
                let content = at + (12 + nameSize + step - 1) / step * step
                guard content + size <= end else { break }
                if kind == 1, size == 4, nameSize == 7, bytes.text(at: at + 12) == "Invivo",
                    let version = bytes.u32(content)
                {
                    abiVersion = UInt32(version)
                    return
                }
                at = content + (size + step - 1) / step * step
            }
        }
    }

    private mutating func readExports() throws(Defect) {
        guard let table = sections.first(where: { $0.kind == Layout.dynamicSymbols }) else { return }
        guard table.link < sections.count else { throw Self.cut }
        let strings = sections[table.link]
        var names: Set<String> = []
        for at in stride(from: table.offset, to: table.offset + table.size, by: Layout.symbol) {
            guard let name = bytes.u32(at), let section = bytes.u16(at + 6), section != 0, name < strings.size,
                let text = bytes.text(at: strings.offset + name)
            else { continue }
            names.insert(text)
        }
        exports = names
    }
}

/// Bytes with bounds-checked reads: a read outside is nil.
private struct Bytes {
    private let content: [UInt8]
    init(_ content: [UInt8]) { self.content = content }

    var count: Int { content.count }
    func starts(with prefix: [UInt8]) -> Bool { content.starts(with: prefix) }
    func holds(_ offset: Int, _ size: Int) -> Bool { size <= content.count && offset <= content.count - size }

    func u8(_ at: Int) -> Int? { load(at, UInt8.self) }
    func u16(_ at: Int) -> Int? { load(at, UInt16.self) }
    func u32(_ at: Int) -> Int? { load(at, UInt32.self) }
    /// A 64-bit number that may be an offset or a size: nil when it is larger than any file.
    func size(_ at: Int) -> Int? { load(at, UInt64.self) }

    private func load<Number: FixedWidthInteger>(_ at: Int, _: Number.Type) -> Int? {
        guard at >= 0, holds(at, MemoryLayout<Number>.size) else { return nil }
        let number = content.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: Number.self) }
        // A quarter of the range, so that sums of a few such numbers do not overflow.
        return number.magnitude <= UInt64(Int.max / 4) ? Int(number) : nil
    }

    func text(at start: Int) -> String? {
        guard start >= 0, start < content.count, let end = content[start...].firstIndex(of: 0) else { return nil }
        return String(decoding: content[start..<end], as: UTF8.self)
    }
}
