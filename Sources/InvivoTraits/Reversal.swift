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

    /// Whether values that the application has set through the runtime are not restored yet, or a reversal that repeats has not succeeded.
    var isPending: Bool {
        guard let given else { return false }
        guard given.revert != nil else { return !recorder.isEmpty }
        return !isDone && given.flags & UInt32(INVIVO_REVERSAL_REPEATS) != 0
    }

    /// Reverses the application. Called again only while it is pending.
    func run(_ object: UInt64, _ instance: UnsafeMutableRawPointer) throws(Failure) {
        guard let given else { return }
        defer { if !isPending { drop() } }
        guard let revert = given.revert else {
            guard var failure = Failure.gathered(recorder.revert()) else { return }
            failure.message = "a value that it has set could not be put back: \(failure.message)"
            throw failure
        }
        try CallbackResult.run("the reversal") { revert(invivo_object(bits: object), instance, given.data, $0) }
        isDone = true
    }
}
