import Testing

import Invivo

/// Any `Sendable` class, without a description.
private final class ContextUser: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
}

/// A described class.
private final class ContextRouter: InvivoObject, Sendable {
    let next: String
    init(_ next: String) { self.next = next }
    static var invivoType: ObjectType<ContextRouter> {
        ObjectType("ContextRouter") { type in type.method("next") { (router: ContextRouter) in router.next } }
    }
}

private protocol Routing: Sendable { var route: String { get } }
private final class MainRoute: Routing { var route: String { "main" } }

/// A struct that crosses as an object.
private struct Locale: Sendable, Equatable { var language: String }

private final class Desk: InvivoObject {
    var number = 3
    static var invivoType: ObjectType<Desk> { ObjectType(confined: "ContextDesk") { $0.property("number", \.number) } }
}

private enum Level: Int, CaseIterable, InvivoConvertible, Sendable { case low = 1, high = 2 }

private final class Panel: InvivoObject, Sendable {
    let above: Panel?
    init(_ above: Panel? = nil) { self.above = above }
    static var invivoType: ObjectType<Panel> { ObjectType("ContextPanel") { type in type.parent { $0.above } } }
}

extension ContextKey<ContextUser> { fileprivate static var user: Self { Self("user") } }
extension ContextKey<ContextRouter> { fileprivate static var router: Self { Self("router") } }
extension ContextKey<Int> {
    fileprivate static var workers: Self { Self("workers", default: 8) }
    fileprivate static var count: Self { Self("count") }
}
extension ContextKey<String> { fileprivate static var title: Self { Self("title") } }

extension SwiftAPI {
    @Suite(.tags(.concurrent)) struct ContextTests {
        // MARK: - Values

        @Test func aValueIsFoundUpwardAndIsIdentical() throws {
            try withRuntime { runtime in
                let user = ContextUser("ada")
                let root = try runtime.context(nil, [.set(.user, to: user), .set(.count, to: 1)])
                let leaf = try runtime.context(parent: .context(try runtime.context(parent: .context(root))))
                // The context between has ended with its last holder.
                fails(.orphaned) { _ = try leaf[.user] }
                let child = try runtime.context(parent: .context(root))
                #expect(try child[.user] === user)
                #expect(try child.value(for: .user) === user)
                #expect(try child.local(.user) == nil)
                #expect(try child.value(for: .title) == nil)
                let missing = failure { _ = try child[.title] }
                #expect(missing.code == .notFound && missing.path == "title", "\(missing)")
                try child.set(.count, to: 2)
                #expect(try child[.count] == 2 && root[.count] == 1)
                try child.hide(.count)
                #expect(try child.value(for: .count) == nil)
                try child.remove(.count)
                #expect(try child[.count] == 1)
                fails(.notFound) { try child.remove(.count) }
            }
        }

        @Test func valuesOfAllKindsComeBack() throws {
            try withRuntime { runtime in
                let context = try runtime.context()
                func check<Value: Equatable>(_ key: ContextKey<Value>, _ value: Value) throws {
                    try context.set(key, to: value)
                    #expect(try context[key] == value)
                }
                try check(ContextKey("bool"), true)
                try check(ContextKey("int8"), Int8(-3))
                try check(ContextKey("uint64"), UInt64.max)
                try check(ContextKey("float"), Float(1.5))
                try check(ContextKey("double"), 0.1)
                try check(ContextKey("string"), "h\u{e9}llo")
                try check(ContextKey("bytes"), [0, 1, 255] as [UInt8])
                try check(ContextKey("list"), [1, 2, 3])
                try check(ContextKey("map"), ["a": 1.5])
                try check(ContextKey("level"), Level.high)
                try check(ContextKey("any"), InvivoValue.list([1, "two"]))
                try check(ContextKey("optional"), Int?.some(5))
                // A struct without a conversion.
                try check(ContextKey("locale"), Locale(language: "en"))
                try check(ContextKey("locales"), [Locale(language: "en"), Locale(language: "de")])
                let none = failure { try context.set(ContextKey<Int?>("optional"), to: nil) }
                #expect(none.code == .null && none.path == "optional")
                #expect(try context[ContextKey<Int?>("optional")] == 5)
            }
        }

        @Test func objectsComeBackAsTheSameInstance() throws {
            try withRuntime { runtime in
                let (router, route) = (ContextRouter("home"), MainRoute())
                let context = try runtime.context()
                try context.set(.router, to: router)
                try context.set(ContextKey<any Routing>("route"), to: route)
                #expect(try context[.router] === router)
                #expect(try context[ContextKey<any Routing>("route")] as? MainRoute === route)
                let object = try context[ContextKey<InvivoValue>("router")].get(Object.self)
                #expect(try object.call("next") == "home")
                // An object of another class is refused where the value is set, by the declaration of the key.
                let other = try runtime.object(for: Desk())
                let wrong = failure { try context.set(ContextKey<InvivoValue>("router"), to: .object(other)) }
                #expect(wrong.code == .type && wrong.path == "router" && wrong.message.contains("ContextRouter"))
            }
        }

        @Test func aContextKeepsItsObjectsUntilItEnds() throws {
            final class Counted: Sendable {
                let ended: Locked<Int>
                init(_ ended: Locked<Int>) { self.ended = ended }
                deinit { ended.withLock { $0 += 1 } }
            }
            let ended = Locked(0)
            let key = ContextKey<Counted>("counted")
            try withRuntime { runtime in
                let context = try runtime.context(nil, [.set(key, to: Counted(ended))])
                #expect(try context[key].ended === ended && ended.withLock { $0 } == 0)
                try context.set(key, to: Counted(ended))
                #expect(ended.withLock { $0 } == 1)
                try context.end()
                #expect(ended.withLock { $0 } == 2)
                fails(.stale) { _ = try context[key] }
                #expect(context.isEnded && "\(context)" == "context (ended)")
            }
        }

        @Test func aConfinedObjectIsUsedOnItsThread() throws {
            try withRuntime { runtime in
                let (desk, key, object) = (Desk(), ContextKey<Desk>("desk"), ContextKey<InvivoValue>("desk"))
                let context = try runtime.context(nil, [.set(key, to: desk)])
                #expect(try context[key] === desk)
                onAnotherThread {
                    fails(.domain) { _ = try context[object].get(Object.self).get("number", as: Int.self) }
                }
            }
        }

        @Test func severalKeysChangeAtOnce() throws {
            try withRuntime { runtime in
                let root = try runtime.context(nil, [.set(.count, to: 1)])
                let context = try runtime.context(nil, [.set(.count, to: 2)], parent: .context(root))
                try context.change {
                    $0.set(.title, to: "new")
                    $0.remove(.count)
                    $0.hide(.workers)
                }
                #expect(try context[.title] == "new" && context[.count] == 1)
                #expect(try context.value(for: .workers) == nil)
                let failed = failure {
                    try context.change {
                        $0.set(.title, to: "newer")
                        $0.remove(.count)
                    }
                }
                #expect(failed.code == .notFound && failed.path == "count")
                #expect(try context[.title] == "new")
                struct Stop: Error {}
                #expect(throws: Stop.self) {
                    try context.change {
                        $0.set(.title, to: "newest")
                        throw Stop()
                    }
                }
                #expect(try context[.title] == "new")
            }
        }

