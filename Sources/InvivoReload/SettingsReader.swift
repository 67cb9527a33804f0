internal import InvivoBase

/// The type that code expects of the values of a binding.
public struct SettingsReader: Sendable {
    let type: String
    let size: Int

    public init(type: String, size: Int) { (self.type, self.size) = (type, size) }
}
