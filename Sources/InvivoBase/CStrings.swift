internal import CInvivo
internal import Glibc

/// The address of memory that any thread may read and no thread writes.
///
/// Unchecked: it was written before other threads received the address. The owner of the memory frees it, when nothing reads
/// it any more.
public struct ConstantMemory: @unchecked Sendable {
    public let address: UnsafeRawPointer

    public init(_ address: UnsafeRawPointer) { self.address = address }
}

/// A table that C borrows. It lives as long as its `CStrings`.
struct CTable<Element>: Sendable {
    private let memory: ConstantMemory?
    private let count: Int

    init(_ elements: UnsafePointer<Element>?, count: Int) {
        memory = elements.map { ConstantMemory($0) }
        self.count = count
    }

    var buffer: UnsafeBufferPointer<Element> {
        UnsafeBufferPointer(start: memory?.address.assumingMemoryBound(to: Element.self), count: count)
    }
}

/// A NUL-terminated string that C borrows. It lives as long as its `CStrings`, or as the process if it is a literal.
public struct CText: Sendable {
    private let memory: ConstantMemory

    /// `pointer` is labeled because Swift would pass a string literal as a temporary pointer.
    fileprivate init(constant pointer: UnsafePointer<CChar>) { memory = ConstantMemory(pointer) }

    public var pointer: UnsafePointer<CChar> { memory.address.assumingMemoryBound(to: CChar.self) }

    public static var empty: CText { CText(constant: EmptyText.pointer) }
}

/// Memory for C copies of names and tables that must stay where they are: freed with its owner.
///
/// Unchecked: filled by one thread while its owner is being created; afterwards only read.
public final class CStrings: @unchecked Sendable {
    private var blocks: [UnsafeMutableRawPointer] = []
    /// Ends the elements that own something, in the order of allocation.
    private var endings: [() -> Void] = []

    public init() {}

    /// A NUL-terminated copy.
    public func string(_ text: String) -> UnsafePointer<CChar> {
        var text = text
        return text.withUTF8 { utf8 in
            let copy = bytes(utf8.count + 1)
            if let base = utf8.baseAddress { copy.copyMemory(from: base, byteCount: utf8.count) }
            copy.storeBytes(of: 0, toByteOffset: utf8.count, as: UInt8.self)
            return UnsafePointer(copy.assumingMemoryBound(to: CChar.self))
        }
    }

    /// A NUL-terminated copy for an owner of this memory.
    public func text(_ text: String) -> CText { CText(constant: string(text)) }

    /// A NUL-terminated copy; nil for nil.
    public func string(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        return string(text)
    }

    /// A copy of a table; nil when it is empty.
    public func table<Element>(_ elements: [Element]) -> UnsafePointer<Element>? {
        guard !elements.isEmpty else { return nil }
        let copy = bytes(elements.count * MemoryLayout<Element>.stride).bindMemory(
            to: Element.self, capacity: elements.count)
        for (index, element) in elements.enumerated() { (copy + index).initialize(to: element) }
        return UnsafePointer(copy)
    }

    /// An element that owns something: `end` is called before its memory is freed.
    func element<Element>(
        _ element: Element, end: @escaping (inout Element) -> Void
    ) -> UnsafePointer<Element> {
        let copy = bytes(MemoryLayout<Element>.stride).bindMemory(to: Element.self, capacity: 1)
        copy.initialize(to: element)
        endings.append { end(&copy.pointee) }
        return UnsafePointer(copy)
    }

    private func bytes(_ count: Int) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
        blocks.append(block)
        return block
    }

    deinit {
        for end in endings { end() }
        for block in blocks { block.deallocate() }
    }
}

/// A NUL-terminated string from C; `what` names the argument in messages.
public func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(Failure) -> String {
    guard let pointer else { throw Failure(.argument, "\(what) is NULL") }
    guard let text = String(validatingCString: pointer) else { throw Failure(.encoding, "\(what) is not UTF-8") }
    return text
}

/// A NUL-terminated string from C, or nil for NULL.
public func optionalText(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(Failure) -> String? {
    guard let pointer else { return nil }
    return try text(pointer, what)
}
