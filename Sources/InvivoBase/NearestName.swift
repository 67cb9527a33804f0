/// Returns the candidate that `name` most likely means: the one with the least edit distance, the first of several. The
/// distance may be about a third of the shorter name. First parts that two dotted names share are ignored. Nil if no
/// candidate is similar enough.
public func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    let wanted = Array(name.utf8)
    guard !wanted.isEmpty, wanted.count <= 256 else { return nil }
    var best: (name: String, distance: Int)?
    for candidate in candidates where candidate.utf8.count <= 256 {
        let other = Array(candidate.utf8)
        let shared = sharedParts(wanted, other)
        let (shorter, longer) = (min(wanted.count, other.count) - shared, max(wanted.count, other.count) - shared)
        let limit = max(1, shorter / 3 + 1)
        guard longer - shorter <= limit else { continue }
        let distance = editDistance(Array(wanted[shared...]), Array(other[shared...]))
        // Names that share less than half of their letters are not similar.
        let isLike = distance * 2 <= longer + shared
        if isLike && distance <= limit && distance < (best?.distance ?? .max) { best = (candidate, distance) }
    }
    return best?.name
}

/// The length of the parts that two dotted names both begin with.
private func sharedParts(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var length = 0
    for i in 0..<min(a.count, b.count) {
        guard a[i] == b[i] else { break }
        if a[i] == UInt8(ascii: ".") { length = i + 1 }
    }
    return length
}

/// ", did you mean 'x'?" or "".
public func suggestion(for name: String, among candidates: some Sequence<String>) -> String {
    nearestName(to: name, among: candidates).map { ", did you mean '\($0)'?" } ?? ""
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours count one each.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in 0..<a.count {
        var row = [Int](repeating: i + 1, count: b.count + 1)
        for j in 0..<b.count {
            let cost = a[i] == b[j] ? 0 : 1
            row[j + 1] = min(last[j + 1] + 1, row[j] + 1, last[j] + cost)
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
            }
        }
        beforeLast = last
        last = row
    }
    return last[b.count]
}
