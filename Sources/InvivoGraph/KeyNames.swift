public import InvivoBase

/// The ids of a runtime's keys and configuration paths. Ids are only added and outlive every generation. Any thread.
public struct KeyNames: Sendable {
    /// The table, for the functions of it that need no lock.
    let table: KeyTable
    private let monitor: Monitor

    /// Creates the view of a table that `monitor` guards.
    public init(_ table: KeyTable, guardedBy monitor: Monitor) {
        self.table = table
        self.monitor = monitor
    }

    /// Creates an empty table of its own.
    public init() { self.init(KeyTable(owner: 0), guardedBy: Monitor()) }

    /// Returns the id of a key, or nil if nothing has named it yet.
    public func id(of key: String) -> UInt32? { monitor.locked { table.id(of: key) } }

    public func name(_ id: UInt32) -> String { monitor.locked { table.name(id) } }

    /// Returns a key or configuration path, for messages.
    public func shown(_ id: UInt32) -> String { configPath(id) ?? name(id) }

    /// Returns the offset of the name of an id, or nil for an unknown id. Names never move.
    func offset(of id: UInt32) -> UInt32? { monitor.locked { table.offset(of: id) } }

    /// Returns the offset of a key's name, or nil if nothing has named it yet.
    func offset(of key: String) -> UInt32? { monitor.locked { table.id(of: key).flatMap(table.offset(of:)) } }

    /// The name of a key; nil for an id that was not given.
    public func known(_ id: UInt32) -> String? { monitor.locked { Int(id) < table.count ? table.name(id) : nil } }

    /// Whether an id was given to a key.
    public func isKnown(_ id: UInt32) -> Bool { monitor.locked { Int(id) < table.count } }

    /// Returns the id of a key, which it adds if necessary.
    public func intern(_ key: String) throws(Failure) -> UInt32 {
        guard !key.isEmpty else { throw Failure(.argument, "a key needs a name") }
        guard !KeyTable.isReserved(key) else { throw Failure(.argument, "a key does not begin with U+0001") }
        return try monitor.locked { () throws(Failure) -> UInt32 in try table.intern(key) }
    }

    /// Returns the id of a configuration path, or nil if nothing has named it yet.
    public func id(ofConfig path: String) -> UInt32? { monitor.locked { table.id(ofConfig: path) } }

    /// Returns the id of a configuration path, which it adds if necessary.
    public func intern(config path: String) throws(Failure) -> UInt32 {
        try monitor.locked { () throws(Failure) in try table.intern(config: path) }
    }

    /// Returns the configuration path of an id, or nil for the id of a key.
    public func configPath(_ id: UInt32) -> String? {
        monitor.locked { table.configPath(id).map { String(cString: $0) } }
    }
}
