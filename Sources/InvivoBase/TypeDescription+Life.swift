public import CInvivo

/// Calls the functions of a type. Each failure keeps the error of the function.
extension TypeDescription {
    /// Checks constructor arguments: counts, kinds, types of objects.
    public func checkArguments(_ arguments: [Value]) throws(Failure) -> [Value] { try signature.check(arguments) }

    /// Runs init, where there is one, on an instance of `size` bytes that has its initial values.
    public func initialize(
        _ instance: UnsafeMutableRawPointer, _ build: UnsafePointer<invivo_build>?, _ arguments: [Value]
    ) throws(Failure) {
        guard let initialize = functions.initialize else { return }
        do throws(Failure) {
            try CallbackResult.run("the init function of \(name)") { error in
                Value.withBorrowed(arguments) { initialize(instance, build, $0, $1, userData, error) }
            }
        } catch { throw signature.withoutSecrets(error, arguments) }
    }

    /// Creates an instance with one reference, by the type's function.
    public func make(
        _ build: UnsafePointer<invivo_build>?, _ arguments: [Value]
    ) throws(Failure) -> UnsafeMutableRawPointer {
        guard let make = functions.make else {
            throw Failure(.unsupported, "\(name) has no make function: it has only a block, and no instances")
        }
        var instance: UnsafeMutableRawPointer?
        do throws(Failure) {
            try CallbackResult.run("the make function of \(name)") { error in
                Value.withBorrowed(arguments) { make(&instance, build, $0, $1, userData, error) }
            }
        } catch { throw signature.withoutSecrets(error, arguments) }
        guard let instance else {
            throw Failure(.host, "the make function of \(name) returned success without an instance")
        }
        return instance
    }

    /// Runs deinit or release, if there is one. The allocator of the memory frees it.
    public func dispose(_ instance: UnsafeMutableRawPointer) {
        if size > 0 {
            functions.deinitialize?(instance, userData)
        } else {
            functions.release?(instance, userData)
        }
    }

    public func start(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let start = functions.start else { return }
        try CallbackResult.run("the start function of \(name)") { start(instance, userData, $0) }
    }

    /// Runs prepare, before any object of the same build is started.
    public func prepare(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let prepare = functions.prepare else { return }
        try CallbackResult.run("the prepare function of \(name)") { prepare(instance, userData, $0) }
    }

    /// Runs setup, after start, and again when something that belongs to the object changes.
    public func setUp(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let setup = functions.setup else { return }
        try CallbackResult.run("the setup function of \(name)") { setup(instance, userData, $0) }
    }

    public func tearDown(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let teardown = functions.teardown else { return }
        try CallbackResult.run("the teardown function of \(name)") { teardown(instance, userData, $0) }
    }

    /// Runs refresh, after a commit that replaced something that the instance uses.
    public func refresh(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let refresh = functions.refresh else { return }
        try CallbackResult.run("the refresh function of \(name)") { refresh(instance, userData, $0) }
    }

    public func finalize(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let finalize = functions.finalize else { return }
        try CallbackResult.run("the finalize function of \(name)") { finalize(instance, userData, $0) }
    }

    public func stop(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let stop = functions.stop else { return }
        try CallbackResult.run("the stop function of \(name)") { stop(instance, userData, $0) }
    }

    /// Runs will_inject, before anything is injected into the instance.
    public func willInject(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let hook = functions.willInject else { return }
        try CallbackResult.run("the will_inject function of \(name)") { hook(instance, userData, $0) }
    }

    /// Passes the runtime to the instance, before `didInject`.
    public func takeRuntime(_ instance: UnsafeMutableRawPointer, _ bits: UInt64) throws(Failure) {
        guard let take = functions.takeRuntime else { return }
        try CallbackResult.run("the take_runtime function of \(name)") {
            take(instance, userData, invivo_runtime(bits: bits), $0)
        }
    }

    /// Called when all objects of the build that created an instance are complete.
    public func didInject(_ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let hook = functions.didInject else { return }
        try CallbackResult.run("the did_inject function of \(name)") { hook(instance, userData, $0) }
    }

    // MARK: references

    /// Whether a retired instance is not stopped while its language refers to it.
    public var countsReferences: Bool { functions.countReferences != nil && functions.areEnded }

    /// The number of references that its language has to an instance, without the runtime's. Never with a lock held.
    public func countReferences(_ instance: UnsafeMutableRawPointer) throws(Failure) -> UInt64 {
        guard let count = functions.countReferences else { return 0 }
        var found = UInt64.max
        try CallbackResult.run("the count_references function of \(name)") { count(instance, userData, &found, $0) }
        return found
    }

    // MARK: trees

    /// The handle of an instance's child number `index`, with one lease for the caller; 0 after the last.
    public func child(_ index: UInt64, of instance: UnsafeMutableRawPointer) throws(Failure) -> UInt64 {
        guard let child = functions.child else { return 0 }
        var found = invivo_object()
        try CallbackResult.run("the child function of \(name)") { child(instance, userData, index, &found, $0) }
        return found.bits
    }

    /// The key by which an instance requests its injection.
    public func keyName(of instance: UnsafeMutableRawPointer) throws(Failure) -> String? {
        guard let keyName = functions.keyName else { return nil }
        var found: UnsafePointer<CChar>?
        try CallbackResult.run("the key_name function of \(name)") { keyName(instance, userData, &found, $0) }
        return try optionalText(found, "the key name of \(withArticle(name))")
    }

    // MARK: parents

    /// The object in which an instance stands, with one lease for the caller; 0 for none.
    public func parent(of instance: UnsafeMutableRawPointer?, _ function: Parent) throws(Failure) -> UInt64 {
        var found = invivo_object()
        try CallbackResult.run("the parent function of \(name)") { function(instance, userData, &found, $0) }
        return found.bits
    }

    // MARK: weak references

    /// Whether the language of the instances counts their references, and has weak references to them.
    public var hasWeakReferences: Bool {
        functions.weakMake != nil && functions.weakLoad != nil && functions.weakFree != nil
    }

    /// A weak reference to an instance that is counted elsewhere; nil when the type has none. Never with a lock held.
    public func makeWeak(_ instance: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        guard functions.weakLoad != nil, functions.weakFree != nil else { return nil }
        return functions.weakMake?(instance, userData)
    }

    /// The instance with one more reference; nil when it has ended. Never with a lock held.
    public func loadWeak(_ weak: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        functions.weakLoad?(weak, userData)
    }

    /// Frees a weak reference; under a monitor the free function is postponed.
    public func freeWeak(_ weak: UnsafeMutableRawPointer) {
        guard let free = functions.weakFree else { return }
        let thread = currentThread()
        guard thread.pointee.locks == 0 else { return thread.afterUnlocking { [self] in free(weak, userData) } }
        free(weak, userData)
    }
}
