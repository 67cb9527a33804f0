/// Returns the candidate that `name` most likely means: the one with the least edit distance, the first of several. The
/// case of letters does not count. The distance may be about a third of the shorter name. First parts that two dotted
/// names share are ignored. Nil if no candidate is similar enough. Compares the spelling of the first 10,000 candidates
/// of a similar length only.
public func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    let wanted = Array(name.utf8)
    guard !wanted.isEmpty, wanted.count <= 256 else { return nil }
    var spelling = EditDistance()
    var best: (name: String, distance: Int)?
    var compared = 0
    for candidate in candidates {
        let length = candidate.utf8.count
        guard length <= 256, abs(length - wanted.count) <= longestDistance(min(length, wanted.count)) else { continue }
        guard compared < 10_000 else { break }
        compared += 1
        let other = Array(candidate.utf8)
        let shared = sharedParts(wanted, other)
        let (shorter, longer) = (min(wanted.count, other.count) - shared, max(wanted.count, other.count) - shared)
        // Names that share less than half of their letters are not similar.
        let limit = min(longestDistance(shorter), (longer + shared) / 2, (best?.distance ?? .max) - 1)
        guard let distance = spelling.distance(wanted[shared...], other[shared...], limit: limit) else { continue }
        best = (candidate, distance)
    }
    return best?.name
}

/// How different similar names may be, of which the shorter one has this length.
private func longestDistance(_ shorter: Int) -> Int { max(1, shorter / 3 + 1) }

/// The length of the parts that two dotted names both begin with.
private func sharedParts(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var length = 0
    for i in 0..<min(a.count, b.count) {
        guard a[i] == b[i] else { break }
        if a[i] == UInt8(ascii: ".") { length = i + 1 }
    }
    return length
}

/// Returns the candidate of which `name` is a misspelling almost for certain: it differs in one letter, or in two of many. Names that
/// differ in digits only are different names.
public func misspelledName(of name: String, among candidates: some Sequence<String>) -> String? {
    let wanted = Array(name.utf8)
    guard let near = nearestWord(to: name, among: candidates) else { return nil }
    let other = Array(near.utf8)
    let shared = sharedParts(wanted, other)
    let limit = min(wanted.count, other.count) - shared < 8 ? 1 : 2
    var spelling = EditDistance()
    return spelling.distance(wanted[shared...], other[shared...], limit: limit) == nil ? nil : near
}

/// Returns the candidate that a name most likely means. Names that differ in digits only are different names.
public func nearestWord(to name: String, among known: some Sequence<String>) -> String? {
    func letters(_ text: String) -> [UInt8] { text.utf8.filter { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) } }
    let own = letters(name)
    return nearestName(to: name, among: known.lazy.filter { letters($0) != own })
}

/// Returns the key that an unknown one most likely means: the only one that ends with it, as in `audio.jack` for `jack`, or one that is
/// spelled similarly.
public func nearestKey(to key: String, among known: [String]) -> String? {
    let whole = known.filter { $0.hasSuffix(".\(key)") }
    return whole.count == 1 ? whole[0] : nearestName(to: key, among: known)
}

/// "; did you mean 'x'?", the end of a message; "" for nil.
public func suggestion(_ name: String?) -> String { name.map { "; did you mean '\($0)'?" } ?? "" }

/// The end of a message about an unknown name, with the candidate that it most likely means.
public func suggestion(for name: String, among candidates: some Sequence<String>) -> String {
    suggestion(nearestName(to: name, among: candidates))
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbors count one each, and the case of letters
/// nothing. Keeps its memory between comparisons.
public struct EditDistance: Sendable {
    /// The rows of the current letter and of the two letters before, one after the other.
    private var rows: [Int] = []

    public init() {}

    /// Returns the distance of two names; nil if it is more than `limit`.
    public mutating func distance(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>, limit: Int) -> Int? {
        let width = b.count + 1
        guard limit >= 0, abs(a.count - b.count) <= limit else { return nil }
        if rows.count < 3 * width { rows += [Int](repeating: 0, count: 3 * width - rows.count) }
        return rows.withUnsafeMutableBufferPointer { rows in
            a.withUnsafeBufferPointer { a in
                b.withUnsafeBufferPointer { b in Self.distance(a, b, limit, rows, width) }
            }
        }
    }

    private static func distance(
        _ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>, _ limit: Int,
        _ rows: UnsafeMutableBufferPointer<Int>, _ width: Int
    ) -> Int? {
        var (beforeLast, last, row) = (0, width, 2 * width)
        var leastOfLast = 0
        for j in 0..<width { rows[last + j] = j }
        for i in a.indices {
            rows[row] = i + 1
            var least = i + 1
            for j in b.indices {
                let cost = a[i].isSameLetter(as: b[j]) ? 0 : 1
                var best = min(rows[last + j + 1] + 1, rows[row + j] + 1, rows[last + j] + cost)
                if i > 0, j > 0, a[i].isSameLetter(as: b[j - 1]), a[i - 1].isSameLetter(as: b[j]) {
                    best = min(best, rows[beforeLast + j - 1] + 1)
                }
                rows[row + j + 1] = best
                least = min(least, best)
            }
            // A swap continues from the row before the last one.
            if least > limit && leastOfLast >= limit { return nil }
            leastOfLast = least
            (beforeLast, last, row) = (last, row, beforeLast)
        }
        let found = rows[last + b.count]
        return found <= limit ? found : nil
    }
}

extension UInt8 {
    /// A capital letter of ASCII as the small one; every other byte as it is.
    public var lowercasedLetter: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self + 32 : self
    }

    /// Whether two bytes are equal, regardless of the case of ASCII letters.
    public func isSameLetter(as other: UInt8) -> Bool { lowercasedLetter == other.lowercasedLetter }
}
