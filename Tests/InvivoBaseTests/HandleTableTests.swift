import InvivoBase
import Testing

extension Border {
    @Suite struct Handles {
        final class Thing: Sendable {}
        final class Other: Sendable {}

        @Test func a_handle_finds_its_object_until_it_is_removed() {
            let thing = Thing()
            let bits = HandleTable.insert(thing, kind: .job)
            #expect(HandleTable.find(bits, .job, as: Thing.self) === thing)
            #expect(HandleTable.find(bits, .observer, as: Thing.self) == nil)
            #expect(HandleTable.find(bits, .job, as: Other.self) == nil)
            #expect(HandleTable.remove(bits, .observer) == nil)
            #expect(HandleTable.remove(bits, .job) === thing)
            #expect(HandleTable.remove(bits, .job) == nil)
            #expect(HandleTable.find(bits, .job, as: Thing.self) == nil)
        }

        @Test func a_slot_used_again_does_not_answer_to_the_old_handle() {
            var former: UInt64 = 0
            for _ in 0..<1000 {
                let bits = HandleTable.insert(Thing(), kind: .job)
                #expect(bits != former)
                #expect(HandleTable.find(former, .job, as: Thing.self) == nil)
                HandleTable.remove(bits, .job)
                former = bits
            }
        }

        @Test func wild_handles_find_nothing() {
            var generator = SeededGenerator(seed: 1)
            for bits in [0, 1, .max, .max >> 1, 5 << 60, 7 << 60 | 0xFFFF_FFFF]
                + (0..<10_000).map({ _ in generator.next() })
            {
                #expect(HandleTable.find(bits, .changes, as: Thing.self) == nil)
                #expect(HandleTable.remove(bits, .changes) == nil)
            }
        }

        @Test func a_reserved_handle_finds_nothing_until_it_has_its_object() {
            let (thing, before) = (Thing(), HandleTable.count(of: .job))
            let bits = HandleTable.reserve(.job)
            #expect(HandleTable.find(bits, .job, as: Thing.self) == nil)
            HandleTable.fill(bits, .job, with: thing)
            #expect(HandleTable.find(bits, .job, as: Thing.self) === thing)
            #expect(HandleTable.remove(bits, .job) === thing)
            HandleTable.fill(bits, .job, with: thing)
            #expect(HandleTable.find(bits, .job, as: Thing.self) == nil)
            #expect(HandleTable.count(of: .job) == before)
        }

        @Test func an_entry_held_weakly_does_not_keep_its_object() {
            var thing: Thing? = Thing()
            let bits = HandleTable.reserve(.job)
            HandleTable.fill(bits, .job, weaklyWith: thing ?? Thing())
            #expect(HandleTable.find(bits, .job, as: Thing.self) === thing)
            thing = nil
            #expect(HandleTable.find(bits, .job, as: Thing.self) == nil)
            HandleTable.remove(bits, .job)
        }

        @Test func threads_may_insert_find_and_remove_at_once() async {
            let before = HandleTable.count(of: .source)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        (0..<2000).allSatisfy { _ in
                            let thing = Thing()
                            let bits = HandleTable.insert(thing, kind: .source)
                            let found = HandleTable.find(bits, .source, as: Thing.self) === thing
                            return found && HandleTable.remove(bits, .source) === thing
                        }
                    }
                }
                for await good in group { #expect(good) }
            }
            #expect(HandleTable.count(of: .source) == before)
        }

        @Test(arguments: [
            (UInt64(0), "the type handle is zero"),
            (HandleKind.callable.rawValue << 60 | 1 << 32, "a type handle is needed, this one is of a callable"),
            (HandleKind.type.rawValue << 60 | 0xFFF_FFFF << 32, "the type handle is stale or foreign"),
        ])
        func bad_handles_say_what_is_wrong(_ bits: UInt64, _ message: String) {
            let failure = failure { () throws(Failure) in _ = try TypeDescription.find(bits) }
            #expect(failure.code == .handle)
            #expect(failure.message == message)
        }
    }
}
