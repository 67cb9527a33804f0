internal import CInvivo

extension Runtime {
    /// Registers a scope of the program: each definition in it (`Definition.inScope`) has one shared object for each
    /// scope instance. Call it before the first of these definitions is activated.
    ///
    /// The closures are called without locks held, on the thread that resolves or releases.
    ///
    /// - Parameters:
    ///   - find: Returns the current scope instance of the calling code, as a number that the program chooses for a
    ///     request, a window or a document. Nil: no scope instance is current, and the resolve fails.
    ///   - keep: Called with each new object of a scope instance and its key's name.
    ///   - drop: Called with each object before its disposal, when it is not held any more.
    public func scope(
        _ name: String, keep: (@Sendable (_ place: UInt64, _ key: String, _ object: Object) -> Void)? = nil,
        drop: (@Sendable (_ place: UInt64, _ key: String) -> Void)? = nil,
        find: @escaping @Sendable () throws -> UInt64?
    ) throws(InvivoError) {
        var options = invivo_scope_options()
        options.struct_size = MemoryLayout<invivo_scope_options>.size
        options.find = { data, place, error in
            guard let data, let place else { return InvivoError.Code.internal.rawValue }
            let finder = Unmanaged<PlaceFinder>.fromOpaque(data).takeUnretainedValue()
            return answering(finder.core, error) { place.pointee = try finder.find() ?? 0 }
        }
        options.destroy = { data in if let data { Unmanaged<PlaceFinder>.fromOpaque(data).release() } }
        if keep != nil {
            options.keep = { data, place, key, object in
                guard let data else { return }
                let finder = Unmanaged<PlaceFinder>.fromOpaque(data).takeUnretainedValue()
                guard let held = try? Object(holding: object, finder.core, .component) else { return }
                let former = Planning.beginCallback()
                defer { Planning.endCallback(former) }
                finder.keep?(place, finder.core.keyName(key), held)
            }
        }
        if drop != nil {
            options.drop = { data, place, key, _ in
                guard let data else { return }
                let finder = Unmanaged<PlaceFinder>.fromOpaque(data).takeUnretainedValue()
                let former = Planning.beginCallback()
                defer { Planning.endCallback(former) }
                finder.drop?(place, finder.core.keyName(key))
            }
        }
        let finder = Unmanaged.passRetained(PlaceFinder(core, find, keep, drop))
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

    /// Ends a scope instance, and releases its objects, the newest first.
    public func endScope(_ name: String, at place: UInt64) throws(InvivoError) {
        try core.call(naming: name) { $0.pointee.scope_end(core.handle, $1, place, $2) }
    }
}

extension Definition {
    /// One object for each instance of a scope that was registered with `Runtime.scope`.
    public func inScope(_ name: String) -> Definition {
        with { draft in
            draft.isPlaced = true
            draft.more.append { definition, arena, _ in
                definition.scope = UInt32(INVIVO_SCOPE_HOST)
                definition.scope_name = try arena.name(name)
            }
        }
    }

    /// One object in each context of a kind, found in the nearest one from the current context upward. Without a kind: in each
    /// context in which it is resolved.
    public func inContext(_ kind: String? = nil) -> Definition { with { $0.scope = .context(kind: kind) } }

    /// One object in each context of a kind.
    public func inContext(_ kind: ContextKind) -> Definition { inContext(kind.name) }

    /// One object for each thread, until the thread ends.
    public func perThread() -> Definition { with { $0.scope = .thread } }
}

private final class PlaceFinder: Sendable {
    // The table that the scope's functions are called through lives as long as the runtime does.
    let core: Core
    let find: @Sendable () throws -> UInt64?
    let keep: (@Sendable (UInt64, String, Object) -> Void)?
    let drop: (@Sendable (UInt64, String) -> Void)?

    init(
        _ core: Core, _ find: @escaping @Sendable () throws -> UInt64?,
        _ keep: (@Sendable (UInt64, String, Object) -> Void)?, _ drop: (@Sendable (UInt64, String) -> Void)?
    ) {
        (self.core, self.find, self.keep, self.drop) = (core, find, keep, drop)
    }
}

extension Core {
    /// The name of a key; empty for a bad one.
    func keyName(_ key: invivo_key) -> String { String(text: table.pointee.key_name(key)) }
}
