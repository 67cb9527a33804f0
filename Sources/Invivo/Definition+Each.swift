internal import CInvivo

/// Definitions of which there is one for each entry of the configuration.
extension Definition {
    /// There is one of it for each entry of the map or list at a path of the configuration, with the key `assembly.name[entry]`:
    ///
    ///     let voice = lazySingleton(wired(.entryName, .entry("note", default: 60), by: Voice.init)).each("voices")
    ///     …
    ///     let lead = try synth.voice.entry("lead")
    ///
    /// An entry that comes, goes or changes concerns its own one alone. Entries of a map go by their keys; of a list by their
    /// text or number, or, where they are maps, by what they say under `name`.
    public func each(_ path: String) -> Definition {
        saying { draft in
            draft.isPattern = true
            draft.more.append { definition, arena, _ in definition.each = try arena.name(path) }
        }
    }

    /// What it makes for an entry.
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
    /// In a definition with `each`: what its entry says at a path below it; the empty path is the entry itself.
    public static func entry(_ path: String = "") -> Injection { Injection(.entry(path, nil)) }

    /// The same, or the default where the entry says nothing.
    public static func entry(_ path: String = "", default value: some InvivoConvertible) -> Injection {
        Injection(.entry(path, Inner(.value(value))))
    }

    /// In a definition with `each`: the name of its entry.
    public static var entryName: Injection { Injection(.entryName) }

    /// A callable that resolves the key it is called with, further arguments passed on: for parts of other languages. Swift
    /// closures take a `Resolver`.
    public static var resolver: Injection { Injection(.resolver) }

    /// Of `.all`, in a property of a described type that is named: methods of the object that it goes into, each taking one
    /// object. When candidates come or go later they are called instead of setting the whole list again: `removed` with what
    /// went or is replaced, then `added` with what came.
    ///
    ///     lazySingleton(Mixer.init).inject("voices", .all(Voice.self).hearing(added: "add", removed: "remove"))
    public func hearing(added: String, removed: String) -> Injection {
        var copy = self
        copy.hears = (added, removed)
        return copy
    }
}
