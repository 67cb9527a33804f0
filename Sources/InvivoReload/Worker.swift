internal import CPlatform
internal import Glibc
internal import InvivoBase

/// The thread that stages and commits what nobody waits for. Signals are blocked in it.
final class Worker: @unchecked Sendable {
    private var thread = pthread_t()

    init(name: String, engine: Engine) throws(Failure) {
        let box = Unmanaged.passRetained(engine)
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let engine = Unmanaged<Engine>.fromOpaque(context).takeRetainedValue()
                iv_name_thread("\(engine.container.name.prefix(8))-reload")
                while engine.workerStep() {}
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        guard result == 0 else {
            box.release()
            throw Failure(.system, "no thread could be started: \(String(cString: strerror(result)))")
        }
        _ = iv_add_u64(iv_live_threads(), 1)
    }

    func join() {
        pthread_join(thread, nil)
        _ = iv_sub_u64(iv_live_threads(), 1)
    }
}
