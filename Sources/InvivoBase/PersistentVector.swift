/// A list whose copies share unchanged elements.
///
/// A copy takes constant time. A change of a copied vector copies one leaf of 64 elements, its page of 64 leaves, and
/// the list of pages: 8 bytes for each 4,096 elements. An unshared vector is changed in place. Reading an element takes
/// three loads.
public struct PersistentVector<Element: Sendable>: Sendable {
    @usableFromInline static var leafSize: Int { 64 }
    @usableFromInline static var pageSize: Int { 64 }

    /// Pages of leaves of elements. Arrays share their memory until they are changed.
    @usableFromInline var pages: [[[Element]]] = []
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }
    public var indices: Range<Int> { 0..<count }

    @inlinable public subscript(index: Int) -> Element {
        get {
            pages[index / (Self.leafSize * Self.pageSize)][index / Self.leafSize % Self.pageSize][
                index % Self.leafSize]
        }
        set {
            pages[index / (Self.leafSize * Self.pageSize)][index / Self.leafSize % Self.pageSize][
                index % Self.leafSize] = newValue
        }
    }

    public mutating func append(_ element: Element) {
        if count % (Self.leafSize * Self.pageSize) == 0 { pages.append([]) }
        let page = count / (Self.leafSize * Self.pageSize)
        if count % Self.leafSize == 0 { pages[page].append([]) }
        pages[page][count / Self.leafSize % Self.pageSize].append(element)
        count += 1
    }

    /// Appends `element` until there are `count` elements.
    public mutating func grow(to count: Int, with element: Element) {
        while self.count < count { append(element) }
    }
}
