public import CInvivo
import Synchronization

/// A function of any language that the others can call.
///
/// Swift retains it. C holds a handle, whose leases are counted here, so that C cannot release more than it has. Runs
/// on the calling thread.
public final class Callable: Sendable {
    public typealias Body = @Sendable ([Value]) throws(Failure) -> Value
    public typealias Invoke =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, Int, UnsafeMutablePointer<invivo_value>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status

    private enum Implementation {
        case native(Invoke, HostPointer, destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?)
        case swift(Body)
    }

    /// For messages; never empty.
    public let name: String
    /// The handle for C; valid while the callable is retained.
    public let handleBits: UInt64
    /// The owner of the objects that calls use, set by the creator. Other modules inspect it to follow those
    /// references.
    public let claims: (any AnyObject & Sendable)?
    private let implementation: Implementation
    private let leases = Atomic<Int>(0)
    private static let live = Atomic<Int>(0)

    /// The number of callables in the process.
    public static var liveCount: Int { live.load(ordering: .relaxed) }

    public init(_ name: String, claims: (any AnyObject & Sendable)? = nil, _ body: @escaping Body) {
        self.claims = claims
        self.name = name.isEmpty ? "callable" : name
        implementation = .swift(body)
        handleBits = HandleTable.reserve(.callable)
        enter()
    }

    /// Creates a callable for C. When this throws, `destroy` is not called: the caller keeps the user data.
    public init(options pointer: UnsafePointer<invivo_callable_options>?) throws(Failure) {
        guard let pointer else { throw Failure(.argument, "options is NULL") }
        let options = try versioned(
            pointer, "invivo_callable_options", least: MemoryLayout<invivo_callable_options>.size,
            as: invivo_callable_options.self)
        guard let invoke = options.invoke else {
            throw Failure(.argument, "invivo_callable_options has no invoke function")
        }
        name = try optionalText(options.name, "the name of a callable") ?? "callable"
        claims = nil
        implementation = .native(invoke, HostPointer(options.user_data), destroy: options.destroy)
        handleBits = HandleTable.reserve(.callable)
        enter()
    }

    private func enter() {
        Self.live.add(1, ordering: .relaxed)
        HandleTable.fill(handleBits, .callable, weaklyWith: self)
    }

    deinit {
        HandleTable.remove(handleBits, .callable)
        Self.live.subtract(1, ordering: .relaxed)
        if case .native(_, let userData, let destroy?) = implementation {
            ending { destroy(userData.raw) }
        }
    }

    // MARK: Calling

    public func call(_ arguments: [Value]) throws(Failure) -> Value {
        switch implementation {
        case .swift(let body): return try body(arguments)
        case .native(let invoke, let userData, _):
            return try CallbackResult.run("'\(name)'") { (result, error) in
                Value.withBorrowed(arguments) { invoke(userData.raw, $0, $1, result, error) }
            }
        }
    }

    /// The user data, if `invoke` is its function. A binding recognizes its own callables by that.
    public func userData(ifInvokedBy invoke: Invoke?) -> UnsafeMutableRawPointer? {
        guard case .native(let own, let userData, _) = implementation, let invoke else { return nil }
        return unsafeBitCast(own, to: UInt.self) == unsafeBitCast(invoke, to: UInt.self) ? userData.raw : nil
    }

    // MARK: Leases of C

    public static func find(_ bits: UInt64) throws(Failure) -> Callable {
        try HandleTable.require(bits, .callable, as: Callable.self)
    }

    /// Adds a lease for C, which keeps the callable alive.
    func addLease() {
        leases.add(1, ordering: .relaxed)
        _ = Unmanaged.passRetained(self)
    }

    /// A handle for C, with one lease that is C's.
    public func leasedBits() -> UInt64 {
        addLease()
        return handleBits
    }

    public static func retain(_ bits: UInt64) throws(Failure) { try find(bits).addLease() }

    /// Releases one lease. A release too many is a handle failure.
    public static func release(_ bits: UInt64) throws(Failure) {
        let callable = try find(bits)
        var count = callable.leases.load(ordering: .relaxed)
        while count > 0 {
            let (done, now) = callable.leases.compareExchange(
                expected: count, desired: count - 1, ordering: .acquiringAndReleasing)
            if done {
                Unmanaged.passUnretained(callable).release()
                return
            }
            count = now
        }
        throw Failure(.handle, "'\(callable.name)' was released more often than retained")
    }
}
