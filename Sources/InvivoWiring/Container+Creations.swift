public import CPlatform
public import InvivoBase
public import InvivoObjects

/// A creation that no definition describes, such as an entry of a pool. Its memory is on the stack of the thread that runs it.
///
/// It gets a build on demand: when its function resolves something or waits, or immediately inside of another build.
public typealias Creation = UnsafeMutablePointer<iv_creation>

/// The end of a creation that other threads wait for.
public final class PendingCreation: Awaited {
    fileprivate struct State {
        /// The chain of the creation's build. A creation without a build waits for nothing.
        var maker: BuildChain?
        var isDone = false
        /// The error of a failed creation; nil also when it backed off.
        var failure: Failure?
    }

    public let awaitedName: String
    fileprivate let state: Guarded<State>

    private init(name: String, maker: BuildChain?, _ monitor: Monitor) {
        awaitedName = name
        state = .init(State(maker: maker), by: monitor)
    }

    /// Called with the monitor held.
    public var maker: BuildChain? { state.held { $0.maker } }

    /// The one of `creation`, created when it has none. Called with the monitor of the runtime held, while the creation cannot end.
    public static func of(_ creation: Creation, named name: String, _ monitor: Monitor) -> PendingCreation {
        if let known = known(creation) { return known }
        let pending = PendingCreation(name: name, maker: creation.build?.chain, monitor)
        creation.pointee.pending = Unmanaged.passRetained(pending).toOpaque()
        return pending
    }

