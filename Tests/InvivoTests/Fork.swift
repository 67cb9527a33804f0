import Glibc

/// `fork`, which Glibc's module hides from Swift.
func forkedProcess() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { preconditionFailure("no fork") }
    return unsafeBitCast(symbol, to: Fork.self)()
}
