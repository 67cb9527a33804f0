internal import CPlatform
internal import CUv
internal import Glibc
internal import InvivoBase

/// The machine itself: an inotify descriptor of our own, stat and the monotonic clock.
///
/// (libuv's uv_fs_event loses a watch at the first rename over the file, swallows the overflow of the queue and knows no
/// close-write.)
final class LiveFileWorld: FileWorld {
    private(set) var descriptor: Int32
    /// The buffer for reading events.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 8)
    /// Why there are no events; 0 when there are.
    private var error: Int32 = 0
    private var isClosed = false

    private static let forEntries =
        UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
        | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD)
    /// Not for unlinked files: writes to the former file do not affect the new one.
    private static let forFiles = forEntries | UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_EXCL_UNLINK)
    /// With less free space than this, the kernel may have held back an event.
    private static let largestEvent = MemoryLayout<inotify_event>.size + Int(NAME_MAX) + 1
    /// A file changed less than this before it was looked at is fresh.
    private static let fresh: Int64 = 20_000_000
    /// File systems that other machines change without events of this kernel: NFS, SMB, CIFS, 9P, FUSE, Ceph, AFS.
    private static let remoteKinds: Set<UInt32> = [
        0x6969, 0x517b, 0xfe53_4d42, 0xff53_4d42, 0x0102_1997, 0x6573_5546, 0x00c3_6400, 0x5346_414f,
    ]

    /// Without `watching` it looks at files alone.
    init(watching: Bool = true) {
        descriptor = -1
        if watching { start() } else { isClosed = true }
    }

    /// The kernel may have refused events for a reason that passes: too many descriptors, or instances of this user.
    private func start() {
        guard descriptor < 0 && !isClosed else { return }
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        error = descriptor < 0 ? errno : 0
        if descriptor >= 0 { _ = iv_add_u64(iv_live_descriptors(), 1) }
    }

    deinit { buffer.deallocate() }

    func now() -> UInt64 { iv_now_ns() }

    func watch(_ directory: String, files: Bool) -> WatchAnswer {
        start()
        guard descriptor >= 0 else { return .refused(error) }
        let watch = inotify_add_watch(descriptor, directory, files ? Self.forFiles : Self.forEntries)
        guard watch >= 0 else { return .refused(errno) }
        var facts = statfs()
        let isRemote =
            files && statfs(directory, &facts) == 0
            && Self.remoteKinds.contains(UInt32(truncatingIfNeeded: facts.f_type))
        return .watch(watch, isRemote: isRemote)
    }

    func unwatch(_ watch: Int32) {
        if descriptor >= 0 { inotify_rm_watch(descriptor, watch) }
    }

    /// At most 16 buffers at a time, so that a busy directory does not keep the loop from everything else.
    func drain(_ handle: (WatchEvent) -> Void) -> Bool {
        guard descriptor >= 0 else { return true }
        for _ in 0..<16 {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return true }
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= count {
                let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let start = offset + MemoryLayout<inotify_event>.size
                let end = start + Int(event.len)
                let name = UnsafeRawBufferPointer(rebasing: buffer[start..<end]).prefix { $0 != 0 }
                handle(
                    WatchEvent(
                        watch: event.wd, changes: WatchEvent.Changes(rawValue: event.mask),
                        name: String(decoding: name, as: UTF8.self)))
                offset = end
            }
            // The buffer had free space, so there are no more events; later ones make the descriptor readable again.
            if buffer.count - count >= Self.largestEvent { return true }
        }
        return false
    }

    func signature(_ path: String) -> FileSignature {
        var facts = stat()
        var signature = FileSignature()
        var isThere = lstat(path, &facts) == 0
        if isThere && facts.st_mode & S_IFMT == S_IFLNK {
            signature.isLink = true
            isThere = stat(path, &facts) == 0
        }
        guard isThere else {
            let code = errno
            if code != ENOENT && code != ENOTDIR { signature.kind = .barred(code) }
            return signature
        }
        signature.kind = facts.st_mode & S_IFMT == S_IFREG ? .file : .other
        signature.device = UInt64(facts.st_dev)
        signature.inode = UInt64(facts.st_ino)
        signature.size = Int64(facts.st_size)
        signature.mode = facts.st_mode
        signature.modified = nanoseconds(facts.st_mtim)
        signature.changed = nanoseconds(facts.st_ctim)
        signature.isFresh = Int64(bitPattern: iv_wall_ns()) &- signature.changed < Self.fresh
        return signature
    }

    func entry(_ path: String) -> PathEntry {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return .missing }
        guard facts.st_mode & S_IFMT == S_IFLNK else { return .other }
        return linkTarget(path).map(PathEntry.link) ?? .missing
    }

    /// Close it as long as possible after the watches were removed: the kernel lets a close wait for those.
    func close() {
        isClosed = true
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
        _ = iv_sub_u64(iv_live_descriptors(), 1)
    }
}
