import Glibc
import Invivo
import Synchronization

/// Writes whole lines, at once, from any thread: what happens to standard output, what is wrong to standard error.
final class Output: Sendable {
    private let lock = Mutex<Void>(())
    private let isObserving = Atomic(false)

    /// Whether reloads are told by `reload`, so that the log need not.
    var hearsReloads: Bool { isObserving.load(ordering: .relaxed) }
    func hearReloads() { isObserving.store(true, ordering: .relaxed) }

    func line(_ text: String) { write(text, STDOUT_FILENO) }
    func problem(_ text: String) { write(text, STDERR_FILENO) }

    func problem(_ error: InvivoError) {
        for error in error.errors { problem("invivo: \(error)") }
    }

    /// One line; for a broken edit, a line for each error and one that says which generation stays.
    func reload(_ reload: Reload) {
        guard let error = reload.error else { return line(reload.description) }
        let reasons = error.errors.map { "\($0)\n" }.joined()
        line(reasons + "\(reload.cause): not applied, generation \(reload.generation) stays")
    }

    private func write(_ text: String, _ descriptor: Int32) {
        lock.withLock { _ in
            var bytes = Array((text + "\n").utf8)[...]
            while !bytes.isEmpty {
                let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if written > 0 { bytes = bytes.dropFirst(written) } else if errno != EINTR { return }
            }
        }
    }
}
