import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

extension LoopRoom {
    /// Settling with scripted time, events and faults.
    @Suite struct FollowEngineTests {
        let world = ScriptedWorld()

        func engine(quiet: UInt64 = 10, maximum: UInt64 = 250, cap: UInt64 = 2_000, sweep: UInt64 = 10_000)
            -> FollowEngine
        {
            var settle = FileFollower.Settle()
            settle.quiet = quiet
            settle.maximum = maximum
            settle.openForWriteCap = cap
            settle.sweep = sweep
            return FollowEngine(world: world, settle: settle)
        }

        /// Listens and advances; returns the reported files.
        func tell(_ engine: FollowEngine) -> [FollowID] {
            _ = engine.listen()
            return engine.advance().bursts.map(\.id)
        }

        @Test func events_that_were_refused_at_the_start_are_tried_again() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            world.refusal = EMFILE
            let engine = engine(sweep: 1_000)
            let a = engine.follow("/d/a")
            guard case .polling(200, let reason)? = engine.following(a) else {
                Issue.record("not polled")
                return
            }
            #expect(reason.contains("cannot be watched") && reason.contains("max_user_instances"))
            world.refusal = 0
            world.time += 1_001
            _ = tell(engine)
            #expect(engine.following(a) == .watching)
            #expect(Set(world.watched.keys) == ["/", "/d"])
        }

