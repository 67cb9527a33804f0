public import InvivoBase
public import InvivoGraph

/// The changes as the authors of a set write them. A reload reads the parts of the set.
extension ChangeSet {
    public var definitions: [Definition] {
        get { keys.definitions }
        _modify { yield &keys.definitions }
    }

    public var removed: [(id: UInt32, key: String)] {
        get { keys.removed }
        _modify { yield &keys.removed }
    }

    /// New base values: key, property, value.
    public var bases: [(id: UInt32, property: String, value: Value)] {
        get { keys.bases }
        _modify { yield &keys.bases }
    }

    public var processors: [Processor] {
        get { processorChanges.added }
        set { processorChanges.added = newValue }
    }

    public var removedProcessors: [String] {
        get { processorChanges.removed }
        set { processorChanges.removed = newValue }
    }

    /// Keys whose shared instances are dropped, alone or with all their dependencies.
    public var resets: [(id: UInt32, key: String, withDependencies: Bool)] {
        get { rebuilds.keys }
        set { rebuilds.keys = newValue }
    }

    /// Scopes whose shared instances are dropped.
    public var resetScopes: Set<Scope> {
        get { rebuilds.scopes }
        set { rebuilds.scopes = newValue }
    }

    /// Counts the time of a set that was written over a while from its commit.
    public mutating func started() {
        let now = monotonicNow()
        events = now...now
    }

    /// Sets the content of the document in memory with this name. The last call wins.
    public mutating func say(_ content: Content, in name: String) { documents.say(content, in: name) }

    /// Opens a document with the set: its content is part of the same reload.
    public mutating func open(_ document: NewDocument) { documents.open(document) }

    /// Opens a document below the documents of `open`, and above those that were opened below before.
    public mutating func openBelow(_ document: NewDocument) { documents.openBelow(document) }

    /// Drops the definitions of keys that are removed later, with the definitions that are inline in them.
    public mutating func withdraw(_ keys: [(id: UInt32, key: String)]) { self.keys.withdraw(keys) }
}
