public import InvivoBase

/// Layers over injected values, which stay when those change. Used in the object's domain only.
public protocol PropertyCover: AnyObject {
    /// Makes `value` the base value of a covered property, and returns the inverse; nil when no layer covers it.
    func rebase(
        _ record: Record, _ index: Int, to value: Value
    ) throws(Failure) -> (() throws(Failure) -> Void)?
}
