/// A list of plain values in which copies share what does not change.
///
/// A copy takes constant time. A change of a copied vector copies one leaf of 64 elements, its page of 64 leaves, and the list of
/// pages: 4 bytes for each 1,000 elements. An unshared vector is changed in place. Reading an element takes three loads.
public struct PersistentVector<Element: Sendable>: Sendable {
    @usableFromInline static var leafSize: Int { 64 }
    @usableFromInline static var pageSize: Int { 64 }

    /// The classes below are written only while this vector alone refers to them.
    @usableFromInline final class Leaf: @unchecked Sendable {
        @usableFromInline var elements: [Element]
        @inlinable init(_ elements: [Element]) { self.elements = elements }
    }

    @usableFromInline final class Page: @unchecked Sendable {
        @usableFromInline var leaves: [Leaf]
        @inlinable init(_ leaves: [Leaf]) { self.leaves = leaves }
    }

    @usableFromInline var pages: [Page] = []
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }
    public var indices: Range<Int> { 0..<count }

    @inlinable public subscript(index: Int) -> Element {
        get {
            pages[index / (Self.leafSize * Self.pageSize)].leaves[index / Self.leafSize % Self.pageSize]
                .elements[index % Self.leafSize]
        }
        set { own(index).elements[index % Self.leafSize] = newValue }
    }

    /// Returns the leaf of an index, which this vector alone refers to.
    @inlinable mutating func own(_ index: Int) -> Leaf {
        let page = index / (Self.leafSize * Self.pageSize)
        if !isKnownUniquelyReferenced(&pages[page]) { pages[page] = Page(pages[page].leaves) }
        let leaf = index / Self.leafSize % Self.pageSize
        if !isKnownUniquelyReferenced(&pages[page].leaves[leaf]) {
            pages[page].leaves[leaf] = Leaf(pages[page].leaves[leaf].elements)
        }
        return pages[page].leaves[leaf]
    }

    public mutating func append(_ element: Element) {
        if count % (Self.leafSize * Self.pageSize) == 0 { pages.append(Page([])) }
        let page = count / (Self.leafSize * Self.pageSize)
        if !isKnownUniquelyReferenced(&pages[page]) { pages[page] = Page(pages[page].leaves) }
        if count % Self.leafSize == 0 {
            var elements: [Element] = []
            elements.reserveCapacity(count == 0 ? 4 : Self.leafSize)
            pages[page].leaves.append(Leaf(elements))
        }
        own(count).elements.append(element)
        count += 1
    }

    /// Appends `element` until there are `count` elements.
    public mutating func grow(to count: Int, with element: Element) {
        while self.count < count { append(element) }
    }
}
