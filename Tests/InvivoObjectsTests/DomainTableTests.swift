import InvivoBase
import InvivoObjects
import Testing

/// A domain of a thread that never comes.
private func absentDomain(_ name: String = "absent") -> Domain { Domain(name: name, kind: .thread(identity: .max - 1)) }

@Suite(.tags(.concurrent)) struct DomainTableTests {
    @Test func aJobForTheCallingThreadRunsAtOnce() throws {
        let runtime = ScriptedRuntime()
        var hasRun = false
        try runtime.domains.run(in: runtime.domains.defaultDomain, timeout: 0) { (_) throws(Failure) in hasRun = true }
        #expect(hasRun)
    }

    @Test func aFailureOfAJobIsTheCallers() throws {
        let runtime = ScriptedRuntime()
        #expect(throws: Failure.self) {
            try runtime.domains.run(in: runtime.domains.defaultDomain, timeout: 0) { (_) throws(Failure) in
                throw Failure(.host, "no")
            }
        }
    }

    @Test func postedJobsRunInOrderWhenTheirThreadPolls() throws {
        let runtime = ScriptedRuntime()
        var ran: [Int] = []
        for number in 1...3 { runtime.domains.post(to: runtime.domains.defaultDomain) { ran.append(number) } }
        #expect(ran == [])
        #expect(runtime.monitor.locked { runtime.domains.waitingJobs.count } == 3)
        var polled = 0
        while polled < 3 { polled += runtime.domains.poll(timeout: 0) }
        #expect(ran == [1, 2, 3])
        #expect(!runtime.monitor.locked { runtime.domains.hasUnawaitedJobs })
        #expect(runtime.domains.poll(timeout: 0) == 0)
    }

    @Test func aThreadThatWaitsServesItsOwnDomain() throws {
        let runtime = ScriptedRuntime()
        let hasRun = Shared(false)
        let other = try OwnThread("other") {
            try? runtime.domains.run(in: runtime.domains.defaultDomain, timeout: .max) { (_) throws(Failure) in
                hasRun.value = true
            }
        }
        runtime.monitor.locked { runtime.domains.wait { hasRun.value } }
        other.join()
        #expect(hasRun.value)
    }

    @Test func aPatientJobWaitsUntilTheBuildOfItsThreadIsOver() throws {
        let runtime = ScriptedRuntime()
        var ran: [String] = []
        runtime.domains.post(to: runtime.domains.defaultDomain, isPatient: true) { ran.append("patient") }
        runtime.domains.post(to: runtime.domains.defaultDomain) { ran.append("other") }
        runtime.chain = BuildChain()
        while runtime.domains.poll(timeout: 0) > 0 {}
        #expect(ran == ["other"])
        runtime.chain = nil
        while runtime.domains.poll(timeout: 0) > 0 {}
        #expect(ran == ["other", "patient"])
    }

    @Test func aJobThatItsDomainDoesNotTakeIsWithdrawn() throws {
        let runtime = ScriptedRuntime()
        let domain = absentDomain()
        try runtime.domains.add(domain)
        do throws(Failure) {
            try runtime.domains.run(in: domain, timeout: 1) { (_) throws(Failure) in Issue.record("it has run") }
            Issue.record("it has not failed")
        } catch {
            #expect(error.code == .timeout)
            #expect(error.message.hasPrefix("the domain 'absent' did not take its job in time"))
        }
        #expect(runtime.monitor.locked { runtime.domains.waitingJobs.count } == 0)
    }

    @Test func aJobThatIsLeftKeepsItsLeasesUntilItsDomainTakesIt() throws {
        let loop = HostLoop()
        let runtime = ScriptedRuntime()
        let domain = loop.domain()
        try runtime.domains.add(domain)
        let abandonment = Abandonment()
        let hasRun = Shared(false)
        #expect(throws: Failure.self) {
            try runtime.domains.run(in: domain, timeout: 1, overdue: .left([ObjectLease(owning: 0)], abandonment)) {
                (_) throws(Failure) in hasRun.value = true
            }
        }
        #expect(runtime.domains.needsRestore(domain))
        #expect(runtime.monitor.locked { runtime.domains.restoringLeases.count } == 1)
        #expect(try #require(loop.takeFirst()).run())
        #expect(hasRun.value)
        #expect(!runtime.domains.needsRestore(domain))
        #expect(!runtime.monitor.locked { runtime.domains.hasUnawaitedJobs })
    }

    @Test func aJobRunsOnce() throws {
        let loop = HostLoop()
        let runtime = ScriptedRuntime()
        let domain = loop.domain()
        try runtime.domains.add(domain)
        var count = 0
        runtime.domains.post(to: domain) { count += 1 }
        let job = try #require(loop.takeFirst())
        #expect(job.run())
        #expect(!job.run())
        #expect(!job.dropByHost())
        #expect(count == 1)
    }

    @Test func aJobThatTheHostDropsIsLogged() throws {
        let loop = HostLoop()
        let runtime = ScriptedRuntime()
        let domain = loop.domain()
        try runtime.domains.add(domain)
        var isDropped = false
        runtime.domains.post(to: domain, onDrop: { isDropped = true }) { Issue.record("it has run") }
        #expect(try #require(loop.takeFirst()).dropByHost())
        #expect(isDropped)
        #expect(runtime.messages.all.contains { $0.contains("dropped a job without a waiting thread") })
        #expect(!runtime.monitor.locked { runtime.domains.hasUnawaitedJobs })
    }

    @Test func aWaitingThreadRunsAPostedJobThatBelongsToIt() throws {
        let loop = HostLoop()
        let runtime = ScriptedRuntime()
        let domain = loop.domain(isHere: { true })
        try runtime.domains.add(domain)
        var hasRun = false
        runtime.domains.post(to: domain) { hasRun = true }
        #expect(runtime.domains.poll(timeout: 0) == 1)
        #expect(hasRun)
        #expect(try !#require(loop.takeFirst()).run())
    }

    @Test func theDomainOfAnotherRuntimeIsRefused() throws {
        let (runtime, other) = (ScriptedRuntime(), ScriptedRuntime())
        let domain = absentDomain()
        try other.domains.add(domain)
        let bits = domain.register()
        defer { domain.closeHandle() }
        #expect(try other.domains.domain(bits) === domain)
        #expect(throws: Failure.self) { try runtime.domains.domain(bits) }
    }

    @Test func jobsThatNoThreadTookAreDroppedWhenTheTableIsDetached() throws {
        let runtime = ScriptedRuntime()
        var dropped = 0
        runtime.domains.post(to: runtime.domains.defaultDomain, onDrop: { dropped += 1 }) { Issue.record("it has run") }
        runtime.monitor.locked { runtime.domains.close() }
        #expect(throws: Failure.self) { try runtime.domains.add(absentDomain()) }
        runtime.domains.detach()
        #expect(dropped == 1)
        runtime.domains.post(to: runtime.domains.defaultDomain, onDrop: { dropped += 1 }) { Issue.record("it has run") }
        #expect(dropped == 2)
        runtime.domains.forget()
        #expect(runtime.domains.all.isEmpty)
    }

    @Test func closeRunsJobsOfDomainsThatTakeNone() throws {
        let runtime = ScriptedRuntime()
        let domain = absentDomain()
        try runtime.domains.add(domain)
        var hasRun = false
        runtime.domains.post(to: domain) { hasRun = true }
        runtime.domains.finishJobs(timeout: 0)
        #expect(hasRun)
        #expect(runtime.messages.all.contains { $0.contains("'absent' took no job before close") })
    }

    @Test func aWaitOfMoreThanASecondIsReported() throws {
        let runtime = ScriptedRuntime()
        let reported = Shared<String?>(nil)
        let withdrawn = Shared<String?>(nil)
        runtime.domains.events.longWait = { reported.value = $0.message }
        runtime.domains.events.longWaitIsOver = { withdrawn.value = $0 }
        let isOver = runtime.monitor.locked { () -> Bool in
            let isOver = runtime.domains.wait(until: monotonicNow() + 10_000_000_000, for: "a test") {
                reported.value != nil
            }
            #expect(withdrawn.value == nil)
            return isOver
        }
        #expect(isOver)
        #expect(reported.value == "waited 1 s for a test")
        #expect(withdrawn.value == "waited 1 s for a test")
        #expect(runtime.messages.all == ["waited 1 s for a test"])
    }

    @Test func theReportOfAWaitForAJobIsWithdrawnWithTheWait() throws {
        let (runtime, host) = (ScriptedRuntime(), HostLoop())
        let domain = host.domain()
        try runtime.domains.add(domain)
        let reported = Shared<String?>(nil)
        let withdrawn = Shared<String?>(nil)
        runtime.domains.events.longWait = { reported.value = $0.message }
        runtime.domains.events.longWaitIsOver = { withdrawn.value = $0 }
        let other = try OwnThread("host") {
            let job = host.take()
            wait { reported.value != nil }
            _ = job.run()
        }
        try runtime.domains.run(in: domain, timeout: .max) { (_) throws(Failure) in #expect(withdrawn.value == nil) }
        other.join()
        #expect(reported.value?.hasPrefix("waited 1 s for the domain 'host'") == true)
        #expect(withdrawn.value == reported.value)
    }

    @Test func theDescriptorOfTheDefaultDomainIsThatOfAThread() throws {
        #expect(try ScriptedRuntime().domains.descriptor() >= 0)
        #expect(throws: Failure.self) {
            try ScriptedRuntime(defaultDomain: HostLoop().domain()).domains.descriptor()
        }
    }
}
