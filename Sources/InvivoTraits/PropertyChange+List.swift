internal import InvivoBase

/// The list of the changes of one object, which `next` links.
extension PropertyChange {
    /// Calls `body` with this change and those behind it.
    @inline(__always)
    func forEach(_ body: (PropertyChange) throws(Failure) -> Void) throws(Failure) {
        var entry: PropertyChange? = self
        while let one = entry {
            try body(one)
            entry = one.next
        }
    }

    func forEach(_ body: (PropertyChange) -> Void) {
        var entry: PropertyChange? = self
        while let one = entry {
            body(one)
            entry = one.next
        }
    }

    /// The first of them that matches.
    func first(where matches: (PropertyChange) -> Bool) -> PropertyChange? {
        var entry: PropertyChange? = self
        while let one = entry, !matches(one) { entry = one.next }
        return entry
    }
}