        @Test func overflows_rescans_and_changes_without_an_event_are_counted() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine(sweep: 1_000)
            _ = engine.follow("/d/a")
            world.events = [WatchEvent(watch: -1, changes: .overflow)]
            _ = tell(engine)
            #expect(engine.counts.overflows == 1 && engine.counts.rescans == 1 && engine.counts.unannounced == 0)
            world.time += 500
            _ = tell(engine)
            world.files["/d/a"]?.inode = 2
            world.time += 501
            _ = tell(engine)
            #expect(engine.counts.rescans == 2 && engine.counts.unannounced == 1)
        }

        @Test func a_file_that_was_being_written_is_told_again_until_it_is_not() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            world.time = 1
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [a])
            // Another writer has it: no further event of this name may be processed.
            engine.lookAgain(a, since: 1_000_000)
            #expect(tell(engine) == [])
            world.time += 20
            let again = engine.advance().bursts
            #expect(again.map(\.id) == [a] && again.first?.firstEventNs == 1_000_000)
            engine.lookAgain(a, since: 1_000_000)
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [a])
            world.time += 1_000
            #expect(tell(engine) == [])
        }

        @Test func what_is_heard_after_a_file_was_told_again_counts_from_itself() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            world.time = 50
            engine.lookAgain(a, since: 1_000_000)
            world.time += 20
            #expect(engine.advance().bursts.first?.firstEventNs == 1_000_000)
            world.time += 100
            world.happens("/d", .closedAfterWriting, "a")
            _ = engine.listen()
            #expect(engine.advance().bursts.first?.firstEventNs == 170_000_000)
        }

        @Test func an_empty_file_waits_for_the_grace_also_when_it_was_closed() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine()
            let a = engine.follow("/d/a")
            world.files["/d/a"]?.size = 0
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [])
            world.time += 15
            #expect(tell(engine) == [])
            world.time += 5
            #expect(tell(engine) == [a])
        }

        @Test func a_file_that_goes_while_it_settles_has_the_time_to_come_back() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine()
            let a = engine.follow("/d/a")
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [])
            world.files["/d/a"] = nil
            world.time += 10
            _ = engine.listen()
            let outcome = engine.advance()
            #expect(outcome.bursts.isEmpty && outcome.troubles.isEmpty)
            world.files["/d/a"] = FileSignature(kind: .file, inode: 2, size: 6)
            world.happens("/d", .movedIn, "a")
            #expect(tell(engine) == [])
            world.time += 10
            #expect(tell(engine) == [a])
        }

        @Test func every_directory_that_decides_what_a_path_means_is_watched() {
            world.links = ["/etc/app": "/data/..data", "/data/..data": "..version"]
            world.files["/data/..version/a"] = FileSignature(kind: .file)
            let engine = engine()
            let id = engine.follow("/etc/app/a")
            #expect(Set(world.watched.keys) == ["/", "/etc", "/data", "/data/..version"])
            #expect(world.filesWatched == ["/data/..version"])
            engine.unfollow(id)
            #expect(world.watched.isEmpty)
        }

        @Test func a_link_that_is_switched_moves_the_watches() {
            world.links = ["/data/..data": "..one"]
            world.files["/data/..one/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            world.files["/data/..two/a"] = FileSignature(kind: .file, inode: 2, size: 5)
            let engine = engine(quiet: 0)
            let id = engine.follow("/data/..data/a")
            world.links["/data/..data"] = "..two"
            world.happens("/data", .movedIn, "..data")
            #expect(tell(engine) == [id])
            #expect(Set(world.watched.keys) == ["/", "/data", "/data/..two"])
        }

        @Test func a_save_costs_one_look_and_no_walk_of_the_trail() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            world.files["/d/b"] = FileSignature(kind: .file, inode: 9, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            _ = engine.follow("/d/b")
            for way in [WatchEvent.Changes.closedAfterWriting, .movedIn] {
                world.files["/d/a"]?.inode += 1
                world.looks = []
                world.walks = []
                world.happens("/d", way, "a")
                #expect(tell(engine) == [a])
                #expect(world.looks == ["/d/a"])
                #expect(world.walks == [])
            }
        }

        @Test func a_file_that_becomes_a_link_and_a_link_that_becomes_a_file_move_the_watches() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            world.files["/e/b"] = FileSignature(kind: .file, inode: 2, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            #expect(Set(world.watched.keys) == ["/", "/d"])
            world.files["/d/a"] = nil
            world.links["/d/a"] = "/e/b"
            world.happens("/d", .movedIn, "a")
            #expect(tell(engine) == [a])
            #expect(Set(world.watched.keys) == ["/", "/d", "/e"])
            world.files["/e/b"]?.inode = 3
            world.happens("/e", .movedIn, "b")
            #expect(tell(engine) == [a])
            world.links["/d/a"] = nil
            world.files["/d/a"] = FileSignature(kind: .file, inode: 4, size: 5)
            world.happens("/d", .movedIn, "a")
            #expect(tell(engine) == [a])
            #expect(Set(world.watched.keys) == ["/", "/d"])
        }

        @Test func new_times_apply_to_pending_changes() {
            for path in ["/d/a", "/d/b", "/d/c"] { world.files[path] = FileSignature(kind: .file, inode: 1, size: 5) }
            let engine = engine(quiet: 1_000, maximum: 10_000, cap: 20_000)
            let (a, b, c) = (engine.follow("/d/a"), engine.follow("/d/b"), engine.follow("/d/c"))
            var settle = FileFollower.Settle()
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [])
            world.time += 100
            settle.quiet = 150
            engine.take(settle)
            #expect(engine.advance().next == (world.time + 50) * 1_000_000)
            settle.quiet = 50
            engine.take(settle)
            #expect(tell(engine) == [a])
            // The maximum.
            (settle.quiet, settle.maximum) = (1_000, 10_000)
            engine.take(settle)
            world.happens("/d", .closedAfterWriting, "b")
            #expect(tell(engine) == [])
            world.time += 100
            settle.maximum = 100
            engine.take(settle)
            #expect(tell(engine) == [b])
            // A file that stays open for writing.
            settle.openForWriteCap = 20_000
            engine.take(settle)
            world.happens("/d", .modified, "c")
            #expect(tell(engine) == [])
            world.time += 1_000
            #expect(tell(engine) == [])
            settle.openForWriteCap = 1_000
            engine.take(settle)
            #expect(tell(engine) == [c])
        }

        @Test func a_burst_is_told_when_it_has_been_quiet() {
            world.files["/d/a"] = FileSignature(kind: .file, size: 1)
            world.files["/d/b"] = FileSignature(kind: .file, size: 1)
            let engine = engine()
            let a = engine.follow("/d/a")
            let b = engine.follow("/d/b")
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [])
            world.time += 9
            world.happens("/d", .closedAfterWriting, "b")
            #expect(tell(engine) == [])
            world.time += 9
            #expect(tell(engine) == [])
            world.time += 1
            #expect(tell(engine) == [a, b])
            world.time += 1_000
            #expect(tell(engine) == [])
        }

        @Test func endless_events_are_cut_off_at_the_maximum() {
            world.files["/d/a"] = FileSignature(kind: .file, size: 1)
            let engine = engine()
            let a = engine.follow("/d/a")
            var told: [UInt64] = []
            for _ in 0..<100 {
                world.happens("/d", .closedAfterWriting, "a")
                if tell(engine) == [a] { told.append(world.time) }
                world.time += 9
            }
            // 250 ms after the first event of each burst, with events every 9 ms.
            #expect(told == [252, 513, 774])
        }

        @Test func a_file_being_written_waits_for_its_close_and_the_burst_for_it() {
            world.files["/d/a"] = FileSignature(kind: .file, size: 1)
            world.files["/d/b"] = FileSignature(kind: .file, size: 1)
            let engine = engine()
            let a = engine.follow("/d/a")
            let b = engine.follow("/d/b")
            world.happens("/d", .modified, "a")
            world.happens("/d", .closedAfterWriting, "b")
            _ = tell(engine)
            world.time += 100
            #expect(tell(engine) == [])
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [])
            world.time += 10
            #expect(tell(engine) == [a, b])

            // But at most for the maximum, and the file that stays open at most for its limit.
            world.happens("/d", .modified, "a")
            world.happens("/d", .closedAfterWriting, "b")
            _ = tell(engine)
            world.time += 249
            #expect(tell(engine) == [])
            world.time += 1
            #expect(tell(engine) == [b])
            world.time += 1_749
            #expect(tell(engine) == [])
            world.time += 1
            _ = engine.listen()
            let outcome = engine.advance()
            #expect(outcome.bursts.map(\.id) == [a])
            #expect(outcome.troubles.map(\.code) == [.busy])
        }

        @Test func a_file_that_is_made_waits_until_it_is_filled() {
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1)
            world.happens("/d", .created, "a")
            #expect(tell(engine) == [])
            world.time += 500
            #expect(tell(engine) == [])
            world.files["/d/a"]?.size = 5
            world.happens("/d", .modified, "a")
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [a])
        }

        @Test func a_file_that_is_linked_into_place_is_told_after_the_grace() {
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            world.happens("/d", .created, "a")
            #expect(tell(engine) == [])
            world.time += 20
            #expect(tell(engine) == [a])
        }

        @Test func a_file_that_stays_away_is_reported_and_told_when_it_is_back() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine()
            let a = engine.follow("/d/a")
            world.files["/d/a"] = nil
            world.happens("/d", .removed, "a")
            _ = engine.listen()
            #expect(engine.advance().troubles.isEmpty)
            world.time += 250
            let outcome = engine.advance()
            #expect(outcome.bursts.isEmpty)
            #expect(
                outcome.troubles.map(\.text) == [
                    "/d/a: the file was removed; its last content stays in effect until it is back"
                ])
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            world.happens("/d", .movedIn, "a")
            _ = tell(engine)
            world.time += 10
            #expect(tell(engine) == [a])
        }

        @Test func a_link_that_leads_nowhere_is_told_so_that_whoever_reads_it_says_what_is_wrong() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine()
            let a = engine.follow("/d/a")
            world.files["/d/a"] = nil
            world.links["/d/a"] = "nowhere"
            world.happens("/d", .movedIn, "a")
            #expect(tell(engine) == [])
            world.time += 250
            let outcome = engine.advance()
            #expect(outcome.bursts.map(\.id) == [a])
            #expect(outcome.troubles.isEmpty)
        }

        @Test func a_file_that_is_away_for_a_moment_is_no_trouble() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            world.files["/d/a"] = nil
            world.happens("/d", .removed, "a")
            #expect(tell(engine) == [])
            world.time += 249
            world.files["/d/a"] = FileSignature(kind: .file, inode: 2, size: 5)
            world.happens("/d", .movedIn, "a")
            _ = engine.listen()
            let outcome = engine.advance()
            #expect(outcome.bursts.map(\.id) == [a] && outcome.troubles.isEmpty)
        }

        @Test func an_event_about_an_unchanged_file_is_nothing() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            world.happens("/d", .attributes, "a")
            world.happens("/", .movedIn, "d")
            #expect(tell(engine) == [])
            world.time += 1_000
            #expect(tell(engine) == [])
            // A signature taken within a tick of the file system's clock proves nothing.
            world.files["/d/a"]?.isFresh = true
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [a])
            world.happens("/", .movedIn, "d")
            #expect(tell(engine) == [a])
        }

        @Test func an_overflow_of_the_queue_is_a_look_at_everything() {
            for name in ["a", "b", "c"] { world.files["/d/\(name)"] = FileSignature(kind: .file, size: 5) }
            let engine = engine()
            let a = engine.follow("/d/a")
            let b = engine.follow("/d/b")
            _ = engine.follow("/d/c")
            world.happens("/d", .modified, "a")
            _ = tell(engine)
            // The close of a, the change of b, and the switch of a directory are lost.
            world.files["/d/b"]?.size = 6
            world.events = [WatchEvent(watch: -1, changes: .overflow)]
            _ = tell(engine)
            world.time += 20
            #expect(tell(engine) == [a, b])
        }

        @Test func where_watches_cannot_be_had_files_are_looked_at() {
            world.refusal = ENOSPC
            world.files["/d/a"] = FileSignature(kind: .file, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            let b = engine.follow("/d/b")
            let troubles = engine.advance().troubles
            #expect(troubles.count == 1)
            #expect(troubles.first?.text.hasPrefix("/d/a") == true)
            #expect(troubles.first?.text.contains("No space left on device") == true)
            #expect(troubles.first?.text.contains("raise fs.inotify.max_user_watches") == true)
            world.files["/d/a"]?.size = 6
            world.files["/d/b"] = FileSignature(kind: .file, size: 1)
            world.time += 199
            #expect(tell(engine) == [])
            world.time += 1
            #expect(tell(engine) == [])
            // Still growing: its time begins again.
            world.time += 10
            world.files["/d/a"]?.size = 7
            world.time += 10
            #expect(tell(engine) == [])
            world.time += 20
            #expect(tell(engine) == [a, b])
            // The watches are tried again at the slow scan.
            world.refusal = 0
            world.time += 10_000
            _ = engine.advance()
            #expect(Set(world.watched.keys) == ["/", "/d"])
        }

        @Test func a_watch_that_ends_is_made_again() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            world.happens("/d", .watchEnded, "")
            world.watched["/d"] = nil
            world.files["/d/a"]?.inode = 2
            _ = tell(engine)
            #expect(world.watched["/d"] != nil)
            world.time += 20
            #expect(tell(engine) == [a])
        }

        @Test func what_still_comes_from_a_watch_that_has_ended_is_nothing() {
            world.files["/d/a"] = FileSignature(kind: .file, inode: 1, size: 5)
            let engine = engine(quiet: 0)
            let a = engine.follow("/d/a")
            guard let former = world.watched["/d"] else {
                Issue.record("not watched")
                return
            }
            world.happens("/d", .watchEnded, "")
            world.watched["/d"] = nil
            #expect(tell(engine) == [])
            #expect(world.watched["/d"] != nil && world.watched["/d"] != former)
            world.events = [WatchEvent(watch: former, changes: .closedAfterWriting, name: "a")]
            #expect(tell(engine) == [])
            #expect(engine.pending.isEmpty)
            world.happens("/d", .closedAfterWriting, "a")
            #expect(tell(engine) == [a])
            // Later events do not report an unfollowed file either.
            engine.unfollow(a)
            world.events = [WatchEvent(watch: former, changes: .closedAfterWriting, name: "a")]
            #expect(tell(engine) == [])
            #expect(world.watched.isEmpty)
        }

        @Test func nothing_followed_means_no_waking() {
            let engine = engine()
            #expect(engine.advance().next == nil)
            let a = engine.follow("/d/a")
            #expect(engine.advance().next == 10_000_000_000)
            engine.unfollow(a)
            #expect(engine.advance().next == nil)
        }

        @Test func links_in_a_circle_end() {
            world.links = ["/a": "b", "/b": "a"]
            let engine = engine()
            _ = engine.follow("/a/x")
            #expect(Set(world.watched.keys) == ["/"])
        }
    }
}

