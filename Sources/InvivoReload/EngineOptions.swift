public import InvivoBase
public import InvivoSpec

/// The options that a runtime is opened with.
public struct EngineOptions: Sendable {
    public var fixed = FixedOptions()
    public var changeable = RuntimeOptions()
    public var log = Log(level: 5, sink: nil)
    public init() {}
}

extension RuntimeOptions {
    /// The limits of one document.
    public var specLimits: SpecLimits { SpecLimits(bytes: maxDocumentBytes, nodes: maxDocumentNodes) }
}
