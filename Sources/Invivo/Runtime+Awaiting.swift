internal import CInvivo

extension Runtime {
    /// The instance of a key, made where it belongs: no thread waits for it. For code that awaits, and for objects whose
    /// making takes long.
    public func resolve<Value: Sendable>(awaiting key: Key<Value>) async throws -> Value {
        try await core.resolve(awaiting: key.handle, [])
    }
}

extension Definition where Value: Sendable {
    /// What it makes, made where it belongs: no thread waits for it.
    public func resolved(_ arguments: repeat each Argument) async throws -> Value {
        guard let place, isActive else { throw notActive() }
        return try await place.core.resolve(awaiting: place.key, try values(place.core, repeat each arguments))
    }
}

extension Core {
    fileprivate func resolve<Value: Sendable>(
        awaiting key: invivo_key, _ arguments: [InvivoValue]
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let waiting = Waiting(self) { continuation.resume(with: $0) } as Waiting<Value>
            let pointer = Unmanaged.passRetained(waiting as AnyWaiting)
            do throws(InvivoError) {
                try withArena { arena throws(InvivoError) in
                    let values = try InvivoValue.table(arguments, arena, self)
                    try call {
                        $0.pointee.resolve_async(
                            handle, key, values, arguments.count,
                            { data, object, error in
                                guard let data else { return }
                                Unmanaged<AnyWaiting>.fromOpaque(data).takeRetainedValue().resolved(object, error)
                            }, pointer.toOpaque(), invivo_domain(), $1)
                    }
                }
            } catch {
                pointer.release()
                continuation.resume(throwing: error)
            }
        }
    }
}

/// Who waits for an object, without its type.
private class AnyWaiting {
    func resolved(_ object: invivo_object, _ error: OpaquePointer?) {}
}

private final class Waiting<Value>: AnyWaiting {
    private let core: Core
    private let resume: (Result<Value, any Error>) -> Void

    init(_ core: Core, _ resume: @escaping (Result<Value, any Error>) -> Void) {
        self.core = core
        self.resume = resume
    }

    override func resolved(_ object: invivo_object, _ error: OpaquePointer?) {
        if let error {
            let status = core.table.pointee.error_code(error)
            return resume(.failure(InvivoError(reading: error, status: status, table: core.table)))
        }
        // Given back first: whoever awaits may close the runtime at once.
        let result = Result<Value, any Error> { try core.value(orNone: object, as: Value.self) }
        if object.bits != 0 { _ = core.table.pointee.object_release(object) }
        resume(result)
    }
}
