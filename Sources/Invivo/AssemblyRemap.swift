/// The target of a remap: a key, the first parts of keys, or an assembly.
public protocol RemapTarget {
    /// The first part of the remapped reference.
    var remapName: String { get }
}

extension String: RemapTarget {
    public var remapName: String { self }
}

extension Assembly: RemapTarget {
    public var remapName: String { name }
}

/// The remaps of a mounted assembly's outer references.
struct Remaps: Sendable {
    var pairs: [(from: String, to: String)] = []

    /// A key where it leads: by the longest that fits.
    func callAsFunction(_ key: String) -> String {
        let fitting = pairs.filter { Self.fits($0.from, key) }
        guard let best = fitting.max(by: { $0.from.utf8.count < $1.from.utf8.count }) else { return key }
        return best.to + key.dropFirst(best.from.utf8.count)
    }

    /// Whether a key equals the source of a remap, or begins with it.
    static func fits(_ from: String, _ key: String) -> Bool { key == from || key.hasPrefix(from + ".") }
}
