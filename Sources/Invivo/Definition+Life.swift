internal import CInvivo

/// What is said of the life of a definition's objects.
extension Definition {
    /// There can be only one at a time (a port, a device), which the type's start takes and its stop gives back: a reload
    /// stops the former one before it makes the new one, and starts it again when it fails. Of a singleton or lazy singleton.
    public func exclusive() -> Definition { flagged(INVIVO_DEFINITION_EXCLUSIVE) }

    /// Lies dormant while something that it needs (a definition, a value of the configuration) is not there, and is activated
    /// by the reload that brings it. Resolving it
    /// meanwhile fails with the code `dormant` and says what it waits for; `Runtime.states` does too.
    public func waits() -> Definition { flagged(INVIVO_DEFINITION_WAITS) }

    /// A reload injects into the instances alive what they got by property or method and is new. Of prototypes and of graph
    /// scope, of types that are confined.
    public func tracked() -> Definition { flagged(INVIVO_DEFINITION_TRACKED) }

    /// How long starting and stopping one of its objects may take, in the place of what `Runtime.Options` say.
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
