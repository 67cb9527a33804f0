public import InvivoBase

extension Value {
    /// Whether it leads to an object or callable, which must then be kept by whoever refers to it.
    public var holdsReference: Bool {
        contains { value in
            switch value {
            case .object, .callable: true
            default: false
            }
        }
    }
}
