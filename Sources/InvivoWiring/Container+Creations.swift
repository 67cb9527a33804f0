public import CPlatform
public import InvivoBase

/// A creation that no definition describes, such as an entry of a pool. Its memory is on the stack of the thread that runs it.
///
/// It gets a build chain when one is needed: when its function resolves something or waits, or at once inside of a build.
public typealias Creation = UnsafeMutablePointer<iv_creation>

/// The end of a creation that other threads wait for. Guarded by the runtime's monitor.
public final class PendingCreation: @unchecked Sendable {
    /// For messages.
    let name: String
    /// The chain of the creation. A creation without a chain waits for nothing.
    fileprivate(set) var chain: BuildChain?
    fileprivate var isDone = false
    /// The error of a failed creation; nil also when it backed off.
    fileprivate var failure: Failure?

    private init(name: String) { self.name = name }

    /// The one of `creation`, created when it has none. Under the runtime's monitor, while the creation cannot end.
    public static func of(_ creation: Creation, named name: String) -> PendingCreation {
        if let known = known(creation) { return known }
        let pending = PendingCreation(name: name)
        pending.chain = creation.chain
        creation.pointee.pending = Unmanaged.passRetained(pending).toOpaque()
        return pending
    }

    fileprivate static func known(_ creation: Creation) -> PendingCreation? {
        creation.pointee.pending.map { Unmanaged<PendingCreation>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Creation {
    fileprivate var chain: BuildChain? {
        pointee.chain.map { Unmanaged<BuildChain>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Container {
    /// Runs the function of a creation, which may be any host code, without locks. Its resolves form their own object graphs.
    ///
    /// `origin` describes the creation in messages.
    public func run(_ creation: Creation, origin: @autoclosure () -> String, _ function: () -> Int32) -> Int32 {
        let thread = iv_thread()!
        creation.pointee.container = Unmanaged.passUnretained(self).toOpaque()
        creation.pointee.outer = thread.pointee.creation
        if thread.pointee.chain != nil {
            giveChain(creation, parent: currentChain)
            creation.chain?.origin = origin()
        }
        thread.pointee.creation = creation
        defer { thread.pointee.creation = creation.pointee.outer }
        return thread.inside(chain: creation.pointee.chain, engine: creation.pointee.container, function)
    }

    /// Ends a creation that no other thread can find anymore, and resumes the threads that wait for it. They throw `failure`;
    /// those that waited for a creation that backed off (`cycle`) try to create it themselves.
    @inlinable @inline(__always)
    public func end(_ creation: Creation, _ failure: Failure?) {
        if creation.pointee.pending != nil || creation.pointee.chain != nil { release(creation, failure) }
    }

    @usableFromInline @inline(never)
    func release(_ creation: Creation, _ failure: Failure?) {
        if let known = creation.pointee.pending {
            let pending = Unmanaged<PendingCreation>.fromOpaque(known).takeRetainedValue()
            monitor.locked {
                pending.isDone = true
                WaitsAcross.over(pending)
                pending.failure = failure?.code == .cycle ? nil : failure
                pending.chain = nil
                monitor.broadcast()
            }
            creation.pointee.pending = nil
        }
        if let chain = creation.pointee.chain {
            Unmanaged<BuildChain>.fromOpaque(chain).release()
            creation.pointee.chain = nil
        }
    }

    /// Waits until a creation has ended, serving the calling thread's domain meanwhile. Throws its error, and `cycle` where the
    /// creation waits for the caller.
    public func wait(for pending: PendingCreation) throws(Failure) {
        let chain = chainForWaiting().root
        let thread = currentThread().identity
        let standing = Standing(chain)
        var wait = LongWait()
        defer { wait.end(self) }
        monitor.lock()
        while !pending.isDone {
            // The start of an object that the creation has built waits for the creation.
            let isOwn = pending.chain.map { chain.isInside($0.root) } ?? false
            let circle = pending.chain.flatMap { waits.circle(from: $0.root, to: chain, on: thread, pending.name) }
            var cycle = isOwn ? [pending.name] : circle?.path
            if cycle == nil {
                cycle = WaitsAcross.begin(standing, for: pending, pending.name, of: pending.chain?.root)
            }
            if let cycle {
                monitor.unlock()
                let path = (chain.frames.map(\.recipe.key) + cycle).joined(separator: " -> ")
                throw Failure(.cycle, "the wiring goes round in a circle: \(path)", path: pending.name)
            }
            chain.waitingOn = .creation(pending)
            waits.begin(chain, thread)
            wait.once(self, for: pending.name, of: pending.chain?.root)
            waits.end(chain, thread)
            WaitsAcross.end(standing, for: pending)
            chain.waitingOn = nil
        }
        let failure = pending.failure
        monitor.unlock()
        if let failure { throw failure }
    }

    // MARK: chains

    /// The chain of the calling thread. Where it has none: a new one, inside of the creation that the thread runs.
    func chainForWaiting() -> BuildChain {
        if let chain = currentChain { return chain }
        let thread = currentThread()
        let isNested = thread.pointee.around != nil || thread.pointee.creation != nil
        let beneath = chainBeneath ?? (isNested ? chainAround : nil)
        if isNested { giveChainsToOtherRuntimes(thread) }
        return BuildChain(
            graph: currentGraph(), parent: beneath == nil ? creationChain() : nil, outer: beneath,
            isApart: beneath != nil,
            beneath: thread.pointee.engine == Unmanaged.passUnretained(self).toOpaque()
                ? nil : BuildChain.at(thread.pointee.chain))
    }

    /// Gives chains to this thread's creations of other runtimes, so that other threads see what they wait for.
    private func giveChainsToOtherRuntimes(_ thread: ThreadState) {
        var next = thread.pointee.creation
        while let creation = next {
            next = creation.pointee.outer
            guard creation.pointee.chain == nil, let owner = creation.pointee.container,
                owner != Unmanaged.passUnretained(self).toOpaque()
            else { continue }
            Unmanaged<Container>.fromOpaque(owner).takeUnretainedValue().giveChain(creation, parent: nil)
        }
    }

    /// The chain of the innermost creation of this runtime that the calling thread runs; nil when it runs none.
    func creationChain() -> BuildChain? {
        var innermost = iv_thread()!.pointee.creation
        while let creation = innermost, creation.pointee.container != Unmanaged.passUnretained(self).toOpaque() {
            innermost = creation.pointee.outer
        }
        return innermost.map(ensuredChain)
    }

    /// The chain of a creation, inside of the chain of the creation around it.
    private func ensuredChain(_ creation: Creation) -> BuildChain {
        if let chain = creation.chain { return chain }
        var parent: BuildChain?
        if let outer = creation.pointee.outer, outer.pointee.container == creation.pointee.container {
            parent = ensuredChain(outer)
        }
        return giveChain(creation, parent: parent)
    }

    @discardableResult
    private func giveChain(_ creation: Creation, parent: BuildChain?) -> BuildChain {
        let around = parent == nil ? chainAround : nil
        let chain = BuildChain(
            graph: parent?.graph ?? currentGraph(), parent: parent, outer: around, isApart: around != nil,
            beneath: around == nil ? nil : BuildChain.at(currentThread().pointee.chain))
        monitor.locked {
            creation.pointee.chain = Unmanaged.passRetained(chain).toOpaque()
            if let pending = PendingCreation.known(creation) {
                pending.chain = chain
                WaitsAcross.known(chain.root, for: pending)
            }
        }
        return chain
    }
}
