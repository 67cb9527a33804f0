internal import CInvivo
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Applies what waits for the main thread while that thread awaits something: a program that only says
/// `for await reload in runtime.reloads` sees its objects change. There is one for each runtime that was opened on the main
/// thread; it does nothing until somebody awaits reloads.
final class MainService: Sendable {
    private struct State: @unchecked Sendable { var source: (any DispatchSourceRead)? }
    private let state = Locked(State())

    /// nil when the calling thread is not the main thread.
    init?() {
        guard Self.isMainThread else { return nil }
    }

    private static var isMainThread: Bool {
        var target = [UInt8](repeating: 0, count: 64)
        let length = target.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { readlink("/proc/thread-self", $0.baseAddress!, $0.count) }
        }
        guard length > 0 else { return false }
        let parts = String(decoding: target.prefix(length), as: UTF8.self).split(separator: "/")
        return parts.count == 3 && parts[0] == parts[2]
    }

    func start(_ core: Core) {
        state.withLock { state in
            guard state.source == nil else { return }
            var descriptor: Int32 = -1
            guard core.table.pointee.runtime_descriptor(core.handle, &descriptor, nil) == 0 else { return }
            // The runtime may close its descriptor while Dispatch still looks at it.
            let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard own >= 0 else { return }
            let source = DispatchSource.makeReadSource(fileDescriptor: own, queue: .main)
            source.setEventHandler { _ = core.table.pointee.runtime_poll(core.handle, 0, nil, nil) }
            source.setCancelHandler { _ = Glibc.close(own) }
            source.activate()
            state.source = source
        }
    }

    func stop() {
        state.withLock { state in
            state.source?.cancel()
            state.source = nil
        }
    }
}
