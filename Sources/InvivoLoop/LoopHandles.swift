internal import CUv

/// A timer that is set again and again. On the loop's thread alone; lives until `close` or the end of the loop.
final class LoopAlarm: LoopResident {
    private let loop: Loop
    /// Freed by libuv's close callback, which also gives back the count that libuv holds on this object.
    private let handle: UnsafeMutablePointer<uv_timer_t>
    private var fired: (() -> Void)?

    init(loop: Loop, _ fired: @escaping () -> Void) {
        self.loop = loop
        self.fired = fired
        handle = .allocate(capacity: 1)
        uv_timer_init(loop.uv, handle)
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        loop.enter(self)
    }

    func set(after milliseconds: UInt64, repeating: UInt64 = 0) {
        guard fired != nil else { return }
        uv_update_time(loop.uv)
        uv_timer_start(
            handle,
            { handle in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<LoopAlarm>.fromOpaque(data).takeUnretainedValue().fired?()
            }, milliseconds, repeating)
    }

    func unset() {
        if fired != nil { uv_timer_stop(handle) }
    }

    func close() {
        guard fired != nil else { return }
        fired = nil
        loop.leave(self)
        uv_close(erased(handle)) { handle in
            guard let handle, let data = handle.pointee.data else { return }
            Unmanaged<LoopAlarm>.fromOpaque(data).release()
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_timer_t.self).deallocate()
        }
    }

    func loopEnds() { close() }
}

/// Reports when a descriptor is readable. On the loop's thread alone; close it before the descriptor.
final class LoopReadiness: LoopResident {
    private let loop: Loop
    /// Freed as in `LoopAlarm`.
    private let handle: UnsafeMutablePointer<uv_poll_t>
    private var readable: (() -> Void)?

    /// Nil when the descriptor cannot be waited for.
    init?(loop: Loop, descriptor: Int32, _ readable: @escaping () -> Void) {
        self.loop = loop
        handle = .allocate(capacity: 1)
        guard uv_poll_init(loop.uv, handle, descriptor) == 0 else {
            handle.deallocate()
            return nil
        }
        self.readable = readable
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        loop.enter(self)
        uv_poll_start(handle, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<LoopReadiness>.fromOpaque(data).takeUnretainedValue().readable?()
        }
    }

    func close() {
        guard readable != nil else { return }
        readable = nil
        loop.leave(self)
        uv_close(erased(handle)) { handle in
            guard let handle, let data = handle.pointee.data else { return }
            Unmanaged<LoopReadiness>.fromOpaque(data).release()
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_poll_t.self).deallocate()
        }
    }

    func loopEnds() { close() }
}
