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

    /// The functions of the host that are called before and after the work of a commit on the main actor.
    struct Notices: Sendable {
        let begin, end: @MainActor @Sendable () -> Void

        /// The functions of the options; nil without any.
        init?(_ options: Runtime.Options, isOnMainActor: Bool) throws(InvivoError) {
            guard let begin = options.commitBegin, let end = options.commitEnd else {
                guard options.commitBegin == nil, options.commitEnd == nil else {
                    throw InvivoError(.argument, "commitBegin and commitEnd belong together: give both or none")
                }
                return nil
            }
            guard isOnMainActor else {
                throw InvivoError(
                    .argument,
                    "commitBegin and commitEnd are called on the main actor, which is not the home of this runtime: "
                        + "open it with the home .mainActor")
            }
            (self.begin, self.end) = (begin, end)
        }
    }

    /// The user data of the domain in the C ABI.
    final class Box: Sendable {
        /// All that a job needs.
        let library: SharedTable
        let notices: Notices?

        init(_ library: SharedTable, _ notices: Notices?) { (self.library, self.notices) = (library, notices) }

        static func at(_ data: UnsafeMutableRawPointer?) -> Box? {
            data.map { Unmanaged<Box>.fromOpaque($0).takeUnretainedValue() }
        }

        /// A job of the domain runs on the main actor.
        static func notice(_ data: UnsafeMutableRawPointer?, _ which: KeyPath<Notices, @MainActor @Sendable () -> Void>)
        {
            guard let notice = at(data)?.notices?[keyPath: which] else { return }
            MainActor.assumeIsolated(notice)
        }
    }

    /// Whether the calling code runs on the main actor as part of a task, and so may await.
    static var isAwaiting: Bool { isCurrent && withUnsafeCurrentTask { $0 != nil } }
}

extension Core {
    /// Makes the main actor the domain of confined types, including those that are registered later.
    func liveOnMainActor(_ notices: MainActorDomain.Notices?) throws(InvivoError) {
        var options = invivo_domain_options()
        options.struct_size = MemoryLayout<invivo_domain_options>.size
        options.flags = UInt32(INVIVO_DOMAIN_DEFAULT)
        options.post = { data, job, _ in
            guard let box = MainActorDomain.Box.at(data) else { return InvivoError.Code.internal.rawValue }
            // A job that was run meanwhile, by code of the main actor that waits, is stale and does nothing.
            DispatchQueue.main.async { _ = box.library.table.pointee.job_run(job) }
            return 0
        }
        options.is_current = { _ in MainActorDomain.isCurrent ? 1 : 0 }
        if notices != nil {
            options.begin = { MainActorDomain.Box.notice($0, \.begin) }
            options.end = { MainActorDomain.Box.notice($0, \.end) }
        }
        let box = Unmanaged.passRetained(MainActorDomain.Box(SharedTable(table: table), notices))
        options.user_data = box.toOpaque()
        options.destroy = { data in if let data { Unmanaged<MainActorDomain.Box>.fromOpaque(data).release() } }
        var domain = invivo_domain()
        do throws(InvivoError) {
            try withArena { arena throws(InvivoError) in
                options.name = try arena.name("main actor")
                try call { $0.pointee.domain_register(handle, &options, &domain, $1) }
            }
        } catch {
            box.release()
            throw error
        }
    }
}
