import InvivoBase
import InvivoObjects
import Testing

@testable import InvivoWiring

extension Tag {
    /// Suites in which several threads meet: the sanitizers run them (scripts/tagged).
    @Tag static var concurrent: Self
}

/// A container that is never opened.
func closedContainer() throws -> Container {
    let (core, tag) = try #require(Readers.takeCore())
    Readers.freeCore(core)
    return Container(
        core: core, tag: tag, name: "test",
        defaultDomain: Domain(name: "test", kind: .thread(identity: currentThread().identity)),
        options: LiveOptions(log: Log(level: 0, sink: nil)), fillsNeeds: true)
}

/// Runs of starts and stops, without objects.
@Suite(.tags(.concurrent)) struct LifeRunTests {
    private typealias Run = Lifecycle.Run

    /// The numbers of the steps that were run, in their order.
    private final class Trace: Sendable {
        private let steps = Guarded<[Int]>([], by: Monitor())
        func add(_ step: Int) { steps.locked { $0.append(step) } }
        var all: [Int] { steps.locked { $0 } }
    }

    private func run(
        _ needs: [Set<Int>], endsWithFailure: Bool = true, domains: [Domain?] = [], failing: Set<Int> = []
    ) throws -> (order: [Int], failures: [Failure], done: [Int]) {
        let container = try closedContainer()
        defer { container.forget() }
        let trace = Trace()
        let steps = needs.enumerated().map {
            Run.Step(domain: $0.offset < domains.count ? domains[$0.offset] : nil, needs: $0.element)
        }
        let run = Run(container, steps, endsWithFailure: endsWithFailure, describe: { "step \($0)" }) {
            (index) throws(Failure) in
            trace.add(index)
            if failing.contains(index) { throw Failure(.host, "step \(index)") }
        }
        let (failures, done) = run.run()
        return (trace.all, failures, done)
    }

    @Test func eachStepRunsAfterTheStepsThatItNeeds() throws {
        let (order, failures, done) = try run([[1, 2], [3], [3], []])
        #expect(order.first == 3 && order.last == 0)
        #expect(Set(order) == [0, 1, 2, 3] && failures.isEmpty && Set(done) == [0, 1, 2, 3])
    }

    @Test func aFailureKeepsTheRestFromBeginning() throws {
        let (order, failures, done) = try run([[], [0], [1]], failing: [1])
        #expect(order == [0, 1])
        #expect(failures.map(\.message) == ["step 1"])
        #expect(done == [0])
    }

    @Test func stopsGoOnAfterAFailure() throws {
        let (order, failures, done) = try run([[], [0], [1]], endsWithFailure: false, failing: [1])
        #expect(order == [0, 1, 2])
        #expect(failures.map(\.message) == ["step 1"])
        #expect(done == [0, 2])
    }

    @Test func theFirstOfACycleBegins() throws {
        let (order, failures, _) = try run([[1], [0], [0]])
        #expect(order.first == 0)
        #expect(Set(order) == [0, 1, 2] && failures.isEmpty)
    }

    @Test func confinedStepsRunInTheirOrderOnTheCallingThread() throws {
        let domain = Domain(name: "here", kind: .thread(identity: currentThread().identity))
        let (order, _, _) = try run(Array(repeating: [], count: 8), domains: Array(repeating: domain, count: 8))
        #expect(order == Array(0..<8))
    }

    @Test(arguments: 0..<20) func anyOrderOfDependenciesIsKept(seed: Int) throws {
        let count = 60
        // About one pair in ten, another selection for each seed.
        let needs = (0..<count).map { step in Set((0..<step).filter { (step * 31 + $0 * 17 + seed * 7) % 10 == 0 }) }
        let (order, failures, done) = try run(needs)
        #expect(failures.isEmpty && done.count == count)
        let at = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($0.element, $0.offset) })
        for (step, before) in needs.enumerated() {
            for other in before { #expect(try #require(at[other]) < #require(at[step])) }
        }
    }
}
