internal import InvivoBase
internal import InvivoGraph

/// An object of a slot that no later generation has.
public struct ReplacedObject: Sendable {
    /// Its position in the order of creation.
    public let sequence: UInt64
    public let object: UInt64
    /// The first generation that shows it.
    public let birth: UInt64
    /// The order of the last graph that shows it, where that is not the one that was just replaced.
    let last: UInt64

    public init(sequence: UInt64, object: UInt64, birth: UInt64, last: UInt64 = .max) {
        (self.sequence, self.object, self.birth, self.last) = (sequence, object, birth, last)
    }
}
