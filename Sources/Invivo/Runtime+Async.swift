internal import CInvivo

extension Runtime {
    /// Resolves a key while the calling task waits. The instance is created on one of the runtime's threads, or in the
    /// domain of its type. A built instance is returned immediately.
    ///
    /// The value must be `Sendable`. For other values, resolve the `Object`.
    public func resolved<Value: Sendable>(
        _ key: Key<Value>, with arguments: any InvivoConvertible...
    ) async throws(InvivoError) -> Value {
        let object = try await core.resolved(key.handle, with: try arguments.values())
        return try core.value(of: object.handle, as: Value.self)
    }

    /// Resolves a key by its name to an object of any language, held until it is released.
    public func resolvedObject(
        _ name: String, with arguments: any InvivoConvertible...
    ) async throws(InvivoError) -> Object {
        var key = invivo_key()
        try core.call(naming: name) { $0.pointee.key_find(core.handle, $1, &key, $2) }
        return try await core.resolved(key, with: try arguments.values())
    }
}

/// A task that waits for an object. C owns it from the call until the only answer.
private final class Waiting: Sendable {
    /// Plain data: the task takes over the lease, so that the answering thread holds no reference to the object when
    /// the task continues.
    typealias Answer = Result<invivo_object, InvivoError>
    let library: SharedTable
    let continuation: CheckedContinuation<Answer, Never>
    /// Held while the answer is created and while it is taken: ThreadSanitizer does not see that the continuation orders them.
    let making: Locked<Void>

    init(_ library: SharedTable, _ continuation: CheckedContinuation<Answer, Never>, _ making: Locked<Void>) {
        self.library = library
        self.continuation = continuation
        self.making = making
    }

    /// The error is borrowed.
    func answer(_ object: invivo_object, _ error: OpaquePointer?) -> Answer {
        guard object.bits == 0 else { return .success(object) }
        let table = library.table
        return .failure(InvivoError(reading: error, status: table.pointee.error_code(error), table: table))
    }
}

extension Definition where Value: Sendable {
    /// Resolves the object while the calling task waits. It is created in its domain.
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
            let pointer = Unmanaged.passRetained(Waiting(SharedTable(table: table), continuation, making))
            do throws(InvivoError) {
                try withArena { arena throws(InvivoError) in
                    let values = try InvivoValue.table(arguments, arena, self)
                    try call {
                        $0.pointee.resolve_async(
                            handle, key, values, arguments.count,
                            { data, object, error in
                                guard let data else { return }
                                let waiting = Unmanaged<Waiting>.fromOpaque(data).takeRetainedValue()
                                let answer = waiting.making.alone { waiting.answer(object, error) }
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
        return Object(taking: try answer.get(), self)
    }
}
