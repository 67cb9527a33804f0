import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

extension LoopRoom {
    @Suite struct LoopTests {
        @Test func jobs_run_on_the_loop_thread_in_order() throws {
            let loop = try Loop(name: "order")
            let seen = Awaited([Int]())
            let onLoop = Awaited(true)
            for number in 0..<1000 {
                #expect(
                    loop.post {
                        if !loop.isCurrent { onLoop.change { $0 = false } }
                        seen.change { $0.append(number) }
                    })
            }
            #expect(!loop.isCurrent)
            #expect(loop.stop())
            #expect(seen.value == Array(0..<1000))
            #expect(onLoop.value)
        }

        @Test func stop_runs_what_was_posted_and_refuses_what_comes_later() throws {
            let loop = try Loop(name: "stop")
            let ran = Awaited(0)
            let late = Awaited<Bool?>(nil)
            let gate = Awaited(false)
            loop.post { _ = gate.wait { $0 } }
            for _ in 0..<100 { loop.post { ran.change { $0 += 1 } } }
            loop.schedule(after: 60_000) { ran.change { $0 += 1_000 } }
            let stopper = Task.detached { loop.stop() }
            while loop.post({}) { sched_yield() }
            gate.change { $0 = true }
            loop.stop()
            #expect(ran.value == 100)
            late.change { $0 = loop.post {} }
            #expect(late.value == false)
            #expect(loop.stop())
            _ = stopper
        }

        @Test func stop_on_its_own_thread_does_nothing() throws {
            let loop = try Loop(name: "own")
            let answer = Awaited<Bool?>(nil)
            loop.post { answer.change { $0 = loop.stop() } }
            #expect(answer.wait { $0 == false })
            #expect(loop.post {})
            #expect(loop.stop())
        }

        @Test func timers_fire_once_or_again_and_again_until_cancelled() throws {
            let loop = try Loop(name: "timers")
            let once = Awaited(0)
            let often = Awaited(0)
            let never = Awaited(0)
            loop.schedule(after: 1) { once.change { $0 += 1 } }
            let ticking = loop.schedule(after: 0, repeating: 1) { often.change { $0 += 1 } }
            // On the loop's thread, so that it cannot fire before it is cancelled.
            loop.post { loop.schedule(after: 0) { never.change { $0 += 1 } }.cancel() }
            #expect(often.wait { $0 >= 40 })
            ticking.cancel()
            #expect(once.value == 1)
            let barrier = Awaited(false)
            loop.post { barrier.change { $0 = true } }
            #expect(barrier.wait { $0 })
            let count = often.value
            let later = Awaited(false)
            loop.schedule(after: 20) { later.change { $0 = true } }
            #expect(later.wait { $0 })
            #expect(often.value == count)
            #expect(never.value == 0)
            loop.stop()
        }

        @Test func a_timer_may_cancel_itself_and_start_others() throws {
            let loop = try Loop(name: "self")
            let fired = Awaited(0)
            let holder = Awaited<LoopTimer?>(nil)
            // On the loop's thread, so that it cannot fire before it is stored.
            loop.post {
                let timer = loop.schedule(after: 0, repeating: 1) {
                    fired.change { $0 += 1 }
                    holder.value?.cancel()
                    loop.schedule(after: 0) { fired.change { $0 += 10 } }
                }
                holder.change { $0 = timer }
            }
            #expect(fired.wait { $0 == 11 })
            loop.stop()
            #expect(fired.value == 11)
        }

        @Test func many_threads_may_post_cancel_and_stop_at_once() async throws {
            for _ in 0..<20 {
                let loop = try Loop(name: "many")
                await withTaskGroup(of: Void.self) { group in
                    for lane in 0..<4 {
                        group.addTask {
                            for number in 0..<50 {
                                loop.post {}
                                let timer = loop.schedule(after: UInt64(number % 3)) {}
                                if number % 2 == 0 { timer.cancel() }
                            }
                            if lane > 1 { loop.stop() }
                        }
                    }
                }
                #expect(loop.stop())
            }
        }

