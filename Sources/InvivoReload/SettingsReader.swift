internal import InvivoBase

/// A type as which code reads the values of a binding.
public struct SettingsReader: Sendable {
    let type: String
    let size: Int

    public init(type: String, size: Int) { (self.type, self.size) = (type, size) }
}
