import Glibc
import Invivo

/// The state of a case: events, waiting threads, planned failures, live objects. Any thread may use it.
final class World: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var heard: [String] = []
    private var gone: [String] = []
    private var reported: [String] = []
    private var warned: [String] = []
    private var alive: [String: Int] = [:]
    private var rules: [String: Rule] = [:]
    private var wrong: [String] = []
    private weak var now: Runtime?
    private var lastSetup: Setup?

    /// The planned behavior of an event.
    private struct Rule {
        /// How often it still fails; -1: always.
        var fails = 0
        var holds = false
        var meets = 0
        var arrived = 0
        var milliseconds: UInt32 = 0
    }

    init() {
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        changed.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// With the lock. A generous limit: a longer wait has lost its thread.
    private func wait(_ what: String, until holds: () -> Bool) {
        var limit = timespec()
        clock_gettime(CLOCK_REALTIME, &limit)
        limit.tv_sec += 30
        while !holds() {
            if pthread_cond_timedwait(changed, mutex, &limit) != 0 {
                if !holds() { wrong.append("waited too long for \(what)") }
                return
            }
        }
    }

    // MARK: - Events

    /// Records an event; then it may wait or fail.
    func event(_ name: String) throws {
        let (fails, milliseconds) = locked { () -> (Bool, UInt32) in
            heard.append(name)
            guard rules[name] != nil else { return (false, 0) }
            rules[name, default: Rule()].arrived += 1
            pthread_cond_broadcast(changed)
            if rules[name]?.holds == true { wait("'let \(name)'") { rules[name]?.holds != true } }
            if let meets = rules[name]?.meets, meets > 0 {
                wait("\(meets) at \(name)") { (rules[name]?.arrived ?? 0) >= meets }
            }
            let fails = rules[name]?.fails ?? 0
            if fails > 0 { rules[name]?.fails -= 1 }
            return (fails != 0, rules[name]?.milliseconds ?? 0)
        }
        if milliseconds > 0 { work(for: .milliseconds(milliseconds)) }
        if fails { throw InvivoError(.host, "\(name) fails on purpose") }
    }

    /// Is busy for this time, by the clock of deadlines.
    private func work(for time: Duration) {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end { sched_yield() }
    }

    private func rule(_ name: String, _ change: (inout Rule) -> Void) {
        locked {
            change(&rules[name, default: Rule()])
            pthread_cond_broadcast(changed)
        }
    }

    func fail(_ name: String, times: Int) { rule(name) { $0.fails = times } }
    func hold(_ name: String) { rule(name) { ($0.holds, $0.arrived) = (true, 0) } }
    func letGo(_ name: String) { rule(name) { $0.holds = false } }
    func meet(_ name: String, _ count: Int) { rule(name) { ($0.meets, $0.arrived) = (count, 0) } }
    func slow(_ name: String, _ milliseconds: UInt32) { rule(name) { $0.milliseconds = milliseconds } }
    func await(_ name: String) {
        locked {
            if rules[name] == nil { rules[name] = Rule() }
            wait(name) { (rules[name]?.arrived ?? 0) > 0 }
        }
    }

    // MARK: - Things

    /// The runtime of the statements.
    func runtime() throws -> Runtime {
        guard let runtime = locked({ now }) else { throw InvivoError(.notReady, "no runtime is open") }
        return runtime
    }
    func work(on runtime: Runtime?) { locked { now = runtime } }
    func keep(_ setup: Setup?) { locked { lastSetup = setup } }
    /// The `Setup` of the setup that ran last.
    func setup() throws -> Setup {
        guard let setup = locked({ lastSetup }) else { throw InvivoError(.argument, "no setup has run") }
        return setup
    }

    func born(_ kind: String) { locked { alive[kind, default: 0] += 1 } }
    func died(_ kind: String) {
        locked {
            alive[kind, default: 0] -= 1
            gone.append(kind)
        }
    }
    func count(_ kind: String?) -> Int {
        locked { kind.map { alive[$0] ?? 0 } ?? alive.values.reduce(0, +) }
    }
    func report(_ lines: [String], warnings: [String]) {
        locked {
            reported = lines.sorted()
            warned = warnings
        }
    }

    // MARK: - Events since the last query

    func takeHeard() -> [String] {
        locked {
            defer { heard = [] }
            return heard
        }
    }
    func takeGone() -> [String] {
        locked {
            defer { gone = [] }
            return gone
        }
    }
    func takeWrong() -> [String] {
        locked {
            defer { wrong = [] }
            return wrong
        }
    }
    var lastReport: [String] { locked { reported } }
    var lastWarnings: [String] { locked { warned } }
}
