public import CInvivo
public import InvivoBase
public import InvivoSpec

/// The options that a runtime is opened with.
public struct EngineOptions: Sendable {
    public var fixed = FixedOptions()
    public var changeable = RuntimeOptions()
    public var log = Log(level: 5, sink: nil)
    public init() {}
}

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

/// The options of C that a host reads as it has given them. The runtime itself does not use them.
public final class HostOptions: Sendable {
    public typealias Write = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<invivo_log_entry>?) -> Void
    public typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void

    public let name: CText
    public let environmentPrefix: CText?
    public let log: Write?
    public let logUserData: HostPointer
    public let logDestroy: Destroy?
    private let rootTable: ConstantMemory?
    private let strings: CStrings

    /// Nil if there are none.
    public var documentRoots: UnsafePointer<UnsafePointer<CChar>?>? {
        rootTable?.address.assumingMemoryBound(to: UnsafePointer<CChar>?.self)
    }

    public init(
        name: String, environmentPrefix: String?, log: Write?, logUserData: HostPointer, logDestroy: Destroy?,
        documentRoots: [String]
    ) {
        let strings = CStrings()
        self.strings = strings
        self.name = strings.text(name)
        self.environmentPrefix = environmentPrefix.map { strings.text($0) }
        let table = strings.table(documentRoots.map { Optional(strings.string($0)) })
        rootTable = table.map { ConstantMemory($0) }
        (self.log, self.logUserData, self.logDestroy) = (log, logUserData, logDestroy)
    }
}

extension RuntimeOptions {
    /// The limits of one document.
    public var specLimits: SpecLimits { SpecLimits(bytes: maxDocumentBytes, nodes: maxDocumentNodes) }
}
