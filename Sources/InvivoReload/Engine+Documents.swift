public import InvivoBase
public import InvivoConfig
public import InvivoGraph
public import InvivoLoop
public import InvivoObjects
internal import InvivoWiring

extension Engine {
    /// Opens a document and commits its content. With `waits`, a file may be missing or invalid for now.
    public func openDocument(_ new: NewDocument) throws(Failure) -> Document {
        var set = ChangeSet(Cause(new.document.cause, new.document.name))
        set.open(new)
        try reloader.commit(set)
        return new.document
    }

    /// A file for a change set to open. It is read by the commit, and followed from then on.
    ///
    /// - Parameters:
    ///   - isTrusted: whether it may read files by `include:` and `file:`, and change definitions by `wiring:`.
    ///   - keepsGoing: whether traits with errors are skipped.
    public func newDocument(
        _ path: FilePath, name: String, waits: Bool, isTrusted: Bool = true, keepsGoing: Bool = false
    ) -> NewDocument {
        let document = Document(name: name, path: path, container, isTrusted: isTrusted)
        document.keepsGoing = keepsGoing
        return NewDocument(document, .file(.asked), waits: waits)
    }

    /// A document in memory for a change set to open.
    public func newDocument(
        _ content: ChangeSet.Content, name: String, keepsGoing: Bool = false
    ) -> NewDocument {
        let document = Document(name: name, path: nil, container)
        document.keepsGoing = keepsGoing
        return NewDocument(document, content, waits: false)
    }

    public func update(_ document: Document, text: [UInt8]) throws(Failure) {
        guard document.path == nil else {
            throw Failure(.unsupported, "'\(document.name)' is a file: write the file, then refresh")
        }
        try commit(document, .bytes(text))
    }

    /// Reads a file and the files that it includes again. With `retrying`, bytes that a rollback refused are tried, too.
    public func refresh(_ document: Document, retrying: Bool = false) throws(Failure) {
        guard document.path != nil else { return }
        try commit(document, .file(.asked), retrying: retrying)
    }

    private func commit(
        _ document: Document, _ content: ChangeSet.Content, retrying: Bool = false
    ) throws(Failure) {
        try reloader.commit(ChangeSet(Cause(document.cause, document.name))) { (set) throws(Failure) in
            switch documents.phase(of: document) {
            case .open: break
            case .closed: throw .badHandle(document.handleBits, .source)
            case .new:
                throw Failure(
                    .notReady, "the change set that opens the source is not committed yet",
                    at: Location(file: document.name))
            }
            set.documents.set(content, of: document)
            let files = document.path == nil ? [] : documents.included.reachable(from: document)
            for file in files { set.documents.set(.file(.asked), of: file) }
            if retrying { for document in [document] + files { documents.retry(document) } }
        }
    }

    /// Copies the environment on this thread. If it has changed, the documents that name a changed variable are read again, and
    /// the layer of the environment changes: one reload. If it fails, the former copy stays.
    public func refreshEnvironment() throws(Failure) {
        try reloader.commit(ChangeSet(Cause(.environment))) { (set) throws(Failure) in
            let copy = Environment.copy()
            if !copy.isSame(as: generations.snapshot.config.environment) { set.rebuilds = [.environment(copy)] }
        }
    }

    /// Advances the clock of the properties that move, and makes one step of them.
    public func advance(by nanoseconds: UInt64) throws(Failure) {
        try reloader.ramps.advance(by: nanoseconds, limit: container.options.current.commitTimeout)
    }

    /// Closes a document. One that no set has opened yet is left out of the set.
    public func close(_ document: Document) throws(Failure) {
        try turns.take()
        let isNew = documents.closeIfNew(document)
        turns.end()
        if !isNew {
            try reloader.commit(ChangeSet(Cause(.close, document.name))) { (set) throws(Failure) in
                guard documents.phase(of: document) == .open else { throw .badHandle(document.handleBits, .source) }
                set.documents.set(.none, of: document)
            } then: {
                documents.setClosed(document)
            }
        }
        documents.unfollow(document)
        document.closeHandle()
        if isNew { documents.endIdleFollowing() }
    }

    // MARK: documents as text

    /// Writes a live document, with references to files and environment variables as they were written.
    public func text(ofDocument name: String, asJson: Bool) throws(Failure) -> String {
        try turns.take()
        defer { turns.end() }
        return try texts.text(ofDocument: name, as: asJson ? .json : .yaml)
    }

    /// Writes the traits of a key, or of all keys, in one live document or in all of them.
    public func text(ofTraits key: String?, in document: String?, asJson: Bool) throws(Failure) -> String {
        try turns.take()
        defer { turns.end() }
        return try texts.text(ofTraits: key, in: document, as: asJson ? .json : .yaml)
    }

    private var texts: DocumentTexts {
        DocumentTexts(documents: generations.snapshot.documents, limits: container.options.current.specLimits)
    }

    // MARK: former content

    /// Brings the content of a former generation back, as a reload.
    public func rollBack(to generation: UInt64) throws(Failure) {
        var set = ChangeSet()
        set.restore(generation)
        try commit(set)
    }

    /// The kept generations, the oldest first. The last one is the current one.
    public var history: [KeptGeneration] { generations.history.generations }

