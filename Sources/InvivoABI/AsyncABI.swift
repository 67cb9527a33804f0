public import CInvivo
internal import InvivoBase
internal import InvivoObjects
internal import InvivoReload
internal import InvivoWiring

// wiring.h: resolving without waiting.

@c @implementation
public func invivo_resolve_async(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ resolved: (@convention(c) (UnsafeMutableRawPointer?, invivo_object, OpaquePointer?) -> Void)!,
    _ user_data: UnsafeMutableRawPointer!, _ deliver: invivo_domain, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let resolved else { throw Failure(.argument, "resolved is NULL") }
        let (container, id) = try keyed(runtime, key)
        if count == 0, deliver.bits == 0 {
            // A built object that this thread may use is handed over at once.
            var failed = FastResolve.Failed()
            let object = FastResolve.resolve(runtime.bits, key.bits, makes: false, failed: &failed)
            guard object == 0 else {
                return container.callback { resolved(user_data, invivo_object(bits: object), nil) }
            }
        }
        let domain = deliver.bits == 0 ? nil : try container.domains.domain(deliver.bits)
        let data = HostPointer(user_data)
        try Engine.find(runtime.bits).asyncResolver.resolve(id, try Value.borrowed(arguments, count), deliver: domain) {
            result in
            switch result {
            case .success(let object): resolved(data.raw, invivo_object(bits: object), nil)
            case .failure(let failure):
                let box = ErrorBox.make(failure)
                resolved(data.raw, invivo_object(), box)
                ErrorBox.release(box)
            }
        }
    }
}
