internal import CInvivo

extension Runtime {
    /// A scope of the program's own: one shared instance for each place, of each definition that is in it
    /// (`Definition.inScope`). Before the first of them takes effect.
    ///
    /// - Parameter find: Where the calling code is: a number of the program's choosing for a request, a window, a document.
    ///   Nil: nowhere, and the resolve fails.
    public func scope(_ name: String, find: @escaping @Sendable () throws -> UInt64?) throws(InvivoError) {
        var options = invivo_scope_options()
        options.struct_size = MemoryLayout<invivo_scope_options>.size
        options.find = { data, place, error in
            guard let data, let place else { return InvivoError.Code.internal.rawValue }
            let finder = Unmanaged<PlaceFinder>.fromOpaque(data).takeUnretainedValue()
            return answering(finder.core.table, error) { place.pointee = try finder.find() ?? 0 }
        }
        options.destroy = { data in if let data { Unmanaged<PlaceFinder>.fromOpaque(data).release() } }
        let finder = Unmanaged.passRetained(PlaceFinder(core, find))
        options.user_data = finder.toOpaque()
        do throws(InvivoError) {
            try withArena { arena throws(InvivoError) in
                options.name = try arena.name(name)
                try core.call { $0.pointee.scope_register(core.handle, &options, $1) }
            }
        } catch {
            finder.release()
            throw error
        }
    }

    /// Ends a place of a scope: what was made there is let go, last made first.
    public func endScope(_ name: String, at place: UInt64) throws(InvivoError) {
        try core.call(naming: name) { $0.pointee.scope_end(core.handle, $1, place, $2) }
    }
}

extension Definition {
    /// One for each place of a scope of the program's own, which the runtime was given by `Runtime.scope`.
    public func inScope(_ name: String) -> Definition {
        saying { draft in
            draft.more.append { definition, arena, _ in
                definition.scope = UInt32(INVIVO_SCOPE_HOST)
                definition.scope_name = try arena.name(name)
            }
        }
    }

    /// One for each thread, until it ends.
    public func perThread() -> Definition { saying { $0.scope = .thread } }
}

private final class PlaceFinder: Sendable {
    // The table that the scope's functions are called through lives as long as the runtime does.
    let core: Core
    let find: @Sendable () throws -> UInt64?
    init(_ core: Core, _ find: @escaping @Sendable () throws -> UInt64?) { (self.core, self.find) = (core, find) }
}
