public import CInvivo

extension TypeDescription {
    public var userData: UnsafeMutableRawPointer? { functions.userData.raw }

    /// The functions of a type and their user data. Mirrors `invivo_type_options`.
    public struct Functions: Sendable {
        let userData: HostPointer
        let destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
        public let initialize: Initialize?
        public let deinitialize: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
        public let make: Make?
        public let release: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
        public let start: Life?
        public let stop: Life?
        public let prepare: Life?
        public let setup: Life?
        public let teardown: Life?
        public let refresh: Life?
        public let finalize: Life?
        /// Whether objects are not set up again when their children change.
        public let keepsChildren: Bool
        public let willInject: Life?
        public let didInject: Life?
        public let takeRuntime: TakeRuntime?
        let countReferences: CountReferences?
        /// Weak references to instances that are counted elsewhere: all three or none.
        let weakMake: WeakChange?
        let weakLoad: WeakChange?
        let weakFree: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
        /// For trees of objects.
        public let child: Child?
        public let keyName: KeyName?
        /// The object in which an object stands.
        public let parent: Parent?

        /// Whether objects are stopped or torn down before they end.
        public var areEnded: Bool { stop != nil || setup != nil || teardown != nil }
        /// Whether objects are prepared, started, set up, or ended.
        public var haveLife: Bool { start != nil || prepare != nil || finalize != nil || areEnded }
        /// Whether kept objects are called after a commit.
        public var areNotifiedOfCommits: Bool { refresh != nil || finalize != nil }

        /// Whether a hook runs when all objects that were created together are complete.
        public var hasCompletionHook: Bool { didInject != nil || takeRuntime != nil }

        init(_ options: invivo_type_options) {
            (userData, destroy) = (HostPointer(options.user_data), options.destroy)
            (initialize, deinitialize) = (options.`init`, options.deinit)
            (make, release) = (options.make, options.release)
            (start, stop, prepare) = (options.start, options.stop, options.prepare)
            (setup, teardown) = (options.setup, options.teardown)
            (refresh, finalize) = (options.refresh, options.finalize)
            keepsChildren = options.keeps_children != 0
            (willInject, didInject, takeRuntime) = (options.will_inject, options.did_inject, options.take_runtime)
            countReferences = options.count_references
            (weakMake, weakLoad, weakFree) = (options.weak_make, options.weak_load, options.weak_free)
            (child, keyName, parent) = (options.child, options.key_name, options.parent)
        }
    }

    public typealias TakeRuntime =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, invivo_runtime, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    typealias CountReferences =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Child =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UInt64, UnsafeMutablePointer<invivo_object>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Parent =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<invivo_object>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias KeyName =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    typealias WeakChange =
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    public typealias Initialize =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<invivo_build>?, UnsafePointer<invivo_value>?, Int,
            UnsafeMutableRawPointer?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Make =
        @convention(c) (
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<invivo_build>?, UnsafePointer<invivo_value>?,
            Int, UnsafeMutableRawPointer?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Life =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
}
