internal import InvivoBase
internal import InvivoGraph

/// The addition or removal of a processor. All removals of a change set come before its additions.
enum ProcessorChange: Sendable {
    case add(Processor)
    /// Removes the processor with this name.
    case remove(String)
}

extension [ProcessorChange] {
    var added: [Processor] { compactMap { if case .add(let processor) = $0 { processor } else { nil } } }

    var removed: [String] { compactMap { if case .remove(let name) = $0 { name } else { nil } } }

    /// Removes the processor with this name, before all additions, and drops its addition.
    mutating func remove(_ name: String) {
        let kept = added.filter { !$0.name.isSameName(as: name) }
        self = (removed + [name]).map { .remove($0) } + kept.map { .add($0) }
    }

    /// Adds later changes. Where both concern the same name, the later one wins.
    mutating func join(_ later: [ProcessorChange]) {
        let (laterAdded, laterRemoved) = (later.added, later.removed)
        var (added, removed) = (added, removed)
        for processor in laterAdded {
            added.removeAll { $0.name.isSameName(as: processor.name) }
            removed.removeAll { $0.isSameName(as: processor.name) }
        }
        for name in laterRemoved { added.removeAll { $0.name.isSameName(as: name) } }
        self = (removed + laterRemoved).map { .remove($0) } + (added + laterAdded).map { .add($0) }
    }
}