        @Test func entriesHaveTheirOrigin() throws {
            try withRuntime { runtime in
                let root = try runtime.context(nil, [.set(.title, to: "t"), .set(.count, to: 1)])
                let leaf = try runtime.context(nil, [.set(.count, to: 2)], parent: .context(root))
                let entries = try leaf.entries
                #expect(entries.map(\.name) == ["count", "title"] && entries.map(\.distance) == [0, 1])
                #expect(entries.map(\.value) == [2, "t"])
                #expect(try leaf.localEntries.map(\.name) == ["count"])
            }
        }

        // MARK: - Keys

        @Test func aKeyHasADefaultAndOneDeclaration() throws {
            try withRuntime { runtime in
                let context = try runtime.context()
                #expect(try context[.workers] == 8)
                #expect(try context.local(.workers) == nil)
                try context.set(.workers, to: 3)
                #expect(try context[.workers] == 3)
                fails(.exists) { _ = try context[ContextKey<Int>("workers", default: 9)] }
                fails(.exists) { _ = try context[ContextKey<Int>("workers")] }
                fails(.exists) { _ = try context[ContextKey<String>("workers")] }
                // A key without a type reads what is there.
                #expect(try context[ContextKey<InvivoValue>("workers")] == 3)
                fails(.type) { try context.set(ContextKey<InvivoValue>("workers"), to: "many") }
                let user = ContextUser("nobody")
                let guest = ContextKey<ContextUser>("guest", default: user)
                #expect(try context[guest] === user && context[guest] === user)
                #expect(try context[ContextKey("locale", default: Locale(language: "en"))].language == "en")
            }
        }