        @Test func nothing_of_a_stopped_loop_is_left() async {
            await #expect(processExitsWith: .success) {
                // libuv keeps two descriptors for the whole process from the first loop on.
                try Loop(name: "first").stop()
                let before = descriptors()
                let held = Awaited(0)
                final class Canary: Sendable {
                    let held: Awaited<Int>
                    init(_ held: Awaited<Int>) {
                        self.held = held
                        held.change { $0 += 1 }
                    }
                    deinit { held.change { $0 -= 1 } }
                }
                struct Weak { weak var loop: Loop? }
                var loops: [Weak] = []
                for _ in 0..<50 {
                    let loop = try Loop(name: "leak")
                    loops.append(Weak(loop: loop))
                    let canary = Canary(held)
                    loop.post { _ = canary }
                    loop.schedule(after: 60_000) { _ = canary }
                    loop.schedule(after: 0, repeating: 1) { _ = canary }
                    loop.schedule(after: 60_000) { _ = canary }.cancel()
                    loop.stop()
                }
                precondition(nothingIsLeft(descriptors: before))
                precondition(held.value == 0)
                precondition(loops.allSatisfy { $0.loop == nil })
            }
        }

        @Test func the_thread_takes_no_signals_and_the_callers_mask_stays() async {
            await #expect(processExitsWith: .success) {
                var former = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &former)
                let loop = try Loop(name: "mask")
                var now = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &now)
                for signal in 1..<SIGRTMAX_ { precondition(sigismember(&former, signal) == sigismember(&now, signal)) }
                let blocked = Awaited([Int32: Bool]())
                loop.post {
                    var mask = sigset_t()
                    pthread_sigmask(SIG_BLOCK, nil, &mask)
                    let all = [SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1, SIGIO, SIGSEGV, SIGBUS]
                    let states = all.map { ($0, sigismember(&mask, $0) == 1) }
                    blocked.change { $0 = Dictionary(uniqueKeysWithValues: states) }
                }
                loop.stop()
                for (signal, isBlocked) in blocked.value {
                    precondition(isBlocked == (signal != SIGSEGV && signal != SIGBUS))
                }
                precondition(blocked.value.count == 9)
            }
        }

        @Test func without_descriptors_it_is_an_error_and_not_the_end() async {
            await #expect(processExitsWith: .success) {
                var limit = rlimit(rlim_cur: rlim_t(descriptors() + 2), rlim_max: 1024)
                setrlimit(__rlimit_resource_t(7), &limit)
                do {
                    _ = try Loop(name: "none")
                    preconditionFailure("expected an error")
                } catch let error as Failure {
                    precondition(error.code == .system && error.message.contains("descriptors"))
                }
            }
        }

        @Test func a_forked_child_is_refused_whatever_was_locked_and_the_parent_goes_on() async {
            await #expect(processExitsWith: .success) {
                typealias Fork = @convention(c) () -> pid_t
                guard let symbol = dlsym(nil, "fork") else { preconditionFailure("no fork") }
                let fork = unsafeBitCast(symbol, to: Fork.self)
                let workshop = Workshop()
                let told = Awaited(0)
                let loop = try Loop(name: "fork")
                let world = GatedWorld()
                let follower = try FileFollower(
                    loop: loop, settle: { .init() }, world: world, onBurst: { _ in told.change { $0 += 1 } },
                    onTrouble: { _ in })
                let id = try follower.follow(workshop.path("a"))
                let timer = loop.schedule(after: 60_000) {}
                // The loop's thread blocks inside the follower's monitor while this process is forked.
                world.isShut.change { $0 = true }
                follower.wake()
                precondition(world.isInside.wait { $0 })
                let child = fork()
                if child == 0 {
                    alarm(20)
                    var isRefused = !loop.post {} && !loop.stop() && !loop.isCurrent
                    follower.unfollow(id)
                    follower.stop()
                    timer.cancel()
                    loop.schedule(after: 0) {}.cancel()
                    do {
                        _ = try follower.follow("/x")
                        isRefused = false
                    } catch { isRefused = isRefused && (error as? Failure)?.code == .forked }
                    _exit(isRefused ? 0 : 1)
                }
                world.isShut.change { $0 = false }
                var status: Int32 = -1
                waitpid(child, &status, 0)
                precondition(status == 0)
                put("a", workshop.path("a"))
                precondition(told.wait { $0 >= 1 })
                follower.stop()
                precondition(loop.stop())
            }
        }
    }
}

private let SIGRTMAX_: Int32 = 64
