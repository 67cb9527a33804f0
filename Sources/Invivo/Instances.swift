/// The objects of a graph that a plan makes: what an initializer gets from it, without a look at what they are. The plan has
/// seen to it beforehand that each is of the class that the initializer takes.
///
/// References are moved where the plan knows that it is their last use, and copied otherwise: nothing is counted twice.
public struct Instances {
    /// All objects of the graph, with one reference each.
    @usableFromInline let all: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// Which of them the initializer takes, in order; as its complement, where it is the last one to take it.
    @usableFromInline var taken: UnsafePointer<Int32>
    /// Where the object goes that the initializer makes.
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

    /// Keeps what was made.
    @inlinable @inline(__always)
    func keep<Value>(_ value: consuming Value) {
        UnsafeMutableRawPointer(place).initializeMemory(as: Value.self, to: value)
    }
}
