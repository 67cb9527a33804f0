internal import InvivoBase
public import InvivoConfig
internal import InvivoGraph

extension Container {
    /// Under the monitor: a path that something other than a definition reads.
    public func noteRead(config path: String) {
        guard let id = try? keys.intern(config: path) else { return }
        soughtPaths.noteOther(id)
    }

    /// Under the monitor: the id of a path that is looked for.
    public func soughtID(_ path: String) -> UInt32? {
        guard let id = try? keys.intern(config: path) else { return nil }
        soughtPaths.note(id)
        return id
    }

    /// Under the monitor.
    public func configPaths() -> PathTrie {
        soughtPaths.paths { id in keys.configPath(id).map { String(cString: $0) } ?? "" }
    }

    /// Under the monitor: what objects of a type need, also those that have no definition.
    func noteNeeds(of type: ObjectType) {
        guard !type.needs.isEmpty else { return }
        let own = Definition(id: Self.noKey, key: type.name, scope: .prototype, type: type)
        for path in type.needs.flatMap(\.source.configPaths) {
            for candidate in ConfigPath.candidates(path, for: own) { noteRead(config: candidate) }
        }
    }
}
