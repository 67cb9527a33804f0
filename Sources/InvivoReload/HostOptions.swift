public import CInvivo
public import InvivoBase

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
