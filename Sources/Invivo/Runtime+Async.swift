internal import CInvivo

extension Runtime {
    /// The instance of a key, made where it belongs while the calling task waits: on one of the runtime's threads, or in the
    /// domain of its type. What is built is there at once.
    ///
    /// Only what may cross threads is handed over; of anything else ask for the `Object`.
    public func resolved<Value: Sendable>(
        _ key: Key<Value>, with arguments: any InvivoConvertible...
    ) async throws(InvivoError) -> Value {
        let object = try await core.resolved(key.handle, with: try arguments.values())
        return try core.value(of: object.handle, as: Value.self)
    }

    /// The object of a key by its name, whatever language made it, held until it is let go.
    public func resolvedObject(
        _ name: String, with arguments: any InvivoConvertible...
    ) async throws(InvivoError) -> Object {
        var key = invivo_key()
        try core.call(naming: name) { $0.pointee.key_find(core.handle, $1, &key, $2) }
        return try await core.resolved(key, with: try arguments.values())
    }
}

/// Who waits for an object. The C side has it from the call to the one answer.
private final class Waiting: Sendable {
    typealias Answer = Result<Object, InvivoError>
    let core: Core
    let continuation: CheckedContinuation<Answer, Never>
    /// Around the answer's making and its taking, which ThreadSanitizer does not see meet in the continuation.
    let making: Locked<Void>

    init(_ core: Core, _ continuation: CheckedContinuation<Answer, Never>, _ making: Locked<Void>) {
        self.core = core
        self.continuation = continuation
        self.making = making
    }
}

extension Definition where Value: Sendable {
    /// What it makes, made where it belongs while the calling task waits.
    public func resolved(_ arguments: repeat each Argument) async throws(InvivoError) -> Value {
        let bound = try standing()
        let core = bound.pointee.core.takeUnretainedValue()
        let object = try await core.resolved(bound.pointee.key, with: try values(core, repeat each arguments))
        return try core.value(of: object.handle, as: Value.self)
    }
}

extension Core {
    fileprivate func resolved(_ key: invivo_key, with arguments: [InvivoValue]) async throws(InvivoError) -> Object {
        let making = Locked(())
        let answer = await withCheckedContinuation { continuation in
            let pointer = Unmanaged.passRetained(Waiting(self, continuation, making))
            do throws(InvivoError) {
                try withArena { arena throws(InvivoError) in
                    let values = try InvivoValue.table(arguments, arena, self)
                    try call {
                        $0.pointee.resolve_async(
                            handle, key, values, arguments.count,
                            { data, object, error in
                                guard let data else { return }
                                let waiting = Unmanaged<Waiting>.fromOpaque(data).takeRetainedValue()
                                let answer = waiting.making.alone { waiting.core.answer(object, error) }
                                waiting.continuation.resume(returning: answer)
                            }, pointer.toOpaque(), invivo_domain(), $1)
                    }
                }
            } catch {
                pointer.release()
                continuation.resume(returning: .failure(error))
            }
        }
        making.alone {}
        return try answer.get()
    }

    /// Takes over the lease; the error is borrowed.
    private func answer(_ object: invivo_object, _ error: OpaquePointer?) -> Result<Object, InvivoError> {
        guard object.bits == 0 else { return .success(Object(taking: object, self)) }
        let status = table.pointee.error_code(error)
        return .failure(InvivoError(reading: error, status: status, table: table))
    }
}
