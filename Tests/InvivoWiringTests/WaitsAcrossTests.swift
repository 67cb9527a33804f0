import InvivoBase
import InvivoObjects
import Testing

@testable import InvivoWiring

/// Waits of threads for each other across runtimes, without runtimes.
@Suite struct WaitsAcrossTests {
    private final class Thing: Awaited {
        let awaitedName: String
        var maker: BuildChain? { nil }
        init(_ name: String) { awaitedName = name }
    }

    private func standing(_ thread: UInt64, _ chains: [BuildChain], _ keys: [String], isAcross: Bool) -> Standing {
        Standing(thread: thread, chains: Set(chains.map { ObjectIdentifier($0) }), keys: keys, isAcross: isAcross)
    }

    @Test func aCycleThroughTwoRuntimesIsFoundByTheWaitThatClosesIt() {
        let (a, b) = (BuildChain(), BuildChain())
        let (ofA, ofB) = (Thing("a"), Thing("b"))
        // The first thread is in builds of both runtimes.
        let first = standing(1, [a], ["a"], isAcross: true)
        let second = standing(2, [b], ["b"], isAcross: false)
        #expect(WaitsAcross.begin(first, for: ofB, of: b) == nil)
        #expect(WaitsAcross.begin(second, for: ofA, of: a) == ["a", "b", "a"])
        WaitsAcross.end(first, for: ofB)
        #expect(WaitsAcross.begin(second, for: ofA, of: a) == nil)
        WaitsAcross.end(second, for: ofA)
    }

    @Test func aCycleWithinOneRuntimeIsLeftToThatRuntime() {
        let (a, b) = (BuildChain(), BuildChain())
        let (ofA, ofB) = (Thing("a"), Thing("b"))
        let first = standing(1, [a], ["a"], isAcross: false)
        let second = standing(2, [b], ["b"], isAcross: false)
        #expect(WaitsAcross.begin(first, for: ofB, of: b) == nil)
        #expect(WaitsAcross.begin(second, for: ofA, of: a) == nil)
        WaitsAcross.over(ofA)
        WaitsAcross.over(ofB)
    }

    @Test func aMakerThatIsKnownLaterCounts() {
        let (a, b) = (BuildChain(), BuildChain())
        let (ofA, ofB) = (Thing("a"), Thing("b"))
        let first = standing(1, [a], ["a"], isAcross: true)
        let second = standing(2, [b], ["b"], isAcross: true)
        #expect(WaitsAcross.begin(first, for: ofB, of: nil) == nil)
        WaitsAcross.known(b, for: ofB)
        #expect(WaitsAcross.begin(second, for: ofA, of: a) != nil)
        WaitsAcross.over(ofB)
        #expect(WaitsAcross.begin(second, for: ofA, of: a) == nil)
        WaitsAcross.over(ofA)
    }
}
