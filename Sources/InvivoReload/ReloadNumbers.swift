internal import InvivoBase

/// The numbers of the reloads that became one: of the change sets that were joined, and of the edits in them. Empty if no observer
/// asked for phases when they began.
struct ReloadNumbers: Sendable {
    private(set) var all: [UInt64] = []

    init() {}
    init(_ number: UInt64) { all = [number] }

    var isEmpty: Bool { all.isEmpty }

    mutating func add(_ others: ReloadNumbers) { all += others.all }

    /// Removes and returns them.
    mutating func take() -> ReloadNumbers {
        defer { all = [] }
        return self
    }
}
