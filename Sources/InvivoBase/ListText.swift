// How messages list names: none of these texts grows with the number of names.

extension Collection<String> {
    /// "a, b, c". Of more than `most` names, the first ones and the number of the others: "a, b and 998 others".
    public func listed(most: Int = 16) -> String {
        guard let shown = shortened(to: most) else { return joined(separator: ", ") }
        return shown.joined(separator: ", ") + " and \(count - shown.count) others"
    }

    /// "a, b or c". Of more than `most` names, the first ones and the number of the others: "a, b or one of 998 others".
    public func choices(most: Int = 16) -> String {
        guard let shown = shortened(to: most) else {
            let last = suffix(1).joined()
            return count < 2 ? last : dropLast().joined(separator: ", ") + " or " + last
        }
        return shown.joined(separator: ", ") + " or one of \(count - shown.count) others"
    }

    /// "a -> b -> c". Of more than `most` steps, those at both ends: "a -> b -> (996 more) -> c -> d".
    public func path(most: Int = 16) -> String {
        guard count > most else { return joined(separator: " -> ") }
        let half = most / 2
        return (prefix(half) + ["(\(count - 2 * half) more)"] + suffix(half)).joined(separator: " -> ")
    }

    /// The names before the number of the others, which is at least 2. Nil if all names are shown.
    private func shortened(to most: Int) -> SubSequence? { count > most ? prefix(most - 1) : nil }
}
