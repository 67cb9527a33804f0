import CInvivo
import CPlatform
import Glibc
import Synchronization
import Testing

@testable import InvivoBase

/// An object that ends under a monitor ends when the thread holds no monitor any more.
@Suite(.tags(.concurrent)) struct MonitorTests {
    private final class Ended: @unchecked Sendable {
        var names: [String] = []
    }

    @Test func objectsThatEndUnderAMonitorEndAfterTheLastUnlock() {
        let (outer, inner, ended) = (Monitor(), Monitor(), Ended())
        outer.locked {
            ending { ended.names.append("first") }
            inner.locked { ending { ended.names.append("second") } }
            #expect(ended.names.isEmpty)
        }
        #expect(ended.names == ["first", "second"])
        ending { ended.names.append("third") }
        #expect(ended.names == ["first", "second", "third"])
    }

    @Test func anEndingObjectMayTakeTheMonitorAndEndOthers() {
        let (monitor, ended) = (Monitor(), Ended())
        monitor.locked {
            ending {
                monitor.locked {
                    ended.names.append("outer")
                    ending { ended.names.append("inner") }
                }
                ended.names.append("after")
            }
        }
        #expect(ended.names == ["outer", "inner", "after"])
        #expect(currentThread().pointee.locks == 0)
    }

    /// Its contents end with it, and take the lock under which the last reference ended.
    @Test func aCallableThatIsLetGoUnderAMonitorEndsWithoutIt() throws {
        let held = Held()
        var options = invivo_callable_options()
        options.struct_size = MemoryLayout<invivo_callable_options>.size
        options.invoke = { _, _, _, _, _ in 0 }
        options.user_data = Unmanaged.passRetained(held).toOpaque()
        options.destroy = { pointer in
            guard let pointer else { return }
            let held = Unmanaged<Held>.fromOpaque(pointer).takeRetainedValue()
            held.monitor.locked { held.ends += 1 }
        }
        var callable: Callable? = try Callable(options: &options)
        #expect(callable != nil)
        held.monitor.locked {
            callable = nil
            #expect(held.ends == 0)
        }
        #expect(held.ends == 1)
    }

    private final class Held: @unchecked Sendable {
        let monitor = Monitor()
        var ends = 0
    }
}

/// Not under ThreadSanitizer: each use of a Swift static takes a lock of the Swift runtime, which a fork does not survive.
@Suite(.tags(.concurrent, .forks)) struct MonitorForkTests {
    /// Regardless of their number: a table of 16 once held only the first.
    @Test func aForkedChildFindsNoProcessWideMonitorLocked() async {
        await #expect(processExitsWith: .success) {
            typealias Fork = @convention(c) () -> pid_t
            guard let symbol = dlsym(nil, "fork") else { preconditionFailure("no fork") }
            let fork = unsafeBitCast(symbol, to: Fork.self)
            iv_at_fork_install()
            let monitors = (0..<40).map { _ in Monitor(isProcessWide: true) }
            let isOver = Atomic(false)
            @Sendable func lockAll() { for monitor in monitors { monitor.locked {} } }
            // Swift's own locks do not survive a fork: a child runs only code that has run before.
            lockAll()
            let rounds = Atomic(0)
            let other = Task.detached {
                while !isOver.load(ordering: .acquiring) {
                    lockAll()
                    rounds.add(1, ordering: .releasing)
                }
            }
            while rounds.load(ordering: .acquiring) == 0 { await Task.yield() }
            // Threads of Dispatch block signals.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGALRM)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            for _ in 0..<300 {
                let child = fork()
                if child == 0 {
                    alarm(20)
                    lockAll()
                    _exit(0)
                }
                var status: Int32 = -1
                precondition(waitpid(child, &status, 0) == child && status == 0, "the child ended with \(status)")
            }
            isOver.store(true, ordering: .releasing)
            await other.value
        }
    }
}
