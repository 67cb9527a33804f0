public import CInvivo

/// Code that is loaded into a runtime. A Swift module is a dynamic library that depends on the product InvivoModule and
/// exports one function:
///
///     @c(invivo_module_entry)
///     public func entry(table: Module.Table, runtime: Module.Handle, error: Module.ErrorPointer) -> Module.Status {
///         Module.enter(table, runtime, error) { runtime in try runtime.register(LowPass.invivoType) }
///     }
///
/// Link it with `-z nodelete`: Swift code cannot be unloaded.
public enum Module {
    /// The functions of the library that loads the module.
    public typealias Table = UnsafePointer<invivo_table>?
    /// The runtime as it is handed over.
    public typealias Handle = invivo_runtime
    /// The out parameter for the error of the entry point.
    public typealias ErrorPointer = UnsafeMutablePointer<OpaquePointer?>?
    /// The result of the entry point.
    public typealias Status = invivo_status

    /// Receives the host's function table and runs `body` with its runtime. Returns the result of the entry point.
    public static func enter(
        _ table: Table, _ runtime: Handle, _ error: ErrorPointer, _ body: (Runtime) throws -> Void
    ) -> Status {
        guard let table else { return InvivoError.Code.argument.rawValue }
        let status = invivo_stubs_use(table)
        guard status == 0 else { return status }
        return answering(table, error) { try body(Runtime(borrowing: try Core.of(table, runtime))) }
    }
}

extension Runtime {
    /// Loads a module, a shared library, and runs its entry, which registers types. It stays until the runtime closes.
    public func loadModule(_ path: String) throws(InvivoError) {
        try core.call(naming: path) { $0.pointee.module_load(core.handle, $1, nil, $2) }
    }

    /// A token with which another language in the process joins this runtime: pass the token's address.
    public func share() throws(InvivoError) -> Token {
        var token: UnsafePointer<invivo_token>?
        try core.call { $0.pointee.share(core.handle, &token, $1) }
        guard let token else { throw InvivoError(.internal, "no token was created; please report this") }
        return Token(address: UnsafeRawPointer(token))
    }

    /// Joins a runtime of another language in the process. Both use the same objects. The language that opened the
    /// runtime closes it.
    public static func attach(_ token: Token) throws(InvivoError) -> Runtime {
        let raw = token.address.load(as: invivo_token.self)
        guard raw.magic == UInt64(INVIVO_TOKEN_MAGIC), let table = raw.table else {
            throw InvivoError(.handle, "the address is not that of a token; pass the result of `share`")
        }
        try Core.check(table)
        var handle = invivo_runtime()
        try Core.call(table) { functions, error in
            functions.pointee.attach(token.address.assumingMemoryBound(to: invivo_token.self), &handle, error)
        }
        return Runtime(borrowing: try Core.of(table, handle))
    }
}

/// A token with which several languages use one runtime. Valid until the runtime closes.
public struct Token: @unchecked Sendable {
    /// The address to hand over.
    public let address: UnsafeRawPointer

    /// The token at an address that another language handed over; it must be one.
    public init(address: UnsafeRawPointer) { self.address = address }
}
