internal import CInvivo

extension Runtime {
    /// Runs `body` in a pin: all its reads answer from one generation, whatever reloads commit meanwhile.
    ///
    ///     let answer = try runtime.pinned { () throws in try handle(request, with: runtime[player], runtime.config("limits")) }
    ///
    /// This holds for resolves, providers, lazies, views, blocks and the configuration, on the calling thread. An object
    /// that was replaced since is the former one; it is built for the generation of the pin if it was not built before.
    /// Exclusive objects, pools, and what a reload sets in objects that are not `Sendable` are the newest. A change set
    /// that `body` commits is a change of the current generation. Pins nest: an inner one keeps the same generation.
    ///
    /// Fails with `.busy` if the thread has an open view of another generation, and with `.closed`. A pin that is older
    /// than `Options.pinMaximumAge` is logged with the place where it began.
    public func pinned<Result>(
        file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> Result
    ) throws -> Result {
        let pin = try begun(file, line)
        defer { _ = core.table.pointee.pin_end(pin) }
        return try body()
    }

    /// Runs `body` in a pin that follows the task: all its reads answer from one generation, whatever reloads commit meanwhile.
    ///
    ///     let answer = try await runtime.pinned { try await respond(to: request, with: runtime) }
    ///
    /// This holds on every thread and actor that runs the task, in its child tasks, and in tasks that `body` starts with
    /// `Task { }`. A task that outlives the pin reads the current generation. Otherwise it is the same as with a closure that does
    /// not await. While such a pin is open, each read outside of a view enters it, which costs about as much as a pin.
    @_disfavoredOverload  // a closure that does not await runs in a pin of its thread
    public func pinned<Result>(
        file: StaticString = #fileID, line: UInt = #line, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let pin = TaskPin(core, try begun(file, line, isThreads: false))
        defer { pin.end() }
        return try await TaskPin.$current.withValue(pin, operation: body)
    }

    private func begun(
        _ file: StaticString, _ line: UInt, isThreads: Bool = true
    ) throws(InvivoError) -> invivo_pin {
        var place = invivo_place(
            file: UnsafeRawPointer(file.utf8Start).assumingMemoryBound(to: CChar.self), line: UInt32(clamping: line),
            reserved: 0)
        let table = core.table.pointee
        // An inner pin keeps the same generation.
        let pin = core.inTaskPin {
            isThreads ? table.pin_begin(core.handle, &place) : table.pin_hold(core.handle, &place)
        }
        guard pin.bits == 0 else { return pin }
        _ = try generation
        throw InvivoError(
            .busy, "the calling thread has an open view of another generation: end the view before a pin begins",
            file: "\(file)", line: Int(line))
    }
}
