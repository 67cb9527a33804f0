internal import CInvivo

/// A kind of contexts, such as `session` or `request`. `Runtime.declareContexts` declares it.
public struct ContextKind: Sendable, Hashable {
    /// How the contexts of a kind take part in reloads.
    public enum Policy: UInt32, Sendable {
        /// Their objects follow reloads.
        case follows = 1
    }

    /// The name of the kind.
    public var name: String
    /// How its contexts take part in reloads.
    public var policy: Policy
    /// The keys of the values that each context of the kind has from its opening on. They do not change while it is open.
    public var provides: [String]
    /// Further keys of such values, which may change while the context is open.
    public var live: [String]

    /// Creates a kind.
    ///
    /// - Parameters:
    ///   - provides: The keys of values that must be there when a context of the kind opens, and do not change.
    ///   - live: The keys of further values that must be there, and may change.
    public init(_ name: String, policy: Policy, provides: [String] = [], live: [String] = []) {
        (self.name, self.policy, self.provides, self.live) = (name, policy, provides, live)
    }
}

extension Runtime {
    /// Declares kinds of contexts, from the outermost to the innermost. They follow those that are declared already.
    ///
    ///     try runtime.declareContexts([
    ///         ContextKind("session", policy: .follows),
    ///         ContextKind("request", policy: .follows, provides: ["user"]),
    ///     ])
    ///
    /// A context of a kind is opened in contexts of the same kind or of outer ones. Declaring a kind again with the same content is a
    /// no-op; with other content it is an error (`InvivoError.Code.exists`). All kinds are added, or none.
    public func declareContexts(_ kinds: [ContextKind]) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            var table: [invivo_context_kind] = []
            for kind in kinds {
                var provided: [invivo_context_provided] = []
                for key in kind.provides { provided.append(.init(key: try arena.name(key), flags: 0, reserved: 0)) }
                for key in kind.live {
                    provided.append(
                        .init(key: try arena.name(key), flags: UInt32(INVIVO_PROVIDED_LIVE), reserved: 0))
                }
                var raw = invivo_context_kind()
                raw.struct_size = MemoryLayout<invivo_context_kind>.size
                raw.name = try arena.name(kind.name)
                raw.policy = kind.policy.rawValue
                raw.provides = UnsafePointer(arena.table(provided))
                raw.provided_count = UInt64(provided.count)
                table.append(raw)
            }
            let raw = arena.table(table)
            try core.call { $0.pointee.context_declare_kinds(core.handle, raw, table.count, $1) }
        }
    }
}