        @Test func namesAreComparedByTheirBytes() throws {
            try withRuntime { runtime in
                let (composed, decomposed) = (ContextKey<Int>("caf\u{e9}"), ContextKey<Int>("cafe\u{301}"))
                let context = try runtime.context(nil, [.set(composed, to: 1), .set(decomposed, to: 2)])
                #expect(try context[composed] == 1 && context[decomposed] == 2)
                fails(.argument) { try context.set(ContextKey<Int>("a\0b"), to: 1) }
            }
        }

        @Test func keysAreDeclaredInEachRuntime() throws {
            try withRuntime { first in
                try withRuntime { second in
                    let (one, other) = (try first.context(), try second.context())
                    for _ in 0..<3 {
                        #expect(try one[.workers] == 8 && other[.workers] == 8)
                        try one.set(.count, to: 1)
                        #expect(try other.value(for: .count) == nil)
                    }
                    fails(.handle) { _ = try first.context(parent: .context(other)) }
                }
            }
        }

        @Test func aKeyIsDeclaredByKindAndType() throws {
            try withRuntime { runtime in
                try runtime.declareContextKey("size", kind: .int32, default: 7)
                try runtime.declareContextKey("size", kind: .int32, default: 7)
                fails(.exists) { try runtime.declareContextKey("size", kind: .int64) }
                #expect(try runtime.context()[ContextKey<InvivoValue>("size")] == .int32(7))
                try runtime.declare(.workers)
                fails(.exists) { try runtime.declareContextKey("workers", kind: .string) }
            }
        }

        // MARK: - Life

        @Test func aContextWithoutAKindEndsWithItsLastHolder() throws {
            try withRuntime { runtime in
                var root: Context? = try runtime.context(nil, [.set(.count, to: 1)])
                let weak = try runtime.context(parent: .context(try #require(root)))
                let strong = try runtime.context(parent: .context(try #require(root)), holdsParent: true)
                #expect(try strong.parent == root)
                root = nil
                #expect(try strong[.count] == 1 && weak[.count] == 1)
                try strong.release()
                try strong.release()
                #expect(strong.isEnded)
                let orphaned = failure { _ = try weak[.count] }
                #expect(orphaned.code == .orphaned && orphaned.path == "count")
                fails(.orphaned) { _ = try weak.parent }
            }
        }

        @Test func theBlockEndsItsContext() throws {
            try withRuntime { runtime in
                let context = try runtime.withContext(nil, [.set(.count, to: 4)]) { (context) throws in
                    #expect(Context.current == context && runtime.currentContext == context)
                    #expect(try context[.count] == 4)
                    return context
                }
                #expect(context.isEnded && Context.current == nil)
                struct Stop: Error {}
                var kept: Context?
                #expect(throws: Stop.self) {
                    try runtime.withContext { context in
                        kept = context
                        throw Stop()
                    }
                }
                #expect(kept?.isEnded == true)
                fails(.stale) { try context.entered {} }
                fails(.stale) { try context.set(.count, to: 1) }
                try context.end()
            }
        }

        @Test func theEndEndsThoseThatHoldTheContext() throws {
            try withRuntime { runtime in
                let root = try runtime.context()
                let held = try runtime.context(parent: .context(root), holdsParent: true)
                let loose = try runtime.context(parent: .context(root))
                try root.end()
                #expect(held.isEnded && !loose.isEnded)
            }
        }

        @Test func theCloseEndsAllContexts() throws {
            let before = Live.now
            let runtime = try Runtime()
            let user = ContextUser("ada")
            let context = try runtime.context(nil, [.set(.user, to: user)], object: ContextRouter("x"))
            try runtime.close()
            #expect(context.isEnded)
            fails(.stale) { _ = try context[.user] }
            #expect(Live.now == before)
        }

        // MARK: - Kinds

        @Test func kindsHaveAnOrderAndProvideValues() throws {
            try withRuntime { runtime in
                let request = ContextKind("request", policy: .follows, provides: ["user"], live: ["title"])
                try runtime.declareContexts([ContextKind("session", policy: .follows), request])
                try runtime.declareContexts([request])
                fails(.exists) { try runtime.declareContexts([ContextKind("request", policy: .follows)]) }
                let missing = failure { try runtime.withContext("request") { _ in } }
                #expect(
                    missing.code == .notFound && missing.message.contains("'user', 'title'"),
                    "\(missing.code) \(missing)")
                let misspelled = failure { try runtime.withContext("sesion") { _ in } }
                #expect(misspelled.code == .notFound && misspelled.message.contains("session"))
                try runtime.withContext("session") { session in
                    let values: [ContextValue] = [.set(.user, to: ContextUser("ada")), .set(.title, to: "a")]
                    try runtime.withContext("request", values) { request in
                        #expect(try request.parent == session && request.kind == "request")
                        #expect(try request.find(kind: "session") == session)
                        #expect(try request.find(kind: "request") == request)
                        fails(.notFound) { _ = try request.find(kind: "request", above: true) }
                        fails(.readOnly) { try request.set(.user, to: ContextUser("bob")) }
                        try request.set(.title, to: "b")
                        fails(.argument) { try runtime.withContext("session") { _ in } }
                        #expect("\(request)" == "context 'request'")
                    }
                }
            }
        }

        // MARK: - The current context

        @Test func theCurrentContextIsTheDefaultParent() throws {
            try withRuntime { runtime in
                try withRuntime { other in
                    let root = try runtime.context()
                    try root.entered {
                        let child = try runtime.context()
                        #expect(try child.parent == root && runtime.context(parent: .none).parent == nil)
                        #expect(try other.context().parent == nil && other.currentContext == nil)
                        try other.withContext { inner in
                            #expect(Context.current == inner && runtime.currentContext == root)
                            // One that has ended is no current context.
                            try inner.end()
                            #expect(Context.current == root && other.currentContext == nil)
                        }
                    }
                    #expect(Context.current == nil)
                }
            }
        }

        @Test func aTaskInheritsTheCurrentContext() async throws {
            let before = Live.now
            let runtime = try Runtime()
            try await runtime.withContext(nil, [.set(.count, to: 6)]) { context in
                #expect(Context.current == context)
                async let child = Context.current?[.count]
                #expect(try await child == 6)
                let task = Task { try Context.current?[.count] }
                #expect(try await task.value == 6)
                let detached = Task.detached { Context.current }
                #expect(await detached.value == nil)
                await Task.yield()
                #expect(runtime.currentContext == context)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for index in 0..<8 {
                        group.addTask {
                            try await runtime.withContext(nil, [.set(.count, to: index)]) { inner in
                                await Task.yield()
                                #expect(try inner.parent == context && Context.current == inner)
                                return try inner[.count]
                            }
                        }
                    }
                    var sum = 0
                    for try await number in group { sum += number }
                    #expect(sum == 28)
                }
                let elsewhere = Task.detached { try await context.entered { try await answer(runtime) } }
                #expect(try await elsewhere.value == 6)
                #expect(await onMainActor(runtime) == context)
            }
            #expect(Context.current == nil && runtime.currentContext == nil)
            try runtime.close()
            #expect(Live.now == before)
        }

