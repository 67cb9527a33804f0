extension RandomAccessCollection where Index == Int {
    /// Returns the index of the first element that satisfies `isReached`, by binary search, or `endIndex`. The name is that of the package swift-algorithms.
    ///
    /// All elements that satisfy `isReached` must follow those that do not. Calls it O(log n) times.
    @inlinable
    public func partitioningIndex(where isReached: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isReached(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
