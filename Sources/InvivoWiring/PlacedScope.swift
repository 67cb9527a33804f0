public import CInvivo
internal import CPlatform
public import InvivoBase
internal import InvivoContexts
internal import InvivoGraph
internal import Synchronization

/// A scope with several instances: one for each thread or context, or those that the host defines.
///
/// A definition has one cell for each scope instance, under the same rules as a lazy singleton's.
public final class PlacedScope: Sendable {
    public typealias Find =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Notify = @convention(c) (UnsafeMutableRawPointer?, UInt64, invivo_key, invivo_object) -> Void

    /// The host's functions; nil for threads and contexts.
    public struct Host: Sendable {
        let find: Find
        let keep: Notify?
        let drop: Notify?
        private let data: HostPointer
        var userData: UnsafeMutableRawPointer? { data.raw }

        public init(find: @escaping Find, keep: Notify?, drop: Notify?, userData: UnsafeMutableRawPointer?) {
            self.find = find
            self.keep = keep
            self.drop = drop
            data = HostPointer(userData)
        }
    }

    public let name: String
    private let host: Host?
    private struct State {
        /// The cells of each scope instance, also those whose objects are under construction.
        var cells: Cells = [:]
    }
    public typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Cells = [UInt64: [ObjectIdentifier: Placed]]
    private let state: Guarded<State>
    /// Whether the host's user data is the scope's: from the moment at which it is registered.
    private let ownsData = Atomic<Bool>(false)
    private let destroy: Destroy?

    /// Whether its instances are contexts.
    let isOfContexts: Bool
    /// Whether its instances belong to threads.
    var isOfThreads: Bool { host == nil && !isOfContexts }

    /// The cell of one definition in one scope instance.
    struct Placed: Sendable {
        weak var owner: Cell?
        let key: ArgumentsKey
        let cell: Cell
    }

    /// `monitor` is the runtime's.
    public init(_ name: String, _ host: Host?, _ monitor: Monitor, destroy: Destroy? = nil) {
        self.destroy = destroy
        self.name = name
        state = .init(State(), by: monitor)
        self.host = host
        isOfContexts = false
    }

    /// The scope whose instances are contexts, by their handles.
    init(ofContexts monitor: Monitor) {
        (destroy, name, host, isOfContexts) = (nil, "context", nil, true)
        state = .init(State(), by: monitor)
    }

    deinit {
        guard let host, let destroy, ownsData.load(ordering: .acquiring) else { return }
        ending { destroy(host.userData) }
    }

    /// The host's user data is destroyed with the scope from now on.
    public func takeData() { ownsData.store(true, ordering: .releasing) }

    /// Under the monitor: a reload has replaced the cell of a scope instance. Its objects end with the generation, not
    /// with the scope instance.
    func forget(_ cell: Cell, at instance: UInt64) {
        state.held { state in
            state.cells[instance]?[ObjectIdentifier(cell)] = nil
            if state.cells[instance]?.isEmpty == true { state.cells[instance] = nil }
        }
    }

    /// Under the monitor: adds the cell of a scope instance.
    func add(_ placed: Placed, at instance: UInt64) {
        state.held { $0.cells[instance, default: [:]][ObjectIdentifier(placed.cell)] = placed }
    }

    /// Under the monitor: whether a reload can inject objects of a scope instance.
    func isOpen(at instance: UInt64) -> Bool {
        isOfContexts ? ContextHandle(bits: instance).core != nil : state.held { $0.cells[instance] != nil }
    }

    /// Under the monitor: removes the cells of a scope instance.
    func removeCells(at instance: UInt64) -> [Placed] {
        state.held { $0.cells.removeValue(forKey: instance) }.map { Array($0.values) } ?? []
    }

    /// Under the monitor: removes all cells. The caller drops the result without it.
    func removeAll() -> Cells {
        state.held { state in
            defer { state.cells = [:] }
            return state.cells
        }
    }

    /// The current scope instance of the calling code; an error if there is none. Runs host code.
    func current(for key: String, at location: Location, _ build: any ScopedBuild) throws(Failure) -> UInt64 {
        let found = try find(for: key, at: location, build)
        guard found != 0 else {
            throw Failure(
                .notReady, "'\(key)' has the scope '\(name)', and the calling code is in no instance of it", path: key,
                at: location)
        }
        return found
    }

    /// The current scope instance of the calling code; 0 if there is none. Injections of a reload use the scope
    /// instance of the holder. Runs host code.
    func find(for key: String, at location: Location, _ build: any ScopedBuild) throws(Failure) -> UInt64 {
        if let known = build.scopeInstance(of: self) { return known.instance }
        guard let host else {
            let thread = currentThread().identity
            build.note(ScopeInstance(scope: self, instance: thread))
            return thread
        }
        var found: UInt64 = 0
        do throws(Failure) {
            try CallbackResult.run("the scope '\(name)'") { host.find(host.userData, &found, $0) }
        } catch {
            var failure = error
            if failure.path.isEmpty { failure.path = key }
            if failure.location.file.isEmpty { failure.location = location }
            throw failure
        }
        if found != 0 { build.note(ScopeInstance(scope: self, instance: found)) }
        return found
    }

    /// Notifies the host of a kept object, now and at its end. Called before the object is shared.
    func kept(_ object: UInt64, _ key: UInt64, at instance: UInt64, _ extra: (() -> ObjectExtra)) {
        guard let host else { return }
        if let drop = host.drop {
            // The object retains the scope until the host was notified.
            extra().beforeDisposal.append { [self] in
                withExtendedLifetime(self) {
                    drop(host.userData, instance, invivo_key(bits: key), invivo_object(bits: object))
                }
            }
        }
        host.keep?(host.userData, instance, invivo_key(bits: key), invivo_object(bits: object))
    }
}

/// A build, as scopes see it.
protocol ScopedBuild: AnyObject {
    /// The scope instance in whose object a reload injects, if it is one of `scope`.
    func scopeInstance(of scope: PlacedScope) -> ScopeInstance?
    /// The context from which objects of contexts are looked up.
    var startingContext: ContextHandle? { get }
    /// Notes that a key was resolved in `instance`.
    func note(_ instance: ScopeInstance)
}

/// One instance of a scope.
public struct ScopeInstance: Sendable {
    let scope: PlacedScope
    let instance: UInt64

    /// The context that it is; nil for other scopes.
    var context: ContextHandle? { scope.isOfContexts ? ContextHandle(bits: instance) : nil }
}
