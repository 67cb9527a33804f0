/// The objects of a build plan, as arguments of initializers. They are passed without type checks: the plan has
/// verified that each object is of the parameter's class.
///
/// References are moved at their last use, as computed by the plan, and copied otherwise, so that no reference is
/// counted twice.
public struct Instances {
    /// All objects of the graph, with one reference each.
    @usableFromInline let all: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// The indices of the initializer's arguments, in order; complemented at the last use of an object.
    @usableFromInline var taken: UnsafePointer<Int32>
    /// The storage for the object that the initializer creates.
    @usableFromInline let place: UnsafeMutablePointer<UnsafeMutableRawPointer?>

    @usableFromInline
    init(
        _ all: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ taken: UnsafePointer<Int32>,
        _ place: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) {
        self.all = all
        self.taken = taken
        self.place = place
    }

    @inlinable @inline(__always)
    mutating func next<Value>(_ type: Value.Type) -> Value {
        let index = taken.pointee
        taken += 1
        if index >= 0 {
            return UnsafeRawPointer(all + Int(index)).assumingMemoryBound(to: Value.self).pointee
        }
        let slot = all + Int(~index)
        let value = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Value.self).move()
        slot.initialize(to: nil)
        return value
    }

    /// Keeps a created object.
    @inlinable @inline(__always)
    func keep<Value>(_ value: consuming Value) {
        UnsafeMutableRawPointer(place).initializeMemory(as: Value.self, to: value)
    }
}
