internal import CInvivo

/// Options for the life of a definition's objects.
extension Definition {
    /// There can be only one at a time (a port, a device), which the type's start takes and its stop gives back: a reload
    /// stops the former one before it makes the new one, and starts it again when it fails. Of a singleton or lazy singleton.
    public func exclusive() -> Definition { flagged(INVIVO_DEFINITION_EXCLUSIVE) }

    /// Blocks the definition while a dependency (a definition or a configuration value) is missing. The reload that
    /// adds the dependency activates it.
    ///
    /// Meanwhile, resolving it fails with the code `dormant` and names the missing dependencies; `Runtime.states` lists
    /// them, too.
    public func waits() -> Definition { flagged(INVIVO_DEFINITION_WAITS) }

    /// Tracks live objects of prototype or graph scope: a reload injects changed dependencies of their properties and
    /// methods again. For confined types.
    public func tracked() -> Definition { flagged(INVIVO_DEFINITION_TRACKED) }

    /// The limits for starting and stopping one of its objects; they replace those of `Runtime.Options`.
    public func deadlines(start: Duration? = nil, stop: Duration? = nil) -> Definition {
        saying { draft in
            draft.more.append { definition, _, _ in
                if let start { definition.start_timeout_ms = max(1, start.milliseconds) }
                if let stop { definition.stop_timeout_ms = max(1, stop.milliseconds) }
            }
        }
    }

    private func flagged(_ flag: Int) -> Definition {
        saying { draft in draft.more.append { definition, _, _ in definition.flags |= UInt32(flag) } }
    }
}
