internal import InvivoBase

/// The options of a runtime that cannot change while it is open.
public struct FixedOptions: Sendable {
    public var name = "invivo"
    public var isLoopDefault = false
    public var allowsPendingTargets = false
    public var fillsNeeds = true
    public var allowsForeignFiles = false
    public var quotesContent = true
    /// The time between two steps of the properties that move, in milliseconds; nil if the host advances their clock.
    public var rampTick: UInt64? = 10
    /// The beginning of the names of variables that are a layer of the configuration; nil without that layer.
    public var environmentPrefix: String?
    /// The directories below which documents may read files, beside their own; absolute.
    public var documentRoots: [String] = []
    /// For the host that reads the options; nil if it has given none in C.
    public var host: HostOptions?
    public init() {}
}
