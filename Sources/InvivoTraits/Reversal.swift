internal import CInvivo
internal import InvivoBase

/// The reversal of one application of a trait that runs code. Used in the domain of the object.
final class Reversal {
    private var given: invivo_reversal?
    private let recorder: SetRecorder
    private var isDone = false

    init(_ given: invivo_reversal, _ recorder: SetRecorder) {
        self.given = given
        self.recorder = recorder
    }

    deinit { drop() }

    /// Destroys the data of the host without calling the reversal.
    func drop() {
        guard let given = given.take(), let destroy = given.destroy else { return }
        let data = HostPointer(given.data)
        ending { destroy(data.raw) }
    }

    /// Whether its own reversal may run again after a failure.
    private var repeats: Bool {
        given.map { $0.revert != nil && $0.flags & UInt32(INVIVO_REVERSAL_REPEATS) != 0 } ?? false
    }

    /// Whether values that the application has set through the runtime are not restored yet, or a reversal that repeats has not succeeded.
    var isPending: Bool { given != nil && (!recorder.isEmpty || !isDone && repeats) }

    /// Reverses the application. Called again only while it is pending.
    func run(_ object: UInt64, _ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let given else { return }
        defer { if !isPending { drop() } }
        var failures = recorder.revert()
        for index in failures.indices {
            failures[index].message = "a value that it has set could not be put back: \(failures[index].message)"
        }
        if let revert = given.revert, !isDone {
            do throws(Failure) {
                try CallbackResult.run("the reversal") { revert(invivo_object(bits: object), instance, given.data, $0) }
                isDone = true
            } catch {
                isDone = !repeats
                failures.append(error)
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
    }

    /// Reverses an application that has failed. Only a reversal that repeats takes part: the host has stored it before the failure.
    func runAfterFailure(_ object: UInt64, _ instance: UnsafeMutableRawPointer) throws(Failure) {
        if !repeats {
            drop()
            given = invivo_reversal()
        }
        try run(object, instance)
    }
}
