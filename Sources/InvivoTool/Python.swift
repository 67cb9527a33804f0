import Glibc
import Invivo

/// The Python side, as far as the native tool needs to know it.
enum Python {
    /// Whether `python3` finds the package.
    static var hasInvivo: Bool {
        let probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('invivo') is None)"
        var child = pid_t()
        let status = withCStrings(["python3", "-c", probe]) { arguments in
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
            return posix_spawnp(&child, "python3", &actions, nil, arguments, environ)
        }
        guard status == 0 else { return false }
        var result: Int32 = 0
        while waitpid(child, &result, 0) < 0 { guard errno == EINTR else { return false } }
        return result == 0
    }

    /// Replaces this process by `python3 -m invivo` with these arguments. Returns only on failure, with the error.
    static func run(_ arguments: [String], for manifest: String) -> InvivoError {
        guard hasInvivo else {
            return InvivoError(
                .module,
                "the manifest names Python modules, and python3 does not find the package invivo; "
                    + "install it (pip install ./bindings/python in the sources of Invivo), or put the environment that has it first in PATH",
                path: manifest)
        }
        return become(["python3", "-m", "invivo"] + arguments)
    }

    /// Replaces this process by `python3`. Returns only on failure, with the error.
    static func become(_ arguments: [String]) -> InvivoError {
        withCStrings(arguments) { _ = execvp("python3", $0) }
        return InvivoError(.system, "python3 cannot be run: \(String(cString: strerror(errno)))")
    }

    static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() { pointers[index] = strdup(string) }
        pointers[strings.count] = nil
        defer {
            for index in strings.indices { free(pointers[index]) }
            pointers.deallocate()
        }
        return body(pointers)
    }
}

/// The arguments of a Python host for a prefix of environment variables.
func environmentArguments(_ prefix: String?) -> [String] { prefix.map { ["--environment-prefix", $0] } ?? [] }
