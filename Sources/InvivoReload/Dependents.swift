internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The reverse edges of compiled definitions: for each key, its holders with the kinds of their edges. Packed, because
/// there are about as many as definitions: a word per key and eight bytes per edge. A key with many holders has a
/// table.
struct Dependents: Sendable {
    typealias Holders = [(key: UInt32, value: Edge)]

    private struct Link: Sendable {
        var holder: UInt32
        /// The position of the next link, counted from 1, and the edge of the holder.
        var next: UInt32
    }

    /// By key: the position of its first link, counted from 1; `isTabled` for those in `many`.
    private var heads = PersistentVector<UInt32>()
    private var links = PersistentVector<Link>()
    private var firstFree: UInt32 = 0
    private var many: TreeDictionary<UInt32, TreeDictionary<UInt32, Edge>> = [:]

    private static let isTabled = UInt32.max
    private static let mostLinks = 24
    private static let edgeShift = 32 - Edge.packedBits
    private static let positionMask: UInt32 = 1 << edgeShift - 1

    /// The holders of a key, in no order.
    subscript(id: UInt32) -> Holders {
        guard Int(id) < heads.count else { return [] }
        let head = heads[Int(id)]
        if head == Self.isTabled { return many[id].map { $0.map { ($0.key, $0.value) } } ?? [] }
        var found: Holders = []
        var position = head
        while position != 0 {
            let link = links[Int(position) - 1]
            found.append((link.holder, Edge(packed: link.next >> Self.edgeShift) ?? .deferred))
            position = link.next & Self.positionMask
        }
        return found
    }

    /// Whether a key has the maximum number of links.
    private func isFull(_ id: UInt32) -> Bool {
        var position = heads[Int(id)]
        var count = 0
        while position != 0 && count < Self.mostLinks {
            position = links[Int(position) - 1].next & Self.positionMask
            count += 1
        }
        return count == Self.mostLinks
    }

    func holders(of id: UInt32) -> [UInt32] { self[id].map(\.key) }

    func forEach(_ body: (UInt32, Holders) -> Void) {
        for id in heads.indices where heads[id] != 0 { body(UInt32(id), self[UInt32(id)]) }
    }

    mutating func set(_ edge: Edge, of holder: UInt32, to id: UInt32) {
        remove(holder, from: id)
        if Int(id) >= heads.count { heads.grow(to: Int(id) + 1, with: 0) }
        if heads[Int(id)] != Self.isTabled && isFull(id) {
            let known = self[id]
            for (holder, _) in known { remove(holder, from: id) }
            many[id] = TreeDictionary(uniqueKeysWithValues: known.map { ($0.key, $0.value) })
            heads[Int(id)] = Self.isTabled
        }
        guard heads[Int(id)] != Self.isTabled else {
            many[id]?[holder] = edge
            return
        }
        let link = Link(holder: holder, next: heads[Int(id)] | edge.packed << Self.edgeShift)
        if firstFree != 0 {
            heads[Int(id)] = firstFree
            firstFree = links[Int(firstFree) - 1].next
            links[Int(heads[Int(id)]) - 1] = link
        } else {
            links.append(link)
            heads[Int(id)] = UInt32(links.count)
        }
    }

    mutating func remove(_ holder: UInt32, from id: UInt32) {
        guard Int(id) < heads.count else { return }
        guard heads[Int(id)] != Self.isTabled else {
            many[id]?[holder] = nil
            if many[id]?.isEmpty == true {
                many[id] = nil
                heads[Int(id)] = 0
            }
            return
        }
        var before: UInt32 = 0
        var position = heads[Int(id)]
        while position != 0 {
            let link = links[Int(position) - 1]
            if link.holder == holder {
                let next = link.next & Self.positionMask
                if before == 0 {
                    heads[Int(id)] = next
                } else {
                    links[Int(before) - 1].next = links[Int(before) - 1].next & ~Self.positionMask | next
                }
                links[Int(position) - 1] = Link(holder: 0, next: firstFree)
                firstFree = position
                return
            }
            before = position
            position = link.next & Self.positionMask
        }
    }
}
