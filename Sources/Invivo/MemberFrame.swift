internal import Glibc

/// Identifies a definition that is written as a method of its assembly.
final class MemberToken: Sendable {}

/// The members of assemblies that the calling thread is creating. A call of another member's method resolves its
/// object. A call of the method that is creating the object runs the method.
final class MemberFrame {
    /// The method that creates the object; nil if the member is not a method.
    private let token: MemberToken?
    /// The running implementations of the method. A call of an overridden implementation runs it; a call of the same
    /// implementation resolves.
    private var sites: [Site] = []

    struct Site: Equatable {
        let line: UInt
        let column: UInt
        let file: UnsafeRawPointer
    }

    private init(_ token: MemberToken?) { self.token = token }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var current: MemberFrame? {
        pthread_getspecific(key).map { Unmanaged<MemberFrame>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs the code that creates an object.
    static func making<Result>(_ token: MemberToken?, _ body: () throws -> Result) rethrows -> Result {
        let former = pthread_getspecific(key)
        guard token != nil || former != nil else { return try body() }
        let frame = MemberFrame(token)
        pthread_setspecific(key, Unmanaged.passUnretained(frame).toOpaque())
        defer {
            pthread_setspecific(key, former)
            withExtendedLifetime(frame) {}
        }
        return try body()
    }

    /// Whether an implementation of the method that is creating its object has run.
    static var hasRun: Bool { current?.sites.isEmpty == false }

    /// Whether to run an implementation of a method, because it creates the object under construction.
    static func runs(_ token: MemberToken?, at site: Site) -> Bool {
        guard let token, let frame = current, frame.token === token, !frame.sites.contains(site) else { return false }
        frame.sites.append(site)
        return true
    }
}
