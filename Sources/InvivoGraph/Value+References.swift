public import InvivoBase

extension Value {
    /// Whether it contains an object or a callable, which the holder of the value must keep.
    public var holdsReference: Bool {
        contains { value in
            switch value {
            case .object, .callable: true
            default: false
            }
        }
    }

    /// Calls `body` with the lease of each object in it.
    public func forEachLease(_ body: (ObjectLease) -> Void) {
        forEach { if case .object(let lease) = $0 { body(lease) } }
    }
}
