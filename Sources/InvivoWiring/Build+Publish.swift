internal import CPlatform
internal import InvivoBase

/// Instances become visible to other builds.
extension Build {
    /// Under the monitor: the instance becomes visible.
    func publish(_ cell: Cell, _ made: Made) {
        let (id, scope) = (cell.id, cell.scope)
        if !cell.isRetired { container.builds.built.insert(cell.id, cell.scope) }
        cell.failure = nil
        cell.undecorated = made.undecorated
        if made.undecorated != 0 || scope == .weakSingleton || made.isForeign {
            cell.sequence = iv_record_order(made.record)
        }
        if cell.isVariant && !cell.isRetired {
            // The instances for other arguments or scope instances may have resolved other keys.
            container.builds.dependencies.add(made.dependencies, to: id)
        } else if !cell.isRetired {
            container.builds.dependencies.replace(of: id, by: made.dependencies)
        }
        let type = Container.type(made.record)
        let domain = type.domain
        // The instance of a thread belongs to it, whatever the domain of its type.
        if !made.isForeign && scope != .thread { made.record.pointee.thread = type.raw.pointee.thread }
        if scope == .weakSingleton {
            cell.weakObject = made.object
            cell.weakExtra = type.raw.pointee.has_stop == 0 ? nil : Container.knownExtra(of: made.record)
            if !made.isForeign { cell.weakExtra?.retirement.isCurrent = !cell.isRetired }
            cell.state = .built
            container.monitor.broadcast()
            return
        }
        if made.isForeign {
            _ = ObjectTable.leaseKnownAlive(made.object)
            cell.claim = ObjectLease(owning: made.object)
        } else {
            ObjectTable.hold(made.object)
        }
        if type !== cell.shownType {
            // A decorator or a factory returned an object of another type. Readers look at the type after the instance.
            cell.shownType = type
            graph.show(cell)
        }
        cell.show(made.object, made.record.pointee.instance, in: domain)
        cell.state = .built
        container.monitor.broadcast()
        // A graph that is gone does not hold it: it belongs to the requester.
        if cell.isRetired && !cell.isOver && !made.isForeign {
            container.retiredWhileBuilding.append((made.object, cell.birth(before: container.graph.generation)))
        }
    }

    /// A weak singleton whose language counts references outlives its handles: a weak reference finds it again. Not if its type
    /// has a stop function, which runs when the last claim goes.
    func watchWeakly(_ cell: Cell, _ made: Made) {
        guard cell.scope == .weakSingleton else { return }
        // No lock is held while host code runs.
        let weak = WeakInstance(to: made.record)
        let former = container.monitor.locked { () -> WeakInstance? in
            defer { cell.weakReference = weak }
            return cell.weakReference
        }
        former?.free()
    }
}

extension Cell {
    /// Under the monitor: no build creates its object any more.
    func makeCold(_ failure: Failure?, _ monitor: Monitor) {
        state = .cold
        isReviving = false
        self.failure = failure
        monitor.broadcast()
    }
}
