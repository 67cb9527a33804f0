internal import CPlatform
internal import Glibc

/// A thread for one piece of work. Signals are blocked in it; it is joined before whoever needed it goes on.
final class TransientThread {
    private var thread = pthread_t()

    /// Nil when the system has no thread to give.
    init?(_ name: String, _ body: @escaping () -> Void) {
        let box = Unmanaged.passRetained(Work(name, body))
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                iv_name_thread("\(work.name.prefix(8))-life")
                work.body()
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        guard result == 0 else {
            box.release()
            return nil
        }
        _ = iv_add_u64(iv_live_threads(), 1)
    }

    func join() {
        pthread_join(thread, nil)
        _ = iv_sub_u64(iv_live_threads(), 1)
    }

    private final class Work {
        let name: String
        let body: () -> Void

        init(_ name: String, _ body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
