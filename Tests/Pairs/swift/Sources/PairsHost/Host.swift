import Glibc
import Invivo

/// A Swift host that embeds Python and loads C and Swift libraries: one runtime, the same objects for all. Arguments:
/// the build directory, and libpython.
@main
enum Host {
    static func main() throws {
        guard CommandLine.arguments.count == 3 else { exit(2) }
        let (built, library) = (CommandLine.arguments[1], CommandLine.arguments[2])
        let python = try Python(library)
        let runtime = try Runtime()
        try runtime.loadModule("\(built)/libprobe.so")
        try runtime.loadModule("\(built)/libPairsModule.so")
        let token = try runtime.share()
        try python.run("import embedded; embedded.begin(\(UInt(bitPattern: token.address)))")
        try drive("C", "\(built)/libdriver.so", "pairs_drive_c", token)
        try drive("Swift", "\(built)/libPairsDriver.so", "pairs_drive_swift", token)
        try python.run("embedded.drive()")
        try ownCalls(runtime)
        try python.run("embedded.end()")
        try runtime.close()
        try python.finish()
    }

    /// Calls of the host on a Python object: a Python error arrives here as it was raised.
    private static func ownCalls(_ runtime: Runtime) throws {
        let probe = try runtime.make(try runtime.type("PythonProbe"), "made by the host")
        guard try probe.get("label") == "made by the host" else { throw InvivoError(.internal, "the label is lost") }
        do {
            try probe.call("fail")
            throw InvivoError(.internal, "no error came out of Python")
        } catch let error as InvivoError {
            guard error.code == .range, error.message == "too loud", error.cause?.code == .busy else { throw error }
        }
    }

    private typealias Drive = @convention(c) (UnsafeRawPointer, UnsafePointer<CChar>) -> Int32

    /// Runs a driver on the probes of all languages.
    private static func drive(_ language: String, _ path: String, _ name: String, _ token: Token) throws {
        let run = unsafeBitCast(try Library(path, RTLD_LOCAL).symbol(name), to: Drive.self)
        for component in ["C", "Swift", "Python"] {
            let checks = run(token.address, "\(component)Probe")
            guard checks > 0 else {
                throw InvivoError(.internal, "pair \(language)->\(component): FAILED, \(-checks) checks")
            }
            print("pair \(language)->\(component): ok, \(checks) checks")
            fflush(nil)
        }
    }
}

/// A shared library, never closed.
private struct Library {
    let handle: UnsafeMutableRawPointer

    init(_ path: String, _ flags: Int32) throws(InvivoError) {
        guard let handle = dlopen(path, RTLD_NOW | flags) else { throw Self.failure() }
        self.handle = handle
    }

    func symbol(_ name: String) throws(InvivoError) -> UnsafeMutableRawPointer {
        guard let symbol = dlsym(handle, name) else { throw Self.failure() }
        return symbol
    }

    private static func failure() -> InvivoError {
        InvivoError(.file, dlerror().map { String(cString: $0) } ?? "dlopen")
    }
}

/// The interpreter of this process.
private struct Python {
    private let library: Library

    init(_ path: String) throws(InvivoError) {
        library = try Library(path, RTLD_GLOBAL)
        typealias Initialize = @convention(c) (Int32) -> Void
        unsafeBitCast(try library.symbol("Py_InitializeEx"), to: Initialize.self)(0)
    }

    func run(_ text: String) throws(InvivoError) {
        typealias Run = @convention(c) (UnsafePointer<CChar>) -> Int32
        guard unsafeBitCast(try library.symbol("PyRun_SimpleString"), to: Run.self)(text) == 0 else {
            throw InvivoError(.host, "Python failed at: \(text)")
        }
    }

    func finish() throws(InvivoError) {
        typealias Finish = @convention(c) () -> Int32
        guard unsafeBitCast(try library.symbol("Py_FinalizeEx"), to: Finish.self)() == 0 else {
            throw InvivoError(.host, "Python did not end well")
        }
    }
}
