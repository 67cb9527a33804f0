import CInvivo
import CPlatform
import Testing

@testable import InvivoBase

/// What ends under a monitor ends when the thread holds none any more.
@Suite struct MonitorTests {
    private final class Ended: @unchecked Sendable {
        var names: [String] = []
    }

    @Test func whatEndsUnderAMonitorEndsAfterTheLastUnlock() {
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

    @Test func whatEndsMayTakeTheSameMonitorAndEndMore() {
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

    /// What it holds ends with it, and takes the lock under which the last reference went.
    @Test func aCallableThatIsLetGoUnderAMonitorEndsWithoutIt() throws {
        let held = Held()
        var options = invivo_callable_options()
        options.struct_size = MemoryLayout<invivo_callable_options>.size
        options.invoke = { _, _, _, _, _ in INVIVO_OK }
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
