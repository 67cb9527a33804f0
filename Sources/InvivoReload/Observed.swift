internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

/// The facts about instances that a plan asks for, by key: what is built, live or attached in the current generation. The
/// answers of a moment; other threads go on building meanwhile.
protocol Observed {
    /// Returns whether the shared instance of a key is built or being built, or one of its objects lives.
    func isHeld(_ id: UInt32) -> Bool
    /// Returns whether the shared instance of a key is being built.
    func isBuilding(_ id: UInt32) -> Bool
    /// Returns the shared object of a key, or 0.
    func sharedObject(_ id: UInt32) -> UInt64
    /// Returns the live shared objects of a key, one for each scope instance and set of arguments.
    func objects(_ id: UInt32) -> [UInt64]
    /// Returns the movements in the block of a key.
    func runs(_ id: UInt32) -> [Int: RampRun]
    /// Returns the live objects of a tracked definition.
    func trackedObjects(_ id: UInt32) -> [TrackedObject]
    /// Returns the keys with built shared instances in a scope. Some instances may have ended.
    func builtKeys(_ scope: Scope) -> Set<UInt32>
    /// Returns the keys that received `id` while they were built, beyond their declared references.
    func recordedDependents(of id: UInt32) -> Set<UInt32>
    /// Returns the keys that `id` received while it was built, beyond its declared references.
    func recordedDependencies(of id: UInt32) -> Set<UInt32>
    /// Returns the children of keys.
    func children(of keys: some Sequence<UInt32>) -> [UInt64]
    /// Returns the objects that are called because objects change that belong to others: see `Owners`.
    ///
    /// `owners` are definitions whose objects own something that changes, and `ownersOf` returns those of a key.
    func concerned(
        by changed: [UInt64], owners: [UInt32], settable: Set<UInt64>, rebuilt: IDSet,
        _ ownersOf: (UInt32) -> [UInt32]
    ) -> Owners.Concerned
    /// Whether commits set objects up or call them.
    var hasCalledObjects: Bool { get }
    /// Whether objects have children.
    var hasOwners: Bool { get }
    /// Whether there are objects whose setup failed when an earlier commit was undone.
    var hasUnfinished: Bool { get }
    /// Returns the attached targets of a key in attachment order.
    func targets(_ id: UInt32) -> [Target]
    /// The keys that have targets.
    var targetKeys: [UInt32] { get }
    /// Returns the attachment of an object.
    func attachment(of object: UInt64) -> Target?
    /// Returns the key for which an object was created.
    func key(of object: UInt64) -> UInt32?
}
