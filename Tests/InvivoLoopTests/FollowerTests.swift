import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

extension LoopRoom {
    @Suite struct FollowerTests {
        @Test func files_written_together_are_told_together() throws {
            let world = GatedWorld()
            let following = try Following(quiet: 50, maximum: 5_000, world: world)
            let ids = try (0..<5).map { try following.follow("\($0).yaml") }
            // However slowly they are written: nothing is reported before all of them are complete.
            world.isShut.change { $0 = true }
            following.follower.wake()
            #expect(world.isInside.wait { $0 })
            for (number, _) in ids.enumerated() { put("x\(number)", following.path("\(number).yaml")) }
            world.isShut.change { $0 = false }
            for (number, id) in ids.enumerated() { #expect(following.sees("x\(number)", of: id)) }
            #expect(following.heard.value.bursts.count == 1)
            #expect(following.heard.value.bursts.first?.map(\.id) == ids)
        }

        @Test func other_files_of_the_directory_are_not_told() throws {
            let following = try Following(quiet: 0)
            put("zero", following.path("a"))
            let id = try following.follow("a")
            for _ in 0..<100 {
                put("x", following.path("b"))
                unlink(following.path("b"))
            }
            put("first", following.path("a"))
            #expect(following.sees("first", of: id))
            #expect(following.heard.value.bursts.count <= 2)
            #expect(following.contents(id) == ["zero", "first"])
        }

        @Test func endless_saving_does_not_starve_it() throws {
            let following = try Following(quiet: 100, maximum: 250)
            let id = try following.follow("a")
            let isDone = Awaited(false)
            let writer = Thread_ {
                var number = 0
                while !isDone.value {
                    put("\(number)", following.path("a"))
                    usleep(5_000)
                    number += 1
                }
            }
            // A read may meet the file in the middle of a write; a later read does not.
            #expect(following.heard.wait { $0.bursts.count >= 3 && $0.contents[id, default: []].count >= 2 })
            isDone.change { $0 = true }
            writer.join()
        }

        @Test func half_a_file_is_not_told_before_it_is_closed() throws {
            let following = try Following(quiet: 0, cap: 60_000)
            put("zero", following.path("a"))
            put("zero", following.path("b"))
            let a = try following.follow("a")
            let b = try following.follow("b")
            let descriptor = open(following.path("a"), O_WRONLY | O_TRUNC)
            append("half", descriptor)
            put("first", following.path("b"))
            #expect(following.sees("first", of: b))
            following.settleDown()
            append(" and whole", descriptor)
            following.settleDown()
            #expect(following.contents(a) == ["zero"])
            close(descriptor)
            #expect(following.sees("half and whole", of: a))
            #expect(following.contents(a) == ["zero", "half and whole"])
        }

        @Test func a_file_kept_open_is_told_after_the_cap_and_reported_once() throws {
            let following = try Following(quiet: 0, cap: 100)
            let id = try following.follow("log")
            let descriptor = open(following.path("log"), O_WRONLY | O_CREAT, 0o644)
            append("one", descriptor)
            #expect(following.sees("one", of: id))
            append(" two", descriptor)
            #expect(following.sees("one two", of: id))
            #expect(following.heard.value.troubles.map(\.code) == [.busy])
            #expect(following.heard.value.troubles.first?.location.file == following.path("log"))
            append(" three", descriptor)
            close(descriptor)
            #expect(following.sees("one two three", of: id))
        }

        @Test func a_mode_that_changes_is_told() throws {
            let following = try Following()
            put("zero", following.path("a"))
            let id = try following.follow("a")
            chmod(following.path("a"), 0o600)
            #expect(following.heard.wait { $0.bursts.last?.map(\.id) == [id] })
        }

        @Test func a_change_that_no_event_tells_of_is_swept_up() throws {
            let following = try Following(sweep: 30)
            mkdir(following.path("elsewhere"), 0o755)
            put("zero", following.path("a"))
            link(following.path("a"), following.path("elsewhere/b"))
            let id = try following.follow("a")
            // Through another name of the same file: no event in the watched directory.
            put("first", following.path("elsewhere/b"))
            #expect(following.sees("first", of: id))
        }

        @Test func after_stop_no_callback_comes() throws {
            for _ in 0..<20 {
                let following = try Following(quiet: 0)
                _ = try following.follow("a")
                let isDone = Awaited(false)
                let writer = Thread_ { while !isDone.value { put("x", following.path("a")) } }
                #expect(following.heard.wait { !$0.bursts.isEmpty })
                following.follower.stop()
                let count = following.heard.value.bursts.count
                following.settleDown()
                #expect(following.heard.value.bursts.count == count)
                isDone.change { $0 = true }
                writer.join()
                #expect(throws: Failure.self) { try following.follow("b") }
            }
        }

        @Test func stop_from_inside_a_callback_is_the_last_callback() throws {
            let workshop = Workshop()
            let loop = try Loop(name: "inside")
            let told = Awaited(0)
            let holder = Awaited<FileFollower?>(nil)
            var settle = FileFollower.Settle()
            settle.quiet = 0
            let follower = try FileFollower(
                loop: loop, settle: { [settle] in settle },
                onBurst: { _ in
                    holder.value?.stop()
                    told.change { $0 += 1 }
                }, onTrouble: { _ in })
            holder.change { $0 = follower }
            _ = try follower.follow(workshop.path("a"))
            put("x", workshop.path("a"))
            #expect(told.wait { $0 == 1 })
            put("y", workshop.path("a"))
            follower.stop()
            loop.stop()
            #expect(told.value == 1)
            holder.change { $0 = nil }
        }

        @Test func the_loop_may_end_before_the_follower() throws {
            let following = try Following()
            _ = try following.follow("a")
            #expect(following.loop.stop())
            following.follower.stop()
            #expect(throws: Failure.self) { try following.follow("b") }
        }

        @Test func following_and_leaving_during_activity_leaves_the_others_alone() throws {
            let following = try Following(quiet: 0)
            let steady = try following.follow("steady")
            let isDone = Awaited(false)
            let writer = Thread_ {
                var number = 0
                while !isDone.value {
                    put("\(number)", following.path("busy"))
                    number += 1
                }
            }
            for _ in 0..<500 { following.follower.unfollow(try following.follow("busy")) }
            put("first", following.path("steady"))
            #expect(following.sees("first", of: steady))
            isDone.change { $0 = true }
            writer.join()
        }

        @Test func a_thousand_followings_leave_no_watch_and_nothing_else() async {
            await #expect(processExitsWith: .success) {
                try Loop(name: "first").stop()
                let before = descriptors()
                do {
                    let world = CountingWorld()
                    let following = try Following(world: world)
                    for number in 0..<1_000 { following.follower.unfollow(try following.follow("\(number % 7)/x/a")) }
                    precondition(world.watches == 0)
                    let ids = try (0..<100).map { try following.follow("\($0).yaml") }
                    precondition(world.watches > 0 && ids.count == 100)
                    following.follower.stop()
                    precondition(world.watches == 0)
                }
                precondition(nothingIsLeft(descriptors: before))
            }
        }

