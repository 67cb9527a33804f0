internal import CInvivo

/// Definitions of which there is one for each entry of the configuration.
extension Definition {
    /// Creates one definition for each entry of the map or list at a path of the configuration. Its key is
    /// `assembly.name[entry]`.
    ///
    ///     let voice = lazySingleton(wired(.entryName, .entry("note", default: 60), by: Voice.init)).each("voices")
    ///     …
    ///     let lead = try synth.voice.entry("lead")
    ///
    /// Adding, removing or changing an entry affects only that entry's instance. Entries of a map are named by their
    /// keys. Entries of a list are named by their string or number, or, if they are maps, by their value at `name`.
    public func each(_ path: String) -> Definition {
        with { draft in
            draft.isPattern = true
            draft.more.append { definition, arena, _ in definition.each = try arena.name(path) }
        }
    }

    /// Resolves the definition of an entry.
    public func entry(_ name: String, _ arguments: repeat each Argument) throws(InvivoError) -> Value {
        let bound = try standing()
        let core = bound.pointee.core.takeUnretainedValue()
        var key = invivo_key()
        let path = "\(place?.name ?? "")[\(name)]"
        try core.call(naming: path) { $0.pointee.key_find(core.handle, $1, &key, $2) }
        return try core.resolve(key, with: values(core, repeat each arguments), as: Value.self)
    }
}

extension Injection {
    /// In a definition with `each`: the value at a path below its entry; the empty path is the entry itself.
    public static func entry(_ path: String = "") -> Injection { Injection(.entry(path, nil)) }

    /// As above, with a default for a missing value.
    public static func entry(_ path: String = "", default value: some InvivoConvertible) -> Injection {
        Injection(.entry(path, Inner(.value(value))))
    }

    /// In a definition with `each`: the name of its entry.
    public static var entryName: Injection { Injection(.entryName) }

    /// A callable that resolves the key it is called with, further arguments passed on: for parts of other languages. Swift
    /// closures take a `Resolver`.
    public static var resolver: Injection { Injection(.resolver) }

    /// Notifies the holder of an `.all` list of changes by methods, instead of setting the whole list again. For a
    /// property of a described type that is set by its name.
    ///
    /// Each method takes one object. When candidates change later, `removed` is called with each candidate that was
    /// removed or replaced, then `added` with each new one.
    ///
    ///     lazySingleton(Mixer.init).inject("voices", .all(Voice.self).hearing(added: "add", removed: "remove"))
    public func hearing(added: String, removed: String) -> Injection {
        var copy = self
        copy.listeners = (added, removed)
        return copy
    }
}
