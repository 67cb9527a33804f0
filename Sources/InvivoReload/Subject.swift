public import InvivoBase
internal import InvivoGraph

/// The part of a runtime that an observer observes.
public enum Subject: Sendable, Hashable {
    /// Every reload, committed or failed. The others are notified only of commits that concern them.
    case everything
    case key(Name)
    case type(Name)
    /// An object, by its handle.
    case object(UInt64)
    case configuration(Name)
}
