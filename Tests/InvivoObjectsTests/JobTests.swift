import InvivoBase
import InvivoObjects
import Synchronization
import Testing

/// No patience with jobs that have begun.
private let none: Job.Patience = {
    var patience = Job.Patience()
    patience.withBegunJobs = 0
    return patience
}()

/// Jobs that have begun when their time is over.
@Suite(.tags(.concurrent)) struct OverdueJobTests {
    @Test func aJobThatHasBegunIsLeftToItsDomain() throws {
        let runtime = ScriptedRuntime(patience: none)
        let (host, hasBegun, mayEnd, isUndone) = (Shared<OwnThread?>(nil), Shared(false), Shared(false), Shared(false))
        let domain = Domain(
            name: "host",
            kind: .posted(anyThread: false) { job throws(Failure) in
                host.value = try OwnThread("host") { _ = job.run() }
                wait { hasBegun.value }
            })
        try runtime.domains.add(domain)
        let abandonment = Abandonment()
        do throws(Failure) {
            try runtime.domains.run(in: domain, timeout: 0, overdue: .withdrawn(abandonment)) {
                (deadline) throws(Failure) in
                hasBegun.value = true
                wait { mayEnd.value }
                do throws(Failure) { try deadline() } catch {
                    isUndone.value = true
                    throw error
                }
            }
            Issue.record("it has not failed")
        } catch {
            #expect(error.message.hasPrefix("the domain 'host' began its job and has not finished it after "))
        }
        #expect(abandonment.isBegun)
        #expect(runtime.domains.needsRestore(domain))
        #expect(runtime.monitor.locked { runtime.domains.domainsWithLeftJobs.map(\.name) } == ["host"])
        let restAfterUndo = Shared<Bool?>(nil)
        abandonment.whenOver { restAfterUndo.value = isUndone.value }
        #expect(restAfterUndo.value == nil)
        mayEnd.value = true
        host.value?.join()
        #expect(restAfterUndo.value == true)
        #expect(!runtime.domains.needsRestore(domain))
    }

    @Test func aJobThatHasPassedItsDeadlineIsAwaited() throws {
        let loop = HostLoop()
        let runtime = ScriptedRuntime(patience: none)
        let domain = loop.domain()
        try runtime.domains.add(domain)
        let abandonment = Abandonment()
        let host = try OwnThread("host") { _ = loop.take().run() }
        try runtime.domains.run(in: domain, timeout: 10_000_000_000, overdue: .withdrawn(abandonment)) {
            (deadline) throws(Failure) in
            try deadline()
            let end = monotonicNow() + 1_000_000
            wait { monotonicNow() > end }
        }
        host.join()
        #expect(!abandonment.isBegun)
    }

    /// The job fails in the same moment in which the thread that waits gives it up. It is left and does the rest, or it is over.
    @Test func theRestIsDoneOnceHoweverLateTheJobFails() throws {
        let loop = HostLoop()
        let runtime = ScriptedRuntime(patience: none)
        let domain = loop.domain()
        try runtime.domains.add(domain)
        let rounds = 300
        let host = try OwnThread("host") { for _ in 0..<rounds { _ = loop.take().run() } }
        for round in 0..<rounds {
            let abandonment = Abandonment()
            let end = monotonicNow() + 100_000 + UInt64(round % 30) * 1_000
            #expect(throws: Failure.self) {
                try runtime.domains.run(in: domain, timeout: 100_000, overdue: .withdrawn(abandonment)) {
                    (_) throws(Failure) in
                    wait { monotonicNow() > end }
                    throw Failure(.host, "no")
                }
            }
            let rests = Atomic(0)
            abandonment.whenOver { rests.add(1, ordering: .relaxed) }
            wait { rests.load(ordering: .relaxed) > 0 }
            wait { !runtime.domains.needsRestore(domain) }
            #expect(rests.load(ordering: .relaxed) == 1)
        }
        host.join()
        #expect(runtime.monitor.locked { runtime.domains.domainsWithLeftJobs.isEmpty })
    }

    @Test func workWithoutLeftJobsIsDoneAtOnce() {
        let abandonment = Abandonment()
        let rests = Atomic(0)
        abandonment.whenOver { rests.add(1, ordering: .relaxed) }
        #expect(rests.load(ordering: .relaxed) == 1)
        #expect(!abandonment.isBegun)
    }

    @Test func aBlindDomainHasALimitedTimeToTakeAJob() throws {
        var patience = Job.Patience()
        patience.withBlindDomains = 1_000_000
        let (loop, runtime) = (HostLoop(), ScriptedRuntime(patience: patience))
        let domain = loop.domain()
        try runtime.domains.add(domain)
        do throws(Failure) {
            try runtime.domains.run(in: domain, timeout: .max) { (_) throws(Failure) in Issue.record("it has run") }
            Issue.record("it has not failed")
        } catch { #expect(error.message.hasSuffix("let the domain report that by is_current")) }
        #expect(try !#require(loop.takeFirst()).run())
    }
}

