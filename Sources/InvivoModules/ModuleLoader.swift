public import CInvivo
internal import Glibc
public import InvivoBase

/// A loaded module. Its code stays loaded for the life of the process, even when this value is gone.
public struct LoadedModule: Sendable {
    /// The file it was loaded from, as it was named.
    public let path: String
    /// The file's name without "lib" and its extension.
    public let name: String
    /// The function that registers its types. Host code: call it without a lock held.
    public let entry: Entry

    /// `invivo_module_entry_function`, never NULL.
    public typealias Entry =
        @convention(c) (UnsafePointer<invivo_table>?, invivo_runtime, UnsafeMutablePointer<OpaquePointer?>?) ->
        invivo_status
}

/// Loads modules: checks a file, copies it to a private directory, and passes the copy to the dynamic linker.
///
/// Any thread may use it, and several at once. Loading runs the library's own initializers: call it without a lock
/// held. The private copies are removed with the loader.
public final class ModuleLoader: Sendable {
    /// The private directory, created with the first module, and the number of the last copy.
    private let copies = Guarded<(directory: PrivateDirectory?, count: Int)>((nil, 0), by: Monitor())

    public init() {}

    /// Checks and loads a module. Nothing of the file is executed unless every check has passed.
    public func load(path: String) throws(Failure) -> LoadedModule {
        let content = try ModuleFile.read(path)
        let name = Self.name(of: path)
        try Self.check(content, path)
        let (directory, number) = try nextCopy()
        let copy = try directory.write(content, as: "\(name).\(number).so")
        guard let handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "no reason given"
            unlink(copy)
            throw Failure(
                .module, "module \(path) cannot be loaded: \(Self.inTermsOf(path, reason, copy))",
                at: Location(file: path)
            )
        }
        // The image stays loaded from here on, even if a check fails: unloading a Swift image is never safe.
        guard let symbol = dlsym(handle, INVIVO_MODULE_ENTRY_NAME) else { throw Self.withoutEntry(path) }
        return LoadedModule(path: path, name: name, entry: unsafeBitCast(symbol, to: LoadedModule.Entry.self))
    }

    private func nextCopy() throws(Failure) -> (PrivateDirectory, Int) {
        try copies.locked { copies throws(Failure) in
            copies.count += 1
            if let directory = copies.directory { return (directory, copies.count) }
            let directory = try PrivateDirectory()
            copies.directory = directory
            return (directory, copies.count)
        }
    }

    private static func check(_ content: [UInt8], _ path: String) throws(Failure) {
        let image: ELFImage
        do {
            image = try ELFImage(content)
        } catch {
            throw Failure(.module, "module \(path) \(error.text)", at: Location(file: path))
        }
        if let library = image.needed.first(where: { $0.hasPrefix("libinvivo.") || $0.hasPrefix("libInvivoC.") }) {
            throw Failure(
                .module,
                "module \(path) links \(library), a second copy of the runtime; link it with the stub library instead "
                    + "(\(stubs))", at: Location(file: path))
        }
        guard let version = image.abiVersion else {
            throw Failure(
                .module,
                "\(path) is a shared library, but no Invivo module: it carries no Invivo note. Link it with the stub library "
                    + "(\(stubs))", at: Location(file: path))
        }
        guard version == UInt32(INVIVO_ABI_VERSION) else {
            throw Failure(
                .version,
                "module \(path) is built for version \(version) of the module interface; this runtime has version "
                    + "\(INVIVO_ABI_VERSION). Build it again with this runtime's headers", at: Location(file: path))
        }
        if let exports = image.exports, !exports.contains(INVIVO_MODULE_ENTRY_NAME) { throw withoutEntry(path) }
    }

    private static let stubs = "product InvivoModule in Swift, Invivo::stubs in CMake, invivo-module in pkg-config"

    private static func withoutEntry(_ path: String) -> Failure {
        Failure(
            .module,
            "module \(path) exports no \(INVIVO_MODULE_ENTRY_NAME); write INVIVO_MODULE(runtime, error) { ... } in C, or a "
                + "@c function of that name in Swift", at: Location(file: path))
    }

    /// The linker's message names the private copy; the user knows the original.
    private static func inTermsOf(_ path: String, _ reason: String, _ copy: String) -> String {
        var text = reason
        while let found = text.firstRange(of: copy) { text.replaceSubrange(found, with: path) }
        if text.hasSuffix("Operation not permitted") {
            text += " (are programs allowed to run from the temporary directory? TMPDIR names another)"
        }
        return text
    }

    static func name(of path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasPrefix("lib") { name.removeFirst(3) }
        return name.split(separator: ".").first.map(String.init) ?? name
    }
}
