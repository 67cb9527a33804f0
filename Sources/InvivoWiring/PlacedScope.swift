public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// A scope with several instances: one for each thread, or those that the host defines.
///
/// A definition has one cell for each scope instance, under the same rules as a lazy singleton's.
public final class PlacedScope: @unchecked Sendable {
    public typealias Find =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Tell = @convention(c) (UnsafeMutableRawPointer?, UInt64, invivo_key, invivo_object) -> Void

    /// The host's functions; nil for threads.
    public struct Host: @unchecked Sendable {
        let find: Find
        let keep: Tell?
        let drop: Tell?
        let userData: UnsafeMutableRawPointer?

        public init(find: @escaping Find, keep: Tell?, drop: Tell?, userData: UnsafeMutableRawPointer?) {
            self.find = find
            self.keep = keep
            self.drop = drop
            self.userData = userData
        }
    }

    public let name: String
    private let host: Host?
    /// Set once, when it is registered.
    public var destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    /// Guarded by the container's monitor: the objects of each scope instance, including those under construction.
    var places: [UInt64: [ObjectIdentifier: Placed]] = [:]

    /// Whether its instances belong to threads.
    var isOfThreads: Bool { host == nil }

    /// The cell of one definition in one scope instance.
    struct Placed {
        weak var owner: Cell?
        let key: ArgumentsKey
        let cell: Cell
    }

    public init(_ name: String, _ host: Host?) {
        self.name = name
        self.host = host
    }

    deinit { if let host, let destroy { ending { destroy(host.userData) } } }

    /// Under the monitor: a reload has replaced the cell of a scope instance. Its objects end with the generation, not
    /// with the scope instance.
    func forget(_ cell: Cell, at place: UInt64) {
        places[place]?[ObjectIdentifier(cell)] = nil
        if places[place]?.isEmpty == true { places[place] = nil }
    }

    /// The current scope instance of the calling code; an error if there is none. Runs host code.
    func current(for key: String, at place: Place, _ build: any ScopedBuild) throws(Failure) -> UInt64 {
        let found = try find(for: key, at: place, build)
        guard found != 0 else {
            throw Failure(
                .notReady, "'\(key)' has the scope '\(name)', and the calling code is in no instance of it", path: key,
                at: place)
        }
        return found
    }

    /// The current scope instance of the calling code; 0 if there is none. Injections of a reload use the scope
    /// instance of the holder. Runs host code.
    func find(for key: String, at place: Place, _ build: any ScopedBuild) throws(Failure) -> UInt64 {
        if let known = build.scopeInstance(of: self) { return known.place }
        guard let host else {
            let thread = currentThread().identity
            build.note(ScopeInstance(scope: self, place: thread))
            return thread
        }
        var found: UInt64 = 0
        do throws(Failure) {
            try CallbackResult.run("the scope '\(name)'") { host.find(host.userData, &found, $0) }
        } catch {
            var failure = error
            if failure.path.isEmpty { failure.path = key }
            if failure.place.file.isEmpty { failure.place = place }
            throw failure
        }
        if found != 0 { build.note(ScopeInstance(scope: self, place: found)) }
        return found
    }

    /// Notifies the host of a kept object, now and at its end. Called before the object is shared.
    func kept(_ object: UInt64, _ key: UInt64, at place: UInt64, _ extra: (() -> ObjectExtra)) {
        guard let host else { return }
        if let drop = host.drop {
            // The object retains the scope until the host was notified.
            extra().beforeDisposal.append { [self] in
                withExtendedLifetime(self) {
                    drop(host.userData, place, invivo_key(bits: key), invivo_object(bits: object))
                }
            }
        }
        host.keep?(host.userData, place, invivo_key(bits: key), invivo_object(bits: object))
    }
}

/// A build, as scopes see it.
protocol ScopedBuild: AnyObject {
    /// The scope instance in whose object a reload injects, if it is one of `scope`.
    func scopeInstance(of scope: PlacedScope) -> ScopeInstance?
    /// Notes that a key was resolved in `instance`.
    func note(_ instance: ScopeInstance)
}

/// One instance of a scope.
public struct ScopeInstance: Sendable {
    let scope: PlacedScope
    let place: UInt64
}
