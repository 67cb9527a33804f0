internal import InvivoBase

/// The position of a definition among all others: its number in the order of declaration. The definitions of the entries of an
/// `each` have the number of their pattern, and a position among each other.
public struct DefinitionOrder: Comparable, Sendable {
    /// 40 bits of number and 21 of position: an index of types adds 3 of its own.
    let packed: UInt64

    static let positionBits: UInt64 = 21
    /// Positions are less than this.
    public static let positionLimit = 1 << Int(positionBits)

    public init(number: UInt64 = 0, position: Int = 0) {
        packed = number << Self.positionBits | UInt64(position)
    }

    init(packed: UInt64) { self.packed = packed }

    public var number: UInt64 { packed >> Self.positionBits }
    /// 0 for a definition that belongs to no entry.
    public var position: Int { Int(packed & UInt64(Self.positionLimit - 1)) }

    public func at(_ position: Int) -> DefinitionOrder { DefinitionOrder(number: number, position: position) }

    public static func < (a: DefinitionOrder, b: DefinitionOrder) -> Bool { a.packed < b.packed }
}

/// The positions of the entries of one map or list, or of the definitions of one assembly. They have gaps, so that an entry that is
/// added or moved gets one between those of its neighbors, which keep theirs.
public enum EntryPositions {
    /// The greatest number of entries, and the greatest position.
    public static let most = DefinitionOrder.positionLimit - 1
    /// The distance between entries that are added one after the other.
    private static let gap = 64

    /// Ascending positions of all entries in their order. `known` has those that entries have so far, nil for a new one: as
    /// many as possible are kept. None is greater than `most`, which is not less than the number of entries.
    public static func following(_ known: [Int?], most: Int = most) -> [Int] {
        var positions = ascending(known)
        var next = 0
        while next < positions.count {
            guard positions[next] == nil else {
                next += 1
                continue
            }
            let first = next
            while next < positions.count, positions[next] == nil { next += 1 }
            let count = next - first
            let low = first == 0 ? 0 : positions[first - 1] ?? 0
            let high = next == positions.count ? most + 1 : positions[next] ?? 0
            let room = high - low - 1
            guard room >= count else { return following([Int?](repeating: nil, count: known.count), most: most) }
            let step = min(gap, max(1, room / (2 * count)))
            for index in 0..<count {
                positions[first + index] =
                    switch (first == 0, next == positions.count) {
                    case (true, true): low + (room - step * count) / 2 + step * index + 1
                    case (false, true): low + step * (index + 1)
                    case (true, false): high - step * (count - index)
                    case (false, false): low + (room + 1) * (index + 1) / (count + 1)
                    }
            }
        }
        return positions.map { $0 ?? 0 }
    }

    /// The longest ascending selection of positions, with nil for all others (patience sorting).
    private static func ascending(_ known: [Int?]) -> [Int?] {
        // For each length the selection with the lowest end; for each index its predecessor.
        var ends: [(index: Int, position: Int)] = []
        var former = [Int](repeating: -1, count: known.count)
        for (index, position) in known.enumerated() {
            guard let position else { continue }
            let isLast = ends.last.map { $0.position < position } ?? true
            let length = isLast ? ends.count : ends.partitioningIndex { $0.position >= position }
            former[index] = length == 0 ? -1 : ends[length - 1].index
            if length == ends.count { ends.append((index, position)) } else { ends[length] = (index, position) }
        }
        var kept = [Int?](repeating: nil, count: known.count)
        var index = ends.last?.index ?? -1
        while index >= 0 {
            kept[index] = known[index]
            index = former[index]
        }
        return kept
    }
}
