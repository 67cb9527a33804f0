public import CInvivo
internal import InvivoBase
internal import InvivoReload

// module.h: code that is loaded, and several languages in one process on one runtime.

@c @implementation
public func invivo_module_load(
    _ runtime: invivo_runtime, _ path: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_module>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_module()
    return answering(error) { () throws(Failure) in
        let bits = try Engine.find(runtime.bits).modules.load(try text(path, "path"), table: invivo_table_get())
        out?.pointee.bits = bits
    }
}

private let tokenMagic = UInt64(INVIVO_TOKEN_MAGIC)

@c @implementation
public func invivo_share(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<UnsafePointer<invivo_token>?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = nil
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let token = try Engine.find(runtime.bits).token {
            let token = UnsafeMutablePointer<invivo_token>.allocate(capacity: 1)
            token.initialize(to: invivo_token(magic: tokenMagic, table: invivo_table_get(), runtime: runtime))
            return UnsafeMutableRawPointer(token)
        }
        out.pointee = UnsafePointer(token.assumingMemoryBound(to: invivo_token.self))
    }
}

@c @implementation
public func invivo_attach(
    _ token: UnsafePointer<invivo_token>!, _ out: UnsafeMutablePointer<invivo_runtime>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_runtime()
    return answering(error) { () throws(Failure) in
        guard let token, let out else { throw Failure(.argument, "token or out is NULL") }
        guard token.pointee.magic == tokenMagic else {
            throw Failure(.handle, "this is not the address of an invivo_token")
        }
        guard token.pointee.table == invivo_table_get() else {
            throw Failure(
                .handle,
                "the token is of another copy of the library: call through its table (token->table), as the stub library does"
            )
        }
        _ = try Engine.find(token.pointee.runtime.bits)
        out.pointee = token.pointee.runtime
    }
}
