import Dispatch
import Glibc
import Testing

import Invivo

private final class Account: Sendable {}
private final class Work: Sendable {
    let account: Account
    init(account: Account) { self.account = account }
}
private final class Answer: Sendable {
    let work: Work
    init(work: Work) { self.work = work }
}
private final class Greeting: Sendable {
    let user: String
    init(user: String) { self.user = user }
}

private final class Site: Assembly {
    let account = prototype(Account.init).inContext("session")
    let work = prototype(Work.init).inContext("request")
    let answer = prototype(Answer.init)
    let numbered = prototype { (resolver: Resolver, number: Int) in try (resolver(\Site.work), number) }
    let place = prototype { (_: Resolver) in Place() }.inContext()
}

/// An object that notes the current context of its initializer.
private final class Place: Sendable {
    let context = Context.current
}

private final class Places: Assembly {
    let shared = lazySingleton { (_: Resolver) in Place() }
    let eager = singleton { (_: Resolver) in Place() }
    let session = prototype { (_: Resolver) in Place() }.inContext("session")
    let request = prototype { (_: Resolver) in Place() }.inContext(ContextKind("request", policy: .follows))
    let each = prototype { (_: Resolver) in Place() }
    let all = prototype { (resolver: Resolver) in
        try (resolver(\Places.request), resolver(\Places.session), resolver(\Places.shared), Place())
    }
}

extension ContextKey<String> { fileprivate static var user: Self { Self("user") } }

/// Work that starts on its own.
private enum Spawned: CaseIterable {
    case task, detached, group, actor, continuation, dispatch, thread

    /// What it sees when it is started in a context.
    var inherits: Bool {
        switch self {
        case .task, .group, .actor, .continuation: true
        case .detached, .dispatch, .thread: false
        }
    }

    func start(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .task: Task { body() }
        case .detached: Task.detached { body() }
        case .group: Task { await withTaskGroup(of: Void.self) { $0.addTask { body() } } }
        case .actor: Task { await Hop().run(body) }
        case .continuation:
            Task {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume() }
                }
                body()
            }
        case .dispatch: DispatchQueue.global().async(execute: body)
        case .thread:
            var thread = pthread_t()
            let box = Unmanaged.passRetained(ThreadBody(body))
            pthread_create(
                &thread, nil,
                { raw in
                    if let raw { Unmanaged<ThreadBody>.fromOpaque(raw).takeRetainedValue().body() }
                    return nil
                }, box.toOpaque())
            pthread_detach(thread)
        }
    }

    /// The contexts that all kinds of work see which `body` starts.
    static func seen(
        by runtime: Runtime, _ body: (@escaping @Sendable (Spawned) -> Void) throws -> Void
    ) async rethrows -> [Spawned: Context?] {
        let (reports, report) = AsyncStream<(Spawned, Context?)>.makeStream()
        try body { spawned in
            spawned.start {
                // Both answers are the same.
                let (current, own) = (Context.current, runtime.currentContext)
                report.yield((spawned, current == own ? current : nil))
            }
        }
        var seen: [Spawned: Context?] = [:]
        for await (spawned, context) in reports {
            seen[spawned] = .some(context)
            if seen.count == allCases.count { break }
        }
        return seen
    }
}

private actor Hop { func run(_ body: @Sendable () -> Void) { body() } }
private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

