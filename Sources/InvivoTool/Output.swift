import Glibc
import Invivo
import Synchronization

/// Writes whole lines, at once, from any thread: what happens to standard output, what is wrong to standard error.
final class Output: Sendable {
    private let lock = Mutex<Void>(())
    /// The log entries of reloads before the start has succeeded; nil afterwards.
    private let early = Mutex<[String]?>([])

    /// Handles one entry of the log. The observer reports reloads, and a failed start reports its error. Entries of the
    /// start are held back, and printed once the start has succeeded.
    func log(_ entry: LogEntry) {
        guard entry.fields["reload"] != nil else { return problem("\(entry)") }
        early.withLock { $0?.append("\(entry)") }
    }

    /// The start has come to its end.
    func started(_ well: Bool) {
        let held = early.withLock { early in
            defer { early = well ? nil : [] }
            return early ?? []
        }
        if well { for text in held { problem(text) } }
    }

    func line(_ text: String) { write(text, STDOUT_FILENO) }
    func problem(_ text: String) { write(text, STDERR_FILENO) }

    /// Prints one line for each error.
    func problem(_ error: InvivoError) {
        for error in error.errors { problem(error.diagnostic) }
    }

    /// Prints one line for a reload. For a failed one, prints a line for each error, and the generation that stays, to
    /// standard error.
    func reload(_ reload: Reload) {
        guard let error = reload.error else { return line(reload.description) }
        let reasons = error.errors.map { "\($0.diagnostic)\n" }.joined()
        problem(reasons + "invivo: \(reload.cause): not applied, generation \(reload.generation) stays")
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
