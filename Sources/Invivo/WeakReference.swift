internal import CInvivo

/// A weak reference to a Swift instance, for singletons that live as long as they are retained.
final class WeakReference: Sendable {
    // Swift's weak references may be read by any thread.
    nonisolated(unsafe) private(set) weak var instance: AnyObject?
    init(_ instance: AnyObject) { self.instance = instance }
}

extension invivo_type_options {
    /// Lets the runtime hold instances weakly: they are kept alive by ordinary reference counting.
    mutating func holdWeakly() {
        weak_make = { instance, _ in
            instance.map {
                Unmanaged.passRetained(WeakReference(Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()))
                    .toOpaque()
            }
        }
        weak_load = { reference, _ in
            guard let reference else { return nil }
            let weak = Unmanaged<WeakReference>.fromOpaque(reference).takeUnretainedValue()
            return weak.instance.map { Unmanaged.passRetained($0).toOpaque() }
        }
        weak_free = { reference, _ in
            if let reference { Unmanaged<WeakReference>.fromOpaque(reference).release() }
        }
    }
}