extension SwiftAPI {
    @Suite(.tags(.concurrent)) struct ContextObjectTests {
        private static func declare(_ runtime: Runtime) throws {
            try runtime.declareContexts([
                ContextKind("session", policy: .follows), ContextKind("request", policy: .follows),
            ])
        }

        private func withSite(
            _ options: Runtime.Options = Runtime.Options(), _ body: (Runtime, Site) throws -> Void
        ) throws {
            try withRuntime(options) { runtime throws in
                try Self.declare(runtime)
                try body(runtime, try runtime.activate(Site()))
            }
        }

        // MARK: - Where objects are

        @Test func eachContextOfAKindHasItsOwnObject() throws {
            try withSite { runtime, site throws in
                let session = try runtime.context("session")
                let first = try runtime.context("request", parent: .context(session))
                let second = try runtime.context("request", parent: .context(session))
                let work = try first(site.work)
                #expect(try first(site.work) === work && second(site.work) !== work)
                #expect(try second(site.work).account === work.account && session(site.account) === work.account)
                // In all forms.
                let key: Key<Work> = try site.work.key
                #expect(try first(key) === work && first.resolve(key) === work && first.resolve(Work.self) === work)
                #expect(try first.resolve("site.work", as: Work.self) === work && first.all(of: Work.self)[0] === work)
                #expect(try first.resolve(Work.self, named: "work") === work)
                #expect(try first.object("site.work") == first.object("site.work"))
                let (numbered, number) = try first(site.numbered, 3)
                #expect(try first(site.answer).work === work && numbered === work && number == 3)
                #expect(try first.resolve(Work?.self) === work)
                let failed = failure { _ = try session(site.work) }
                #expect(failed.code == .notReady && failed.message.contains("'request'"), "\(failed)")
                fails(.notReady) { _ = try site.work() }
                try first.end()
                fails(.stale) { _ = try first(site.work) }
                fails(.stale) { _ = try first(site.numbered, 3) }
                try session.end()
                try withRuntime { other in
                    let elsewhere = try other.context()
                    fails(.handle) { _ = try elsewhere(site.work) }
                    fails(.handle) { _ = try elsewhere(key) }
                }
            }
        }

        @Test func resolvesInABlockUseItsContext() throws {
            try withSite { runtime, site throws in
                let key = try site.work.key
                var works: [Work] = []
                for _ in 0..<2 {
                    try runtime.withContext("session") { session in
                        try runtime.withContext("request") { request in
                            let work = try request(site.work)
                            works.append(work)
                            // Often enough for a build plan.
                            for _ in 0..<10 { #expect(try site.answer().work === work) }
                            #expect(try site.work() === work && runtime.resolve(key) === work)
                            #expect(try runtime.resolve(Work.self) === work && site.numbered(1).0 === work)
                            #expect(try runtime.resolve("site.work", as: Work.self) === work)
                            #expect(try site.place() === request(site.place))
                            #expect(try site.place() !== session(site.place))
                        }
                    }
                }
                #expect(works[0] !== works[1] && works[0].account !== works[1].account)
                fails(.notReady) { _ = try site.answer() }
            }
        }

        @Test func resolvesOfATaskUseItsContextOnEachThread() async throws {
            let before = Live.now
            let runtime = try Runtime()
            try Self.declare(runtime)
            let site = try runtime.activate(Site())
            let (definition, holder, shared) = (site.work, site.answer, site.account)
            try await runtime.withContext("session") { session in
                try await withThrowingTaskGroup(of: Work.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            try await runtime.withContext("request") { request in
                                let work = try definition()
                                for _ in 0..<20 {
                                    await Task.yield()
                                    #expect(try definition() === work && request(definition) === work)
                                    #expect(try holder().work === work)
                                }
                                #expect(try await definition.resolved() === work)
                                return work
                            }
                        }
                    }
                    var works: [Work] = []
                    for try await work in group { works.append(work) }
                    let account = try session(shared)
                    #expect(Set(works.map(ObjectIdentifier.init)).count == 8)
                    #expect(works.allSatisfy { $0.account === account })
                }
            }
            try runtime.close()
            #expect(Live.now == before)
        }

        @Test func scopesOfContextsAreDeclaredInEachForm() throws {
            try withRuntime { runtime throws in
                try Self.declare(runtime)
                let type = ObjectType<Account>("Account") { $0.make { Account() } }
                let request = ContextKind("request", policy: .follows)
                let own = try runtime.define("a.own", type, scope: .context("request"))
                try runtime.define("b.own", type: "Account", scope: .context(request))
                try runtime.define("c.own", type: "Account", scope: .context)
                #expect(try runtime.describe("a.own").scope == .context("request"))
                #expect(try runtime.describe("b.own").scopeName == "request")
                #expect(try runtime.describe("c.own").scope == .context)
                #expect(Scope.context != .context("request") && Scope.context(request) == .context("request"))
                let (one, other) = (try runtime.context("request"), try runtime.context("request", parent: .none))
                #expect(try one(own) === one(own) && one(own) !== other(own))
                let unknown = failure { try runtime.define("d.own", type: "Account", scope: .context("requst")) }
                #expect(unknown.code == .notFound && unknown.message.contains("'request'"), "\(unknown)")
                fails(.argument) { try runtime.define("d.own", type: "Account", scope: .context("a\0b")) }
                try one.end()
                try other.end()
            }
        }

