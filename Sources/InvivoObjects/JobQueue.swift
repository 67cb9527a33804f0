internal import CPlatform
internal import Glibc
internal import InvivoBase

/// The jobs that wait for one domain's thread, the oldest first. Its owner guards it.
final class JobQueue {
    let domain: Domain
    private var jobs: [Job] = []
    /// An eventfd that is readable while jobs wait; -1 until the first request.
    private var signal: Int32 = -1

    init(_ domain: Domain) { self.domain = domain }

    deinit {
        guard signal >= 0 else { return }
        Glibc.close(signal)
        _ = iv_sub_u64(iv_live_descriptors(), 1)
    }

    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }
    var first: Job? { jobs.first }
    func first(where fits: (Job) -> Bool) -> Job? { jobs.first(where: fits) }

    func append(_ job: Job) {
        jobs.append(job)
        raise()
    }

    func remove(_ job: Job) {
        guard let index = jobs.firstIndex(where: { $0 === job }) else { return }
        jobs.remove(at: index)
        lower()
    }

    func removeAll() -> [Job] {
        defer {
            jobs = []
            lower()
        }
        return jobs
    }

    /// The descriptor that is readable while jobs wait.
    func descriptor() throws(Failure) -> Int32 {
        if signal < 0 {
            signal = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            guard signal >= 0 else { throw Failure(.system, "no eventfd: \(String(cString: strerror(errno)))") }
            _ = iv_add_u64(iv_live_descriptors(), 1)
            if !isEmpty { raise() }
        }
        return signal
    }

    private func raise() {
        guard signal >= 0 else { return }
        var one: UInt64 = 1
        _ = write(signal, &one, 8)
    }

    private func lower() {
        guard signal >= 0, isEmpty else { return }
        var count: UInt64 = 0
        _ = read(signal, &count, 8)
    }
}
