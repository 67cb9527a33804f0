internal import InvivoBase

/// Cycles of a directed graph.
enum Cycles {
    /// The strongly connected components that are reached from `roots` and contain a cycle: several nodes, or one that
    /// leads to itself (Tarjan 1972, without recursion).
    static func find(from roots: [UInt32], _ targets: (UInt32) -> [UInt32]) -> [[UInt32]] {
        struct Visit {
            let id: UInt32
            let targets: [UInt32]
            var next = 0
        }
        var order: IDTable<Int> = [:]
        var low: IDTable<Int> = [:]
        var stack: [UInt32] = []
        var onStack: Set<UInt32> = []
        var found: [[UInt32]] = []
        for root in roots where order[root] == nil {
            var visits: [Visit] = []
            func enter(_ id: UInt32, _ targets: [UInt32]) {
                order[id] = order.count
                low[id] = order[id]
                stack.append(id)
                onStack.insert(id)
                visits.append(Visit(id: id, targets: targets))
            }
            // Most nodes lead nowhere, and are in no cycle.
            let first = targets(root)
            guard !first.isEmpty else { continue }
            enter(root, first)
            while let visit = visits.last {
                if visit.next < visit.targets.count {
                    visits[visits.count - 1].next += 1
                    let target = visit.targets[visit.next]
                    if order[target] == nil {
                        let next = targets(target)
                        if next.isEmpty { order[target] = order.count } else { enter(target, next) }
                    } else if onStack.contains(target) {
                        low[visit.id] = min(low[visit.id] ?? 0, order[target] ?? 0)
                    }
                    continue
                }
                visits.removeLast()
                if let parent = visits.last { low[parent.id] = min(low[parent.id] ?? 0, low[visit.id] ?? 0) }
                guard low[visit.id] == order[visit.id] else { continue }
                var part: [UInt32] = []
                while let member = stack.popLast() {
                    onStack.remove(member)
                    part.append(member)
                    if member == visit.id { break }
                }
                if part.count > 1 || visit.targets.contains(visit.id) { found.append(part.sorted()) }
            }
        }
        return found
    }

    /// A shortest path from a node back to itself within a strongly connected component, both ends included.
    static func path(from start: UInt32, within members: Set<UInt32>, _ targets: (UInt32) -> [UInt32]) -> [UInt32] {
        var former: [UInt32: UInt32] = [:]
        var queue = [start]
        var position = 0
        while position < queue.count {
            let id = queue[position]
            position += 1
            for target in targets(id) where members.contains(target) {
                if target == start {
                    var way = [start, id]
                    var step = id
                    while step != start, let before = former[step] {
                        way.append(before)
                        step = before
                    }
                    if way[way.count - 1] != start { way.append(start) }
                    return start == id ? [start, start] : way.reversed()
                }
                if former[target] == nil && target != start {
                    former[target] = id
                    queue.append(target)
                }
            }
        }
        return [start]
    }
}