@Suite(.tags(.concurrent)) struct ConcurrentJobTests {
    @Test func jobsOfManyThreadsRunOnceAndInTheirDomain() throws {
        let runtime = ScriptedRuntime()
        let (threads, jobs) = (4, 200)
        let home = currentThread().identity
        let ran = Atomic(0)
        let elsewhere = Atomic(0)
        let posting = try (0..<threads).map { number in
            try OwnThread("poster") {
                for job in 0..<jobs {
                    let body = {
                        ran.add(1, ordering: .relaxed)
                        if currentThread().identity != home { elsewhere.add(1, ordering: .relaxed) }
                    }
                    if (number + job) % 2 == 0 {
                        runtime.domains.post(to: runtime.domains.defaultDomain, body)
                    } else {
                        try? runtime.domains.run(in: runtime.domains.defaultDomain, timeout: .max) {
                            (_) throws(Failure) in body()
                        }
                    }
                }
            }
        }
        while ran.load(ordering: .relaxed) < threads * jobs { _ = runtime.domains.poll(timeout: 1_000_000) }
        for thread in posting { thread.join() }
        #expect(ran.load(ordering: .relaxed) == threads * jobs)
        #expect(elsewhere.load(ordering: .relaxed) == 0)
        #expect(!runtime.monitor.locked { runtime.domains.hasUnawaitedJobs })
        #expect(runtime.monitor.locked { runtime.domains.waitingJobs.count } == 0)
    }

    @Test func aJobIsClaimedByOneOfManyThreads() throws {
        let loop = HostLoop()
        let runtime = ScriptedRuntime()
        let domain = loop.domain()
        try runtime.domains.add(domain)
        for round in 0..<100 {
            let ran = Atomic(0)
            let dropped = Atomic(0)
            let claims = Atomic(0)
            runtime.domains.post(to: domain, onDrop: { dropped.add(1, ordering: .relaxed) }) {
                ran.add(1, ordering: .relaxed)
            }
            let job = loop.take()
            let threads = try (0..<3).map { number in
                try OwnThread("claimer") {
                    let isClaimed = number == round % 3 ? job.dropByHost() : job.run()
                    if isClaimed { claims.add(1, ordering: .relaxed) }
                }
            }
            for thread in threads { thread.join() }
            #expect(claims.load(ordering: .relaxed) == 1)
            #expect(ran.load(ordering: .relaxed) + dropped.load(ordering: .relaxed) == 1)
        }
        #expect(!runtime.monitor.locked { runtime.domains.hasUnawaitedJobs })
    }

    @Test func jobsThatArePostedDuringCloseRunOrAreDropped() throws {
        let runtime = ScriptedRuntime()
        let domain = Domain(name: "absent", kind: .thread(identity: .max - 1))
        try runtime.domains.add(domain)
        let ended = Atomic(0)
        let isDetached = Shared(false)
        let jobs = 400
        let poster = try OwnThread("poster") {
            for _ in 0..<jobs {
                runtime.domains.post(to: domain, onDrop: { ended.add(1, ordering: .relaxed) }) {
                    #expect(!isDetached.value)
                    ended.add(1, ordering: .relaxed)
                }
            }
        }
        wait { ended.load(ordering: .relaxed) > 0 || runtime.monitor.locked { runtime.domains.hasUnawaitedJobs } }
        runtime.monitor.locked { runtime.domains.close() }
        runtime.domains.finishJobs(timeout: 0)
        isDetached.value = true
        runtime.domains.detach()
        poster.join()
        #expect(ended.load(ordering: .relaxed) == jobs)
        #expect(!runtime.monitor.locked { runtime.domains.hasUnawaitedJobs })
    }
}

