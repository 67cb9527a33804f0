/// The objects of a graph that a plan makes: what an initializer gets from it, without a look at what they are. The plan has
/// seen to it beforehand that each is of the class that the initializer takes.
public struct Instances {
    /// All objects of the graph.
    @usableFromInline let all: UnsafePointer<UnsafeMutableRawPointer?>
    /// Which of them the initializer takes, in order.
    @usableFromInline var taken: UnsafePointer<Int32>

    @usableFromInline
    init(_ all: UnsafePointer<UnsafeMutableRawPointer?>, _ taken: UnsafePointer<Int32>) {
        self.all = all
        self.taken = taken
    }

    @inlinable @inline(__always)
    mutating func next<Value>(_ type: Value.Type) -> Value {
        let instance = all[Int(taken.pointee)].unsafelyUnwrapped
        taken += 1
        return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(instance).takeUnretainedValue(), to: type)
    }

    /// One reference to what was made, for the plan to keep.
    @inlinable @inline(__always)
    func result<Value>(_ value: Value) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(unsafeBitCast(value, to: AnyObject.self)).toOpaque()
    }
}
