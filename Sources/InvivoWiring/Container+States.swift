internal import CPlatform
internal import InvivoBase

/// Where the shared instances of a key are in their life.
public struct KeyState: Sendable {
    public let key: String
    public let state: LifeState
    public let objects: Int
    /// What a dormant definition waits for.
    public let waits: [String]
    /// Why the last try to make it failed.
    public let error: String
}

extension Container {
    /// Of all keys that make shared instances or are dormant, sorted by key.
    public func states() -> [KeyState] {
        let graph = currentGraph()
        var found: [KeyState] = []
        monitor.locked {
            graph.forEachCell { id, cell in
                // An alias shows the cell of the key it names.
                guard cell.id == id, cell.scope.isShared || !cell.waits.isEmpty, cell.type?.isBlockOnly != true
                else { return }
                let objects = cell.objects()
                found.append(
                    KeyState(
                        key: keys.name(id), state: state(of: cell, objects.map(\.object)), objects: objects.count,
                        waits: cell.waits, error: cell.failure?.text ?? ""))
            }
        }
        return found.sorted { $0.key < $1.key }
    }

    /// Under the monitor: of several objects, the one that is least far.
    private func state(of cell: Cell, _ objects: [UInt64]) -> LifeState {
        if !cell.waits.isEmpty { return .dormant }
        let states = objects.compactMap { object -> LifeState? in
            guard let record = ObjectTable.record(object) else { return nil }
            guard let extra = iv_load_pointer(iv_record_extra(record)) else { return .made }
            return Unmanaged<ObjectExtra>.fromOpaque(extra).takeUnretainedValue().life
        }
        if states.contains(.failed) { return .failed }
        if let least = states.min(by: { $0.rawValue < $1.rawValue }) { return least }
        if cell.isBuilding { return .building }
        return cell.failure == nil ? .cold : .failed
    }
}