@Suite(.tags(.concurrent)) struct JobThreadsTests {
    @Test func aJobRunsOnAThreadOfItsOwn() throws {
        let runtime = ScriptedRuntime()
        let threads = JobThreads(runtime.domains, name: "test")
        let thread = Shared<UInt64>(0)
        try threads.run(timeout: .max, overdue: .withdrawn(nil), label: Job.Label()) { (_) throws(Failure) in
            thread.value = currentThread().identity
        }
        #expect(thread.value != 0 && thread.value != currentThread().identity)
        threads.joinFinished()
    }

    @Test func aJobThatTakesTooLongIsLeftToItsThread() throws {
        let runtime = ScriptedRuntime(patience: none)
        let threads = JobThreads(runtime.domains, name: "test")
        let abandonment = Abandonment()
        let mayEnd = Shared(false)
        do throws(Failure) {
            try threads.run(
                timeout: 200_000_000, overdue: .withdrawn(abandonment),
                label: Job.Label(name: "the start of 'a'", whenLeft: "it is undone")
            ) { (deadline) throws(Failure) in
                wait { mayEnd.value }
                try deadline()
            }
            Issue.record("it has not failed")
        } catch {
            // The thread has not begun in time: there is nothing to see.
            guard abandonment.isBegun else { return }
            #expect(error.message.hasPrefix("the start of 'a' has not finished after "))
            #expect(error.message.hasSuffix(" ms: it is undone"))
        }
        let rests = Atomic(0)
        abandonment.whenOver { rests.add(1, ordering: .relaxed) }
        #expect(rests.load(ordering: .relaxed) == 0)
        mayEnd.value = true
        wait { runtime.monitor.locked { runtime.domains.domainsWithLeftJobs.isEmpty } }
        threads.joinFinished()
        #expect(rests.load(ordering: .relaxed) == 1)
    }
}

@Suite(.tags(.concurrent)) struct WorkerThreadsTests {
    @Test func tasksThatAreLeftRunBeforeStopReturns() throws {
        let workers = WorkerThreads(name: "test")
        let ran = Atomic(0)
        for _ in 0..<100 { try workers.run { ran.add(1, ordering: .relaxed) } }
        workers.stop()
        #expect(ran.load(ordering: .relaxed) == 100)
        #expect(throws: Failure.self) { try workers.run { Issue.record("it has run") } }
    }
}

@Suite(.tags(.concurrent)) struct PendingDisposalsTests {
    @Test func anObjectIsTakenByItsDomainOrByClose() throws {
        let pending = PendingDisposals(Monitor())
        let objects: ClosedRange<UInt64> = 1...200
        for object in objects { #expect(pending.add(object)) }
        let taken = Atomic(0)
        let domain = try OwnThread("domain") {
            for object in objects where pending.take(object) { taken.add(1, ordering: .relaxed) }
        }
        wait { taken.load(ordering: .relaxed) > 0 }
        pending.detach()
        let left = pending.takeAll()
        domain.join()
        #expect(taken.load(ordering: .relaxed) + left.count == objects.count)
        #expect(pending.takeAll().isEmpty)
    }

    @Test func afterCloseNothingIsLeftToDomains() {
        let monitor = Monitor()
        let pending = PendingDisposals(monitor)
        #expect(pending.add(1))
        pending.detach()
        #expect(pending.isDetached)
        #expect(!pending.add(2))
        var found: [UInt64] = []
        monitor.locked { pending.forEach { found.append($0) } }
        #expect(found == [1])
    }
}
