internal import CInvivo

/// The origin of a document. Later documents win over earlier ones.
///
/// It stays open until `close`, or until the runtime is closed. Dropping the last reference does not close it.
public final class Source: Sendable {
    private let core: Core
    private let handle: invivo_source

    init(_ core: Core, _ handle: invivo_source) {
        self.core = core
        self.handle = handle
    }

    init(_ core: Core, path: String?, name: String?, text: String?, _ flags: UInt32) throws(InvivoError) {
        var handle = invivo_source()
        try withArena { arena throws(InvivoError) in
            var options = invivo_source_options()
            options.struct_size = MemoryLayout<invivo_source_options>.size
            options.path = try arena.name(path)
            options.name = try arena.name(name)
            (options.text, options.length) = try arena.document(text)
            options.flags = flags
            try core.call { $0.pointee.source_open(core.handle, &options, &handle, $1) }
        }
        self.core = core
        self.handle = handle
    }

    /// Replaces the text of a document in memory: one reload, complete when this returns.
    public func update(_ text: String) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            let (data, length) = try arena.document(text)
            try core.call { $0.pointee.source_update(handle, data, length, $1) }
        }
    }

    /// Reads a file now, without waiting for an event. Its reload is complete when this returns.
    public func refresh() throws(InvivoError) { try core.call { $0.pointee.source_refresh(handle, $1) } }

    /// Reads the file now, as `refresh`. Bytes that a rollback refused are tried again.
    public func retry() throws(InvivoError) { try core.call { $0.pointee.source_retry(handle, $1) } }

    /// Stops following the document and removes its effects, as a reload. The commit of a change set fails when one of
    /// its sources was closed before.
    public func close() throws(InvivoError) { try core.call { $0.pointee.source_close(handle, $1) } }
}

extension Runtime {
    /// Follows a file through renames, links and re-creation, for the life of the runtime. It is read, checked and
    /// committed before this returns; with `waiting`, it may be missing or invalid for now. With `keepingGoing`, traits with
    /// errors are skipped, with a warning each, and the rest of the document applies.
    @discardableResult
    public func watch(
        _ path: String, waiting: Bool = false, keepingGoing: Bool = false
    ) throws(InvivoError) -> Source {
        try Source(core, path: path, name: nil, text: nil, sourceFlags(waiting, keepingGoing))
    }

    /// Applies a document in memory; it is committed before this returns. The extension of the name selects YAML or
    /// JSON. With `keepingGoing`, traits with errors are skipped, with a warning each.
    public func source(
        _ name: String, _ text: String, keepingGoing: Bool = false
    ) throws(InvivoError) -> Source {
        try Source(core, path: nil, name: name, text: text, sourceFlags(false, keepingGoing))
    }
}

private func sourceFlags(_ waiting: Bool, _ keepingGoing: Bool) -> UInt32 {
    UInt32((waiting ? INVIVO_SOURCE_WAIT : 0) | (keepingGoing ? INVIVO_SOURCE_KEEP_GOING : 0))
}

extension ChangeSet {
    /// Follows a file from the commit on. Its content is part of the same reload: a value that a definition of the set requires may
    /// come from it, and it may have traits for keys of the set. A set that is not committed follows nothing.
    ///
    /// With `waiting`, the set is committed without the file where that is not there or not good yet. With `keepingGoing`, traits
    /// with errors are skipped, with a warning each.
    @discardableResult
    public func watch(
        _ path: String, waiting: Bool = false, keepingGoing: Bool = false
    ) throws(InvivoError) -> Source {
        var source = invivo_source()
        try withArena { arena throws(InvivoError) in
            var options = invivo_source_options()
            options.struct_size = MemoryLayout<invivo_source_options>.size
            options.path = try arena.name(path)
            options.flags = sourceFlags(waiting, keepingGoing)
            try core.call { $0.pointee.changes_watch(handle, &options, &source, $1) }
        }
        return Source(core, source)
    }
}

/// A live object that is attached to a key of the documents. It is detached when the target is released or the runtime
/// closes, and then has its own values again.
public final class Target: Sendable {
    /// The object that is attached.
    public let object: Object
    private let handle: invivo_target

    init(_ object: Object, _ key: String) throws(InvivoError) {
        var handle = invivo_target()
        try object.core.call(naming: key) { $0.pointee.target_attach(object.handle, $1, &handle, $2) }
        self.object = object
        self.handle = handle
    }

    /// In a callback, which must not wait, the target is detached soon, and its object retained until then.
    deinit {
        do throws(InvivoError) { try detach() } catch {
            guard error.code == .wouldWait || error.code == .inCallback else { return }
            try? object.core.call { $0.pointee.target_detach_later(handle, $1) }
        }
    }

    /// Removes the layers of documents, restores the base values exactly, and releases the object.
    public func detach() throws(InvivoError) { try object.core.call { $0.pointee.target_detach(handle, $1) } }
}

extension Runtime {
    /// Attaches a live instance of a described class to a key. The layers of documents are applied now and at every
    /// reload, until the target is detached.
    ///
    /// In a setup, the target belongs to the object that is set up: it is attached by a change set that follows the commit, and
    /// is detached with the teardown, not with the release of the result. The instance must be an `Object` then: others end with the
    /// result.
    public func attachTarget(_ instance: AnyObject, _ key: String) throws(InvivoError) -> Target {
        if let object = instance as? Object {
            try object.require(in: core)
            return try Target(object, key)
        }
        return try Target(try object(for: instance), key)
    }

    /// Declares that targets of this key and type will be attached, so that documents may refer to the key before.
    public func declareTarget(_ key: String, _ type: TypeReference) throws(InvivoError) {
        try core.call(naming: key) { $0.pointee.target_declare(core.handle, $1, type.handle, $2) }
    }
}
