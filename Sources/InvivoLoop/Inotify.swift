internal import CPlatform
internal import CUv
internal import Glibc
internal import InvivoBase

/// An inotify descriptor of our own on the loop. (libuv's uv_fs_event loses watches at the first rename, swallows queue
/// overflow and has no close-write: see the decisions.) `add` and `remove` may be called from any thread.
final class Inotify: @unchecked Sendable {
    struct Event {
        let watch: Int32
        let mask: UInt32
        let name: String
    }
    let descriptor: Int32
    private let loop: Loop
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let deliver: ([Event]) -> Void

    /// Nil where the system gives none: the caller polls.
    init?(loop: Loop, deliver: @escaping ([Event]) -> Void) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.loop = loop
        self.deliver = deliver
        poll = .allocate(capacity: 1)
        _ = iv_add_u64(iv_live_descriptors(), 1)
    }

    /// On the loop thread.
    func start() {
        uv_poll_init(loop.raw, poll, descriptor)
        poll.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<Inotify>.fromOpaque(data).takeUnretainedValue().drain()
        }
    }

    /// On the loop thread: reads all there is and delivers it at once.
    private func drain() {
        var events: [Event] = []
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { break }
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let start = offset + MemoryLayout<inotify_event>.size
                    var bytes = Array(buffer[start..<start + Int(event.len)])
                    if let end = bytes.firstIndex(of: 0) { bytes.removeLast(bytes.count - end) }
                    events.append(Event(watch: event.wd, mask: event.mask, name: String(decoding: bytes, as: UTF8.self)))
                    offset = start + Int(event.len)
                }
            }
        }
        if !events.isEmpty { deliver(events) }
    }

    func add(_ directory: String, _ mask: UInt32) -> (watch: Int32, error: Int32) {
        let watch = inotify_add_watch(descriptor, directory, mask)
        return (watch, watch < 0 ? errno : 0)
    }

    func remove(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

    /// On the loop thread; watches are removed before, which makes the close quick.
    func stop() {
        uv_poll_stop(poll)
        poll.pointee.data = nil
        uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let handle else { return }
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_poll_t.self).deallocate()
        }
        close(descriptor)
        _ = iv_sub_u64(iv_live_descriptors(), 1)
    }
}
