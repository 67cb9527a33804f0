internal import CPlatform
public import InvivoBase
public import InvivoContexts
internal import InvivoGraph
internal import InvivoObjects

/// The end of a context: first the contexts that hold it strongly, then its objects in reverse order of creation, then its values.
public struct ContextEnd {
    public struct Options {
        /// In nanoseconds; nil: that of the runtime.
        public var timeout: UInt64?
        public var refusesChildren = false
        public var reason: EndReason?

        public init() {}
    }

    private let container: Container
    private let reason: EndReason?
    private var objects: ContextObjects { container.registry.contextObjects }

    /// Ends a context. Returns the names of its objects that are still leased: they end with their last lease. Ending it again returns
    /// the result of the first end.
    public static func run(_ context: ContextHandle, _ options: Options = Options()) throws(Failure) -> [String] {
        guard let container = container(of: context) else {
            _ = try Contexts.beginEnd(context)
            return []
        }
        return try ContextEnd(container: container, reason: options.reason).run(context, options)
    }

    /// The reason of the end that is under way.
    public static func reason(of context: ContextHandle) -> EndReason? {
        container(of: context)?.registry.contextObjects.reason(of: context)
    }

    private static func container(of context: ContextHandle) -> Container? {
        guard let core = context.core ?? context.lastCore, !Readers.isParents(core) else { return nil }
        return try? Container.find(RuntimeHandle(tag: iv_load_u64(iv_core_tag(core))).bits, .runtime)
    }

    private func run(_ context: ContextHandle, _ options: Options) throws(Failure) -> [String] {
        let timeout = options.timeout ?? container.options.current.endTimeout
        let now = monotonicNow()
        let deadline = timeout > .max - now ? .max : now + timeout
        var leased: [String] = []
        switch try Contexts.beginEnd(context, refusesChildren: options.refusesChildren) {
        case .over where !isEnding(context): break
        // Another call has ended it, or ends it.
        case .over, .underWay: try wait(for: context, until: deadline)
        case .begun(let contexts):
            // The failures in contexts that have ended, by the depth of these. Those of a context are those below it, too.
            var failures: [Int: [Failure]] = [:]
            for part in contexts {
                guard part.isMine else {
                    do throws(Failure) { try wait(for: part.context, until: deadline) } catch {
                        failures[part.depth, default: []].append(error)
                    }
                    continue
                }
                objects.begin(part.context, reason)
                let own = end(part.context, until: deadline, &leased)
                let all = (own.map { [$0] } ?? []) + (failures.removeValue(forKey: part.depth + 1) ?? [])
                objects.finish(part.context, Failure.gathered(all))
                failures[part.depth, default: []] += all
                container.monitor.locked { container.monitor.broadcast() }
            }
        }
        if let failure = objects.failure(of: context) { throw failure }
        return leased
    }

    private func isEnding(_ context: ContextHandle) -> Bool {
        container.monitor.locked { objects.isEnding(context) }
    }

    /// Waits until another call has ended a context.
    private func wait(for context: ContextHandle, until deadline: UInt64) throws(Failure) {
        let isOver = container.monitor.locked { () -> Bool in
            func isOver() -> Bool { context.core == nil && !objects.isEnding(context) }
            container.domains.wait(until: deadline, isOver)
            return isOver()
        }
        guard !isOver else { return }
        throw Failure(
            .timeout, "\(Contexts.name(of: context)) is being ended by another call, which has not returned in time")
    }

    /// Ends one context, and no others. Returns all failures as one.
    private func end(_ context: ContextHandle, until deadline: UInt64, _ leased: inout [String]) -> Failure? {
        let name = Contexts.name(of: context)
        var failures: [Failure] = []
        let work = container.monitor.locked { () -> (builds: UInt64, inside: UInt64) in
            container.domains.wait(until: deadline) { ContextStay.count(in: context) == (0, 0) }
            return ContextStay.count(in: context)
        }
        if work.builds > 0 {
            failures.append(
                Failure(
                    .timeout,
                    "a build in \(name) has not ended in time: it is abandoned, and its objects end when it has"))
        }
        if work.inside > 0 {
            failures.append(
                Failure(
                    .timeout, "another thread has entered \(name), and has not left it in time: its next calls fail"))
        }
        // The newest first. Each is kept until all are stopped, because later stops may use it.
        let living = objects.takeAll(in: context).filter { ObjectTable.retain($0) }
        let records = living.compactMap(ObjectTable.record).sorted { iv_record_order($0) > iv_record_order($1) }
        failures += ContextStops(container, records.map(ObjectTable.handle)).run(until: deadline)
        Contexts.completeEnd(context)
        let scopes = container.registry.scopes
        let held = scopes.end(scopes.contexts, at: context.bits)
        let left = Set(held + living).filter { ObjectTable.retain($0) }.compactMap(ObjectTable.record)
            .sorted { iv_record_order($0) > iv_record_order($1) }
        leased += left.map(container.name)
        for record in left { _ = ObjectTable.release(ObjectTable.handle(record)) }
        guard let all = Failure.gathered(failures) else { return nil }
        var failure = all
        failure.message = "\(name) has ended: \(all.message)"
        return failure
    }
}

/// Ends contexts that lose their last holder, and wakes the ends that wait for work.
public final class ContextEnds: ContextLife {
    private unowned let container: Container

    /// The container keeps it.
    public init(_ container: Container) { self.container = container }

    /// Failures of its stops are noted.
    public func endReleased(_ context: ContextHandle) {
        do throws(Failure) { _ = try ContextEnd.run(context) } catch  where error.code == .inCallback {
            container.registry.contextObjects.addReleased(context)
        } catch { container.life.stopFailures.note(error) }
    }

    public func workEnded() { container.monitor.locked { container.monitor.broadcast() } }
}