        @Test func anAsynchronousBlockEndsItsContext() async throws {
            let before = Live.now
            let runtime = try Runtime()
            struct Stop: Error {}
            let kept = Locked<[Context]>([])
            await #expect(throws: Stop.self) {
                try await runtime.withContext { context in
                    kept.withLock { $0.append(context) }
                    await Task.yield()
                    throw Stop()
                }
            }
            let context = try #require(kept.withLock { $0.popLast() })
            #expect(context.isEnded)
            do {
                try await context.entered { await Task.yield() }
                Issue.record("an ended context was entered")
            } catch { #expect(InvivoError.of(error).code == .stale) }
            try runtime.close()
            #expect(Live.now == before)
        }

        @Test func aSynchronousBlockIsThatOfItsThread() throws {
            try withRuntime { runtime in
                let context = try runtime.context()
                try context.entered {
                    onAnotherThread {
                        // A new thread has no task, and inherits nothing.
                        #expect(Context.current == nil && runtime.currentContext == nil)
                        #expect(throws: Never.self) {
                            let parent = try context.entered { try runtime.context().parent }
                            #expect(parent == context)
                        }
                    }
                }
            }
        }

        // MARK: - Observers

        @Test func aKeyIsObservedHereAndAbove() throws {
            try withRuntime { runtime in
                let root = try runtime.context()
                let child = try runtime.context(parent: .context(root))
                let seen = Log<Int?>()
                let observer = try child.observe(.count) { seen.add($0) }
                try root.set(.count, to: 1)
                try child.set(.count, to: 2)
                try child.remove(.count)
                try child.set(.title, to: "t")
                try root.remove(.count)
                #expect(seen.all == [1, 2, 1, nil])
                try observer.close()
                try root.set(.count, to: 3)
                #expect(seen.all.count == 4)
                // The observer ends with its context.
                let late = try child.observe(.user) { _ in throw InvivoError(.host, "no") }
                try root.set(.user, to: ContextUser("ada"))
                #expect(runtime.lastError?.message == "an observer of a context threw: no")
                try child.end()
                try late.close()
            }
        }

        @Test func theValuesOfAKeyAreASequence() async throws {
            let before = Live.now
            let runtime = try Runtime()
            let context = try runtime.context()
            let values = try context.values(of: .count)
            var iterator = values.makeAsyncIterator()
            try context.set(.count, to: 1)
            #expect(await iterator.next() == .some(.some(1)))
            try context.set(.count, to: 2)
            try context.set(.count, to: 3)
            #expect(await iterator.next() == .some(.some(3)))
            try context.remove(.count)
            #expect(await iterator.next() == .some(.none))
            try context.end()
            #expect(await iterator.next() == nil)
            try runtime.close()
            #expect(Live.now == before)
        }

        // MARK: - Objects

        @Test func aContextMayBeAnObject() throws {
            try withRuntime { runtime in
                let router = ContextRouter("cart")
                let root = try runtime.context(object: router)
                let page = try runtime.context(parent: .context(root), object: MainRoute())
                let leaf = try runtime.context(parent: .context(page))
                #expect(try leaf.find(ContextRouter.self) == root)
                #expect(try leaf.find(ContextRouter.self, exact: true) == root)
                #expect(try leaf.find(type: "ContextRouter") == root)
                #expect(try leaf.find((any Routing).self) == page)
                fails(.notFound) { _ = try page.find(MainRoute.self, above: true) }
                #expect(try root.object?.instance(as: ContextRouter.self) === router)
                #expect(try root.object?.call("next") == "cart")
                #expect(try leaf.object == nil)
            }
        }

        @Test func anObjectFindsItsContextAndThatOfItsSurroundings() throws {
            try withRuntime { runtime in
                let window = Panel()
                let button = Panel(Panel(window))
                let context = try runtime.context()
                let refused = failure { try context.attach(to: window) }
                #expect(refused.code == .argument && refused.message.contains("runtime.object(for:)"))
                #expect(try runtime.context(of: button) == nil)
                let (held, other) = (try runtime.object(for: window), try runtime.object(for: button))
                try context.attach(to: window)
                #expect(try runtime.context(of: window) == context && runtime.context(of: button) == context)
                #expect(try runtime.context(of: held) == context)
                let inner = try runtime.context(parent: .context(context))
                try inner.attach(to: other)
                #expect(try runtime.context(of: button) == inner)
                try runtime.detachContext(of: button)
                try runtime.detachContext(of: button)
                #expect(try runtime.context(of: button) == context)
                // The object is now the only holder.
                try context.release()
                #expect(!context.isEnded)
                try runtime.detachContext(of: held)
                #expect(context.isEnded)
            }
        }

        @Test func aCycleOfParentsIsAnError() throws {
            final class Ring: InvivoObject, Sendable {
                static var invivoType: ObjectType<Ring> { ObjectType("ContextRing") { type in type.parent { $0 } } }
            }
            try withRuntime { runtime in
                fails(.cycle) { _ = try runtime.context(of: Ring()) }
            }
        }

        // MARK: - Threads

        @Test func threadsReadAndWriteOneChain() throws {
            try withRuntime { runtime in
                let root = try runtime.context(nil, [.set(.count, to: 0)])
                let child = try runtime.context(parent: .context(root))
                onThreads(4) { index in
                    for round in 0..<500 {
                        let failed = Result {
                            if index == 0 {
                                try root.set(.count, to: round)
                            } else if index == 1 {
                                try child.change { $0.set(.title, to: "\(round)") }
                                _ = try runtime.withContext(parent: .context(child)) { try $0[.count] }
                            } else {
                                let count = try child[.count]
                                #expect(try child[.count] >= count)
                                _ = try child.value(for: .title)
                            }
                        }
                        if case .failure(let error) = failed { Issue.record(error) }
                    }
                }
                #expect(try child[.count] == 499 && child[.title] == "499")
            }
        }
    }
}

/// Checks the code of the error of `body`. Two closures of which one is in the argument of a macro can be mistaken for each other by the
/// compiler, so none is there.
private func fails(
    _ code: InvivoError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    let error = failure(sourceLocation: sourceLocation, body)
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
}

private func answer(_ runtime: Runtime) async throws -> Int {
    await Task.yield()
    return try runtime.currentContext?[.count] ?? -1
}

@MainActor private func onMainActor(_ runtime: Runtime) async -> Context? {
    await Task.yield()
    return runtime.currentContext
}