    fileprivate static func known(_ creation: Creation) -> PendingCreation? {
        creation.pointee.pending.map { Unmanaged<PendingCreation>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Creation {
    var build: Build? { pointee.build.map { Unmanaged<Build>.fromOpaque($0).takeUnretainedValue() } }
}

extension Container {
    /// Runs the function of a creation, which may be any host code, without locks. Its resolves form their own object graphs.
    ///
    /// `origin` describes the creation in messages.
    public func run(_ creation: Creation, origin: @autoclosure () -> String, _ function: () -> Int32) -> Int32 {
        let thread = iv_thread()!
        creation.pointee.container = Unmanaged.passUnretained(self).toOpaque()
        creation.pointee.outer = thread.pointee.creation
        if !thread.build.isNone {
            giveBuild(creation, parent: innermostBuild, origin: origin())
        }
        thread.pointee.creation = creation
        defer { thread.pointee.creation = creation.pointee.outer }
        // What it creates exists once, for all generations.
        return Pins.outside(core) {
            thread.inside(ThreadBuild(object: creation.pointee.build), engine: creation.pointee.container, function)
        }
    }

    /// Ends a creation that no other thread can find anymore, and resumes the threads that wait for it. They throw `failure`;
    /// those that waited for a creation that backed off (`cycle`) try to create it themselves.
    @inlinable @inline(__always)
    public func end(_ creation: Creation, _ failure: Failure?) {
        if creation.pointee.pending != nil || creation.pointee.build != nil { release(creation, failure) }
    }

    @usableFromInline @inline(never)
    func release(_ creation: Creation, _ failure: Failure?) {
        if let known = creation.pointee.pending {
            let pending = Unmanaged<PendingCreation>.fromOpaque(known).takeRetainedValue()
            monitor.locked {
                WaitsAcross.over(pending)
                pending.state.held { state in
                    (state.maker, state.isDone) = (nil, true)
                    state.failure = failure?.code == .cycle ? nil : failure
                }
                monitor.broadcast()
            }
            creation.pointee.pending = nil
        }
        if let build = creation.pointee.build {
            Unmanaged<Build>.fromOpaque(build).release()
            creation.pointee.build = nil
        }
    }

    /// Waits until a creation has ended, serving the calling thread's domain meanwhile. Throws its error, and `cycle` where the
    /// creation waits for the caller.
    public func wait(for pending: PendingCreation) throws(Failure) {
        let build = buildForWaiting()
        let chain = build.chain
        let thread = currentThread().identity
        let (standing, keys) = (build.root.standing, build.root.keysInProgress)
        var wait = LongWait()
        defer { wait.end(domains) }
        monitor.lock()
        while !pending.state.held({ $0.isDone }) {
            // The start of an object that the creation has built waits for the creation.
            let isOwn = pending.maker.map(chain.isInside) ?? false
            let known = pending.maker.flatMap { waits.cycle(from: $0, to: chain, on: thread, pending.awaitedName) }
            var path = isOwn ? [pending.awaitedName] : known?.path
            if path == nil { path = WaitsAcross.begin(standing, for: pending, of: pending.maker) }
            if let path {
                monitor.unlock()
                let text = (keys + path).path()
                throw Failure(.cycle, "cyclic dependency: \(text)", path: pending.awaitedName)
            }
            waits.begin(Waits.Wait(of: chain, on: thread, for: pending, keys: keys))
            wait.once(domains, for: pending.awaitedName, of: pending.maker)
            waits.end(chain, thread)
            WaitsAcross.end(standing, for: pending)
        }
        let failure = pending.state.held { $0.failure }
        monitor.unlock()
        if let failure { throw failure }
    }

    // MARK: builds

    /// The build of the calling thread. Where it has none: a new one, inside of the creation that the thread runs.
    func buildForWaiting() -> Build {
        if let build = innermostBuild { return build }
        let thread = currentThread()
        let isNested = thread.pointee.around != nil || thread.pointee.creation != nil
        let outer = detachedBuild ?? (isNested ? outerBuild : nil)
        if isNested { giveBuildsToOtherRuntimes(thread) }
        return Build(
            self, graph: readGraph,
            caller: Build.Caller(
                parent: outer == nil ? creationBuild() : nil, outer: outer, isDetached: outer != nil,
                beneath: thread.pointee.engine == Unmanaged.passUnretained(self).toOpaque()
                    ? nil : Build.at(thread.build)))
    }

    /// Gives builds to this thread's creations of other runtimes, so that other threads see their waits.
    private func giveBuildsToOtherRuntimes(_ thread: ThreadState) {
        var next = thread.pointee.creation
        while let creation = next {
            next = creation.pointee.outer
            guard creation.pointee.build == nil, let owner = creation.pointee.container,
                owner != Unmanaged.passUnretained(self).toOpaque()
            else { continue }
            Unmanaged<Container>.fromOpaque(owner).takeUnretainedValue().giveBuild(creation, parent: nil)
        }
    }

    /// The build of the innermost creation of this runtime that the calling thread runs; nil when it runs none.
    func creationBuild() -> Build? {
        var innermost = iv_thread()!.pointee.creation
        while let creation = innermost, creation.pointee.container != Unmanaged.passUnretained(self).toOpaque() {
            innermost = creation.pointee.outer
        }
        return innermost.map(ensuredBuild)
    }

    /// The build of a creation, inside of the build of the creation around it.
    private func ensuredBuild(_ creation: Creation) -> Build {
        if let build = creation.build { return build }
        var parent: Build?
        if let outer = creation.pointee.outer, outer.pointee.container == creation.pointee.container {
            parent = ensuredBuild(outer)
        }
        return giveBuild(creation, parent: parent)
    }

    @discardableResult
    private func giveBuild(_ creation: Creation, parent: Build?, origin: String? = nil) -> Build {
        let around = parent == nil ? outerBuild : nil
        let build = Build(
            self, graph: parent?.graph ?? currentGraph(),
            caller: Build.Caller(
                parent: parent, outer: around, isDetached: around != nil,
                beneath: around == nil ? nil : Build.at(currentThread().build), origin: origin))
        monitor.locked {
            creation.pointee.build = Unmanaged.passRetained(build).toOpaque()
            if let pending = PendingCreation.known(creation) {
                pending.state.held { $0.maker = build.chain }
                WaitsAcross.known(build.chain, for: pending)
            }
        }
        return build
    }
}