        // MARK: - What code of objects sees

        @Test func codeOfAnObjectSeesTheContextInWhichItLives() throws {
            try withRuntime { runtime throws in
                try Self.declare(runtime)
                let places = try runtime.activate(Places())
                #expect(try places.eager().context == nil)
                try runtime.withContext("session") { session in
                    try runtime.withContext("request") { request in
                        let (ofRequest, ofSession, shared, own) = try places.all()
                        #expect(ofRequest.context == request && ofSession.context == session)
                        #expect(shared.context == nil && own.context == request)
                        #expect(try places.each().context == request && session(places.each).context == session)
                        #expect(Context.current == request)
                    }
                    #expect(Context.current == session)
                }
            }
        }

        @Test func hooksAndStopsSeeTheContextOfTheirObject() throws {
            let log = Log<String>()
            try withRuntime { runtime throws in
                try Self.declare(runtime)
                let kept = Locked<[String: Context]>([:])
                @Sendable func noteHome(_ name: String, _ kind: String?) {
                    let current = Context.current
                    let isHome = kind == nil ? current == nil : current == kept.withLock { $0[kind ?? ""] }
                    log.add("\(name) \(kind ?? "none") \(isHome && current == runtime.currentContext)")
                }
                for kind in ["session", "request", nil] {
                    let type = ObjectType<Account>("Account of \(kind ?? "none")") { type in
                        type.make {
                            noteHome("make", kind)
                            return Account()
                        }
                        type.prepare { _ in noteHome("prepare", kind) }
                        type.start { _ in noteHome("start", kind) }
                        type.stop { _ in noteHome("stop", kind) }
                    }
                    try runtime.define(
                        "a.\(kind ?? "none")", type, scope: kind.map { .context($0) } ?? .lazySingleton)
                }
                try runtime.withContext("session") { session in
                    kept.withLock { $0["session"] = session }
                    try runtime.withContext("request") { request in
                        kept.withLock { $0["request"] = request }
                        for name in ["a.session", "a.request", "a.none"] {
                            _ = try request.resolve(name, as: Account.self)
                        }
                    }
                    #expect(log.all.last == "stop request true")
                }
                #expect(log.all.last == "stop session true")
                let request = try runtime.context("request")
                try request.entered { try runtime.reset("a.none") }
                try request.end()
                kept.withLock { $0 = [:] }
            }
            #expect(log.all.count == 12 && log.all.allSatisfy { $0.hasSuffix("true") }, "\(log.all)")
            #expect(log.all.contains("stop none true"))
        }

        // MARK: - Spawned work