        @Test func a_bad_path_is_refused() throws {
            let following = try Following()
            #expect(throws: Failure.self) { try following.follower.follow("") }
            #expect(throws: Failure.self) { try following.follower.follow("a\0b") }
        }

        /// Prints the parts of `spec.live`; only the benchmarks check the figure.
        @Test func the_time_from_written_to_told_without_quiet_time() throws {
            let following = try Following(quiet: 0)
            let id = try following.follow("a")
            var times: [UInt64] = []
            for number in 0..<400 {
                put("\(number)", following.path("a.tmp"))
                let written = monotonicNow()
                rename(following.path("a.tmp"), following.path("a"))
                #expect(following.sees("\(number)", of: id))
                times.append(following.heard.value.lastTold - written)
            }
            times.sort()
            print("written -> told, quiet time 0: p50 \(times[200] / 1_000) us, p99 \(times[396] / 1_000) us")
        }
    }
}

/// A writing thread.
final class Thread_: @unchecked Sendable {
    private var thread = pthread_t()
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Thread_>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
    }
    func join() { pthread_join(thread, nil) }
}

/// The machine, and a count of its watches.
final class CountingWorld: FileWorld, @unchecked Sendable {
    private let live = LiveFileWorld()
    private var held: Set<Int32> = []
    var watches: Int { held.count }
    var descriptor: Int32 { live.descriptor }
    func now() -> UInt64 { live.now() }
    func watch(_ directory: String, files: Bool) -> WatchAnswer {
        let answer = live.watch(directory, files: files)
        if case .watch(let watch, _) = answer { held.insert(watch) }
        return answer
    }
    func unwatch(_ watch: Int32) {
        held.remove(watch)
        live.unwatch(watch)
    }
    func drain(_ heard: (WatchEvent) -> Void) -> Bool { live.drain(heard) }
    func signature(_ path: String) -> FileSignature { live.signature(path) }
    func entry(_ path: String) -> PathEntry { live.entry(path) }
    func close() { live.close() }
}