    /// Keeps the current generation under a name, until that is ended or given to another one. Returns its number.
    public func mark(_ name: String) throws(Failure) -> UInt64 {
        guard !name.isEmpty else { throw Failure(.argument, "a mark needs a name") }
        guard !container.monitor.locked({ container.isClosing }) else {
            throw Failure(.closed, "the runtime is closing")
        }
        return generations.history.mark(name)
    }

    public func unmark(_ name: String) throws(Failure) {
        if !generations.history.unmark(name) { _ = try marked(name) }
    }

    /// Returns the number of the generation with a mark.
    public func marked(_ name: String) throws(Failure) -> UInt64 { try generations.history.marked(name) }

    // MARK: configuration

    /// The id of a path, for reading in views as a value of a kind.
    public func configID(_ path: String, _ kind: ValueKind) throws(Failure) -> UInt32 {
        let path = try ConfigPath.checked(path)
        let graph = container.currentGraph()
        let (id, isStored) = try container.monitor.locked { () throws(Failure) -> (UInt32, Bool) in
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closed") }
            let id = try container.keys.intern(config: path)
            container.registry.configReads.note(id)
            guard kind != .any else { return (id, true) }
            var isStored = true
            if let node = graph.setting(id)?.node {
                let former = container.registry.configReads.hostKinds[id] ?? []
                let kinds = former.union([kind])
                for one in kinds { try node.require(one, kinds, at: path) }
                isStored = node.value(for: kinds).isSame(as: node.value(for: former))
            }
            container.registry.configReads.note(id, as: kind)
            return (id, isStored)
        }
        if !isStored {
            var set = ChangeSet(Cause(.environment))
            set.rebuilds = [.setting(path: path)]
            try reloader.commit(set)
        }
        return id
    }

    /// The id of a binding of settings, for reading in views.
    public func settingsID(_ name: String) throws(Failure) -> UInt32 {
        if let id = container.names.id(ofConfig: KeyTable.path(ofSettings: name)) { return id }
        let known = generations.snapshot.constraints.bindings.names.sorted()
        throw Failure(
            .notFound, "no binding of settings has the name '\(name)'\(suggestion(for: name, among: known))", path: name
        )
    }

    /// The id of a binding whose values are read as a type.
    public func settingsID(_ name: String, as reader: SettingsReader) throws(Failure) -> UInt32 {
        let id = try settingsID(name)
        try generations.snapshot.constraints.bindings[name]?.requireValues(of: reader)
        modules.settings.note(reader, of: name)
        return id
    }

    /// Returns the value of a binding for code that has an open view.
    public func settings(_ id: UInt32, in view: Graph) throws(Failure) -> SettingsValue {
        if let value = container.visibleGraph(in: view).bound(id) { return value }
        let name = container.names.configPath(id).map { String($0.dropFirst()) } ?? ""
        throw Failure(.notFound, "no binding of settings has the name '\(name)'", path: name)
    }

    /// Returns the value at a path. The error about a missing one suggests a similar path if `isRead`.
    public func configuration(_ path: String, isRead: Bool) throws(Failure) -> Value {
        let path = try ConfigPath.checked(path)
        let graph = container.visibleGraph
        if path.isEmpty {
            let id = container.monitor.locked { container.keys.id(ofConfig: "") }
            return id.flatMap { graph.setting($0) }?.node.value ?? .map([])
        }
        if let id = container.monitor.locked({ container.keys.id(ofConfig: path) }), let there = graph.setting(id) {
            return there.node.value
        }
        if container.monitor.locked({ container.isClosing }) { throw Failure(.closed, "the runtime is closed") }
        let root = container.monitor.locked { container.keys.id(ofConfig: "") }.flatMap { graph.setting($0) }
        let tree = root.map { ConfigTree(root: $0.node) } ?? ConfigTree()
        let near = isRead ? tree.nearestPath(to: path) : nil
        throw Failure(.notConfigured, "the configuration has no value at '\(path)'\(suggestion(near))", path: path)
    }

    /// Returns the secret paths of the newest generation, and those that a change set adds.
    public func secretPaths(with set: ChangeSet) -> SecretPaths {
        SecretPaths(generations.snapshot.config.secrets.parts(of: "") + set.secretPaths.map(ConfigPath.whole))
    }

    /// Whether the value at a path is secret, or a part of it, in the generation that the calling thread reads.
    public func isSecret(_ path: String) -> Bool { container.visibleGraph.secrets.touches(path) }

    /// Observes the value at a path: `changed` is called after each reload that changed it, or a value below it.
    public func observe(
        configuration path: String, _ functions: HostFunctions, domain: Domain?, destroy: (@Sendable () -> Void)?,
        changed: @escaping @Sendable (_ path: String, _ value: Value, _ generation: UInt64) -> Void
    ) throws(Failure) -> Observer {
        let path = try ConfigPath.checked(path)
        container.monitor.locked { if !path.isEmpty { container.registry.configReads.note(path) } }
        let callback: Observer.Callback = { report in
            guard let node = report.settings[path] else { return }
            changed(path, node?.value ?? .null, report.generation)
        }
        return try observe(
            .configuration(Name(path)), functions, domain: domain, destroy: destroy, .init(reloaded: callback))
    }
}
