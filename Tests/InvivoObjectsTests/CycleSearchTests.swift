import InvivoBase
import InvivoObjects
import Testing

@Suite struct CycleSearchTests {
    /// Objects by their handles; leases that hosts hold are counted apart.
    private struct Objects {
        var targets: [UInt64: [UInt64]]
        var hosts: [UInt64: UInt64] = [:]
        var held: Set<UInt64> = []

        /// The objects that end when the caller's lease on `start` is released.
        func unclaimed(from start: UInt64) -> Set<UInt64> {
            let search = CycleSearch(from: start) { object in
                guard let own = targets[object] else { return nil }
                let injected = targets.values.joined().filter { $0 == object }.count
                let leases = UInt64(injected) + hosts[object, default: 0] + (object == start ? 1 : 0)
                return CycleSearch.Node(leases: leases, isHeld: held.contains(object), targets: own)
            }
            return Set(search.unclaimed.map(\.object))
        }
    }

    @Test func twoObjectsThatHoldOnlyEachOtherEnd() {
        #expect(Objects(targets: [1: [2], 2: [1]]).unclaimed(from: 1) == [1, 2])
    }

    @Test func anObjectThatHoldsItselfEnds() {
        #expect(Objects(targets: [1: [1]]).unclaimed(from: 1) == [1])
    }

    @Test func aLeaseOnOneMemberKeepsAll() {
        #expect(Objects(targets: [1: [2], 2: [3], 3: [1]], hosts: [3: 1]).unclaimed(from: 1) == [])
    }

    @Test func aMemberThatAGenerationHoldsKeepsAll() {
        #expect(Objects(targets: [1: [2], 2: [1]], held: [2]).unclaimed(from: 1) == [])
    }

    @Test func aSecondLeaseOnTheStartKeepsAll() {
        #expect(Objects(targets: [1: [2], 2: [1]], hosts: [1: 1]).unclaimed(from: 1) == [])
    }

    @Test func anObjectThatIsInjectedTwiceCountsTwice() {
        #expect(Objects(targets: [1: [2, 2], 2: [1]]).unclaimed(from: 1) == [1, 2])
    }

    @Test func aCycleThatHangsFromALiveOneStays() {
        let objects = Objects(targets: [1: [2], 2: [1, 3], 3: [4], 4: [3]], hosts: [1: 1])
        #expect(objects.unclaimed(from: 1) == [])
    }

    @Test func aCycleThatALiveObjectDoesNotUseEnds() {
        let objects = Objects(targets: [1: [2, 3], 2: [1], 3: [4], 4: [3]], hosts: [3: 1])
        #expect(objects.unclaimed(from: 1) == [1, 2])
    }

    @Test func unmarkedObjectsAreNotLookedAt() {
        #expect(Objects(targets: [1: [2, 9], 2: [1]]).unclaimed(from: 1) == [1, 2])
    }
}

@Suite struct StopFailuresTests {
    @Test func failuresAreGatheredOnlyWhileAThreadGathers() {
        let messages = Messages()
        let failures = StopFailures(Monitor(), log: Log(level: 0, sink: messages.sink))
        failures.note(Failure(.stop, "before"))
        let gathered = failures.gathering { failures.note(Failure(.stop, "while")) }
        failures.note(Failure(.stop, "after"))
        #expect(gathered.map(\.message) == ["while"])
        #expect(messages.all.count == 3)
    }
}