/// Files, links, watches and time in memory.
final class ScriptedWorld: FileWorld {
    /// Milliseconds.
    var time: UInt64 = 0
    var files: [String: FileSignature] = [:]
    var links: [String: String] = [:]
    /// These exist although they are empty.
    var directories: Set<String> = ["/d"]
    var events: [WatchEvent] = []
    /// The examined files, and the examined entries during path resolution.
    var looks: [String] = []
    var walks: [String] = []
    /// The error of the next watches.
    var refusal: Int32 = 0
    private(set) var filesWatched: Set<String> = []
    var watched: [String: Int32] = [:]
    private var lastWatch: Int32 = 0

    var descriptor: Int32 { -1 }
    func now() -> UInt64 { time * 1_000_000 }

    func happens(_ directory: String, _ changes: WatchEvent.Changes, _ name: String) {
        events.append(WatchEvent(watch: watched[directory] ?? -1, changes: changes, name: name))
    }

    func watch(_ directory: String, files: Bool) -> WatchAnswer {
        guard refusal == 0 else { return .refused(refusal) }
        if files { filesWatched.insert(directory) }
        if let watch = watched[directory] { return .watch(watch, isRemote: false) }
        lastWatch += 1
        watched[directory] = lastWatch
        return .watch(lastWatch, isRemote: false)
    }

    func unwatch(_ watch: Int32) { watched = watched.filter { $0.value != watch } }

    func drain(_ heard: (WatchEvent) -> Void) -> Bool {
        let batch = events
        events = []
        for event in batch { heard(event) }
        return true
    }

    func signature(_ path: String) -> FileSignature {
        looks.append(path)
        var signature = found(path)
        signature.isLink = links[path] != nil
        return signature
    }

    private func found(_ path: String) -> FileSignature {
        var path = path
        for _ in 0..<10 {
            for (link, target) in links where path.hasPrefix(link + "/") || path == link {
                let parent = link[..<(link.lastIndex(of: "/") ?? link.endIndex)]
                path = (target.hasPrefix("/") ? target : "\(parent)/\(target)") + path.dropFirst(link.count)
            }
        }
        return files[path] ?? FileSignature()
    }

    func entry(_ path: String) -> PathEntry {
        walks.append(path)
        if let target = links[path] { return .link(target) }
        let isThere =
            directories.contains(path) || files.keys.contains { $0 == path || $0.hasPrefix(path + "/") }
            || links.keys.contains { $0.hasPrefix(path + "/") }
        return isThere ? .other : .missing
    }

    func close() {}
}
