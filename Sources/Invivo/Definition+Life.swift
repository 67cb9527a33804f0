internal import CInvivo

/// Options for the life of a definition's objects.
extension Definition {
    /// Allows only one object at a time, such as for a port or a device, which the type's start acquires and its stop
    /// releases.
    ///
    /// A reload stops the former object before it creates the new one, and starts the former one again if it fails. For
    /// singletons and lazy singletons.
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

    /// A change of the definition takes effect when its object is next created: at the next start of the program, or when a
    /// change set resets it. `Runtime.status` lists such changes. For singletons and lazy singletons. Objects and values that it has
    /// by injection stay, too, unless `onChange` declares something else.
    public func restart() -> Definition { flagged(INVIVO_DEFINITION_RESTART) }

    /// Declares how its objects follow changes of what they receive by injections that do not declare it themselves. Objects
    /// that a factory resolves are followed as before: inject them to declare something else. `reason` explains in the error why `refuse` refuses a change.
    public func onChange(_ onChange: OnChange, reason: String? = nil) -> Definition {
        with { draft in
            draft.more.append { definition, arena, _ in
                definition.on_change = onChange.rawValue
                definition.on_change_reason = try arena.name(reason)
            }
        }
    }

    /// Names the key in `traits:` of documents whose traits apply to its objects, instead of its own key. Several definitions may
    /// name one key, which needs no definition of its own. With nil, no traits apply.
    public func specKey(_ key: String?) -> Definition {
        with { draft in
            draft.more.append { definition, arena, _ in
                definition.spec_key = try arena.name(key ?? INVIVO_SPEC_KEY_NONE)
            }
        }
    }

    /// The limits for starting and stopping one of its objects; they replace those of `Runtime.Options`.
    public func deadlines(start: Duration? = nil, stop: Duration? = nil) -> Definition {
        with { draft in
            draft.more.append { definition, _, _ in
                if let start { definition.start_timeout_ms = max(1, start.milliseconds) }
                if let stop { definition.stop_timeout_ms = max(1, stop.milliseconds) }
            }
        }
    }

    private func flagged(_ flag: Int) -> Definition {
        with { draft in draft.more.append { definition, _, _ in definition.flags |= UInt32(flag) } }
    }
}
