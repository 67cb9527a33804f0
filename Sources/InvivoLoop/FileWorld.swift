internal import Glibc

/// The interface of the follower to the machine: clock, watches and file system. Tests use it to script time and
/// faults; `LiveFileWorld` is the real one. Called with the follower's monitor held.
protocol FileWorld: AnyObject {
    /// The descriptor that is readable while events are pending. Negative if events are unavailable; a later `watch`
    /// may open one.
    var descriptor: Int32 { get }
    /// Monotonic nanoseconds.
    func now() -> UInt64
    /// Watches a directory; with `files` also changes of the files in it. Watching a directory again returns the same
    /// watch.
    func watch(_ directory: String, files: Bool) -> WatchAnswer
    func unwatch(_ watch: Int32)
    /// Passes on the received events, in order. Returns false when events remain for the next call.
    func drain(_ handle: (WatchEvent) -> Void) -> Bool
    /// The state of the file that a path leads to.
    func signature(_ path: String) -> FileSignature
    /// The entry at a path itself; symbolic links are not followed.
    func entry(_ path: String) -> PathEntry
    func close()
}

enum WatchAnswer {
    /// Other machines also change the files of a `remote` directory, without events.
    case watch(Int32, isRemote: Bool)
    case refused(Int32)
}

enum PathEntry: Equatable {
    case missing
    case link(String)
    case other
}

/// One event in a watched directory. `name` is empty when it concerns the directory itself.
struct WatchEvent {
    struct Changes: OptionSet {
        let rawValue: UInt32
        static let created = Changes(rawValue: UInt32(IN_CREATE))
        static let movedIn = Changes(rawValue: UInt32(IN_MOVED_TO))
        static let removed = Changes(rawValue: UInt32(IN_DELETE | IN_MOVED_FROM))
        static let attributes = Changes(rawValue: UInt32(IN_ATTRIB))
        static let modified = Changes(rawValue: UInt32(IN_MODIFY))
        static let closedAfterWriting = Changes(rawValue: UInt32(IN_CLOSE_WRITE))
        static let directoryLeft = Changes(rawValue: UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
        /// The watch has ended; its number means nothing from now on.
        static let watchEnded = Changes(rawValue: UInt32(IN_IGNORED))
        /// Events were lost.
        static let overflow = Changes(rawValue: UInt32(IN_Q_OVERFLOW))

        static let entries: Changes = [.created, .movedIn, .removed, .attributes]
        static let contents: Changes = [.modified, .closedAfterWriting]
    }
    var watch: Int32
    var changes: Changes
    var name = ""
}

/// The metadata that distinguish two states of a file without reading it.
struct FileSignature: Equatable {
    enum Kind: Equatable {
        case missing
        case file
        /// A directory, a FIFO, ...
        case other
        /// The state is unavailable: permission denied, a cycle of links, ...
        case barred(Int32)
    }
    var kind = Kind.missing
    var device: UInt64 = 0
    var inode: UInt64 = 0
    var size: Int64 = 0
    var mode: UInt32 = 0
    var modified: Int64 = 0
    var changed: Int64 = 0
    /// Whether the path itself is a symbolic link, independent of its target.
    var isLink = false
    /// The file was changed so shortly before it was looked at that another change might show the same times: the
    /// kernel's clock for files ticks every 1 to 10 ms. Then an equal signature proves nothing.
    var isFresh = false

    static func == (a: FileSignature, b: FileSignature) -> Bool {
        a.kind == b.kind && a.device == b.device && a.inode == b.inode && a.size == b.size && a.mode == b.mode
            && a.modified == b.modified && a.changed == b.changed
    }
}
