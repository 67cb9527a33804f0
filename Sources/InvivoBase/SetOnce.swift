import Synchronization

/// A function that a higher module sets once, before its first use. It lives as long as the process.
///
/// Any thread may read it: takes no lock and counts no references.
public struct SetOnce<Function: Sendable>: ~Copyable, Sendable {
    private final class Box: Sendable {
        let function: Function

        init(_ function: Function) { self.function = function }
    }

    private let box = Atomic<Unmanaged<Box>?>(nil)

    public init() {}

    public var function: Function? {
        box.load(ordering: .acquiring).map { $0._withUnsafeGuaranteedRef { $0.function } }
    }

    /// Later calls have no effect.
    public func set(_ function: Function) {
        let new = Unmanaged.passRetained(Box(function))
        let (isSet, _) = box.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing)
        if !isSet { new.release() }
    }
}
