/// A pointer of the host's, which it gets back in calls of its functions.
///
/// Unchecked: the library neither reads nor writes what it points to. The host declares, with the threads that may call its
/// functions, on which threads it may be used.
struct UserData: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer?

    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
