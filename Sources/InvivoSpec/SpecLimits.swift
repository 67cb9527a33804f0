/// The limits of one document. A document that exceeds a limit is refused with `Status.tooLarge`, at the source
/// location where it does.
public struct SpecLimits: Sendable {
    /// Bytes of the whole text.
    public var bytes: Int
    /// Lists and maps inside each other; the root is the first. A greater limit than `depthCeiling` is treated as that.
    public var depth: Int
    /// Values of all kinds, lists and maps included.
    public var nodes: Int
    /// Bytes of one text or one key, as UTF-8.
    public var stringLength: Int

    public init(bytes: Int = 1 << 20, depth: Int = 64, nodes: Int = 50_000, stringLength: Int = 1 << 20) {
        self.bytes = bytes
        self.depth = depth
        self.nodes = nodes
        self.stringLength = stringLength
    }

    /// The limits of an application manifest, which is as trusted as code.
    public static let manifest = SpecLimits(bytes: 16 << 20, nodes: 1_000_000)

    /// Trees are walked and freed by recursion, so that depth is stack: no setting may exceed what every stack has.
    static let depthCeiling = 512

    var allowedDepth: Int { min(depth, Self.depthCeiling) }

    // A tree has indices and lengths of 32 bits; each value may have a key.
    var allowedNodes: Int { min(nodes, Int(UInt32.max) / 2 - 1) }
    var allowedLength: Int { min(stringLength, Int(UInt32.max)) }
}
