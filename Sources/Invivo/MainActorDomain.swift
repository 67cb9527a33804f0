internal import CInvivo
internal import Dispatch

/// Runs changes of confined objects on the main actor.
enum MainActorDomain {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the calling code runs on the main actor, on any thread.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }

    /// Whether the calling code runs on the main actor as part of a task, and so may await.
    static var isAwaiting: Bool { isCurrent && withUnsafeCurrentTask { $0 != nil } }
}

extension Core {
    /// Makes the main actor the domain of confined types, including those that are registered later.
    func liveOnMainActor() throws(InvivoError) {
        var options = invivo_domain_options()
        options.struct_size = MemoryLayout<invivo_domain_options>.size
        options.flags = UInt32(INVIVO_DOMAIN_DEFAULT)
        // The table is all that a job needs, and outlives every runtime.
        options.user_data = UnsafeMutableRawPointer(mutating: table)
        options.post = { data, job, _ in
            guard let data else { return InvivoError.Code.internal.rawValue }
            nonisolated(unsafe) let table = Table(data.assumingMemoryBound(to: invivo_table.self))
            // A job that was run meanwhile, by code of the main actor that waits, is stale and does nothing.
            DispatchQueue.main.async { _ = table.pointee.job_run(job) }
            return 0
        }
        options.is_current = { _ in MainActorDomain.isCurrent ? 1 : 0 }
        var domain = invivo_domain()
        try withArena { arena throws(InvivoError) in
            options.name = try arena.name("main actor")
            try call { $0.pointee.domain_register(handle, &options, &domain, $1) }
        }
    }
}