        @Test func workThatABlockStartsSeesItsContextUnlessItIsDetached() async throws {
            let runtime = try Runtime()
            try await runtime.withContext { context in
                let seen = await Spawned.seen(by: runtime) { start in for each in Spawned.allCases { start(each) } }
                for (spawned, found) in seen { #expect(found == (spawned.inherits ? context : nil), "\(spawned)") }
                // By hand, where it is not inherited.
                let entered = try await Task.detached { try context.entered { Context.current } }.value
                #expect(entered == context)
            }
            try runtime.close()
        }

        @Test func workThatAFactoryStartsSeesTheContextOfItsObject() async throws {
            for kind in ["request", "none"] {
                let runtime = try Runtime()
                try Self.declare(runtime)
                let starting = Locked<(@Sendable (Spawned) -> Void)?>(nil)
                let type = ObjectType<Account>("Account") { type in
                    type.make {
                        let start = starting.withLock { $0 }
                        for each in Spawned.allCases { start?(each) }
                        return Account()
                    }
                }
                let key = try runtime.define(
                    "a.account", type, scope: kind == "request" ? .context("request") : .lazySingleton)
                try await runtime.withContext("request") { request in
                    // Requested from an inner context.
                    try await runtime.withContext { _ in
                        let seen = try await Spawned.seen(by: runtime) { start in
                            starting.withLock { $0 = start }
                            _ = try runtime.resolve(key)
                        }
                        for (spawned, found) in seen {
                            let expected = kind == "request" && spawned.inherits ? request : nil
                            #expect(found == expected, "\(kind) \(spawned)")
                        }
                    }
                }
                starting.withLock { $0 = nil }
                try runtime.close()
            }
        }

        // MARK: - The end

        @Test func stopsSeeTheErrorThatEndedTheBlock() throws {
            struct Lost: Error {}
            try withRuntime { runtime throws in
                try Self.declare(runtime)
                let failures = Log<InvivoError?>()
                let type = ObjectType<Account>("Account") { type in
                    type.make { Account() }
                    type.stop { _ in
                        failures.add(Context.current?.failure)
                        if failures.all.count == 3 { throw InvivoError(.host, "the disk is full") }
                    }
                }
                let key = try runtime.define("a.account", type, scope: .context("request"))
                try runtime.withContext("request") { request in
                    _ = try request(key)
                    #expect(request.failure == nil)
                }
                let failed = failure {
                    try runtime.withContext("request") { request in
                        _ = try request(key)
                        throw InvivoError(.range, "too many")
                    }
                }
                #expect(failed.code == .range)
                #expect(failures.all.map { $0?.code } == [nil, .range] && failures.all[1]?.message == "too many")
                // The error of the block is thrown, that of the end is noted.
                #expect(throws: Lost.self) {
                    try runtime.withContext("request") { request in
                        _ = try request(key)
                        throw Lost()
                    }
                }
                #expect(failures.all[2]?.code == .host && failures.all[2]?.message.contains("Lost") == true)
            }
        }

        @Test func theEndReturnsWhatIsHeldAndRefusesChildren() throws {
            try withSite { runtime, site throws in
                let session = try runtime.context("session")
                let request = try runtime.context("request", parent: .context(session))
                let object = try request.object("site.work")
                let busy = failure { try session.end(refusingChildren: true) }
                #expect(busy.code == .busy && busy.message.contains("request"), "\(busy)")
                #expect(!session.isEnded)
                #expect(try request.end(timeout: .seconds(30)) == ["site.work"])
                // What is still held holds its dependencies.
                #expect(try session.end(refusingChildren: true) == ["site.account"])
                withExtendedLifetime(object) {}
            }
        }

        @Test func theEndHasALimit() throws {
            var options = Runtime.Options()
            options.endTimeout = .seconds(7)
            try withSite(options) { runtime, site throws in
                #expect(try runtime.options.endTimeout == .seconds(7))
                try runtime.change { $0.endTimeout = .milliseconds(20) }
                #expect(try runtime.options.endTimeout == .milliseconds(20))
            }
        }

        // MARK: - Values

        @Test func theValueOfAKeyIsInjected() throws {
            try withRuntime { runtime throws in
                try runtime.declareContexts([
                    ContextKind("visit", policy: .follows, provides: ["user"]),
                    ContextKind("call", policy: .follows),
                ])
                final class Hall: Assembly {
                    let near = prototype(wired(.context(.user), by: Greeting.init)).inContext("call")
                    let far = prototype(wired(.context(.user, of: "visit"), by: Greeting.init)).inContext("call")
                    let named = prototype(wired(.context(named: "user"), by: Greeting.init)).inContext()
                    let other = prototype(
                        wired(.context(named: "guest", default: "nobody"), by: Greeting.init)
                    ).inContext("call")
                }
                let hall = try runtime.activate(Hall())
                try runtime.withContext("visit", [.set(.user, to: "ada")]) { _ in
                    try runtime.withContext("call", [.set(.user, to: "bob")]) { call throws in
                        #expect(try call(hall.near).user == "bob" && call(hall.far).user == "ada")
                        #expect(try call(hall.named).user == "bob" && call(hall.other).user == "nobody")
                    }
                }
            }
        }
    }
}

private func fails(
    _ code: InvivoError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    let failed = failure(sourceLocation: sourceLocation, body)
    #expect(failed.code == code, "\(failed)", sourceLocation: sourceLocation)
}
