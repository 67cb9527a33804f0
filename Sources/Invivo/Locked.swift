internal import Glibc
internal import Synchronization

/// A value behind a mutex. A pthread mutex, because ThreadSanitizer sees it: a reported race is then a real one.
final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value
    private let held: ForkMutexes.Node?

    /// `acrossFork`: no forked child finds it locked by a thread that the child does not have, nor its value half changed. For
    /// locks that are taken last: none other, and nothing of the library, is waited for while such a one is held.
    init(_ value: Value, acrossFork: Bool = false) {
        self.value = value
        held = acrossFork ? ForkMutexes.take() : nil
        if let held {
            mutex = held.pointee.mutex
        } else {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }
    }

    deinit {
        if let held { return ForkMutexes.giveBack(held) }
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Runs `body` under the lock, without the value. A value without a size has no storage of its own: ThreadSanitizer
    /// would report an access to it as an access to this object's header.
    func alone<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// Mutexes that are held across fork. They are reused, and never freed: a fork walks their list without a lock.
private enum ForkMutexes {
    struct Entry {
        let mutex: UnsafeMutablePointer<pthread_mutex_t>
        let next: Node?
        var isFree = false
    }
    typealias Node = UnsafeMutablePointer<Entry>

    nonisolated(unsafe) private static let first = Atomic<Node?>(nil)
    /// Guards `isFree`, additions to the list, and `held` while a fork is under way. Taken after the mutexes of the list.
    nonisolated(unsafe) private static let lock = newMutex()
    nonisolated(unsafe) private static var held: Node?

    private static func newMutex() -> UnsafeMutablePointer<pthread_mutex_t> {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        return mutex
    }

    private static func forEach(from node: Node?, _ body: (Node) -> Void) {
        var next = node
        while let node = next {
            body(node)
            next = node.pointee.next
        }
    }

    private static let isInstalled: Bool = {
        let unlock: @convention(c) () -> Void = {
            let held = ForkMutexes.held
            pthread_mutex_unlock(ForkMutexes.lock)
            ForkMutexes.forEach(from: held) { pthread_mutex_unlock($0.pointee.mutex) }
        }
        return pthread_atfork(
            {
                let first = ForkMutexes.first.load(ordering: .acquiring)
                ForkMutexes.forEach(from: first) { pthread_mutex_lock($0.pointee.mutex) }
                pthread_mutex_lock(ForkMutexes.lock)
                ForkMutexes.held = first
            }, unlock, unlock) == 0
    }()

    static func take() -> Node {
        _ = isInstalled
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        var next = first.load(ordering: .relaxed)
        while let node = next {
            if node.pointee.isFree {
                node.pointee.isFree = false
                return node
            }
            next = node.pointee.next
        }
        let node = Node.allocate(capacity: 1)
        node.initialize(to: Entry(mutex: newMutex(), next: first.load(ordering: .relaxed)))
        first.store(node, ordering: .releasing)
        return node
    }

    static func giveBack(_ node: Node) {
        pthread_mutex_lock(lock)
        node.pointee.isFree = true
        pthread_mutex_unlock(lock)
    }
}
