public import InvivoBase
public import InvivoGraph

/// What lies over values that an object was given, and stays when they change. Used in the object's domain only.
public protocol PropertyCover: AnyObject {
    /// Takes `value` for what is given to a property that is covered, and answers what takes that back; nil when nothing covers it.
    func rebase(
        _ type: ObjectType, _ instance: UnsafeMutableRawPointer, _ index: Int, to value: Value
    ) throws(Failure) -> (() throws(Failure) -> Void)?
}
