public import CInvivo
internal import CPlatform
public import InvivoBase
public import InvivoGraph
public import InvivoWiring

/// A weak pool: finds living objects by a key, and keeps none alive. Any thread.
///
/// Lookups take no lock. Host code (factories, weak references) runs without locks.
///
/// Unchecked: the stored properties are set before the pool is shared. Entries, weak references and retired memory have their
/// own locks.
public final class Pool: @unchecked Sendable {
    /// Creates the object of a key that has none.
    public struct Factory {
        public typealias Function =
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, UnsafeMutablePointer<invivo_object>?,
                UnsafeMutablePointer<OpaquePointer?>?
            ) -> invivo_status

        let function: Function
        let userData: UnsafeMutableRawPointer?
        public init(_ function: Function, _ userData: UnsafeMutableRawPointer?) {
            self.function = function
            self.userData = userData
        }
    }

    public let container: Container
    /// For messages; never empty.
    public let name: String
    /// Whether the pool can be found by its name.
    let isNamed: Bool
    let factory: Factory?
    private let entries: EntryStore
    private let weak: WeakReferences
    private var index: UInt32 = 0
    private var destroy: (() -> Void)?

    init(_ container: Container, name: String?, factory: Factory?) throws(Failure) {
        self.container = container
        self.name = name ?? "pool"
        isNamed = name != nil
        self.factory = factory
        let retired = RetiredMemory(ReadEpochs(container.core))
        let weak = WeakReferences(container, retired, poolName: self.name)
        self.weak = weak
        entries = try EntryStore(retired: retired) { claims in
            for claim in claims { _ = weak.isAlive(claim) }
            weak.drop(claims)
        }
        entries.raw.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Completes the pool with its index in the runtime and its destroy function, before it is published.
    func begin(at index: UInt32, destroy: (() -> Void)?) -> RawPool {
        self.index = index
        self.destroy = destroy
        return entries.raw
    }

    /// No call uses the pool anymore: each holds it.
    deinit {
        for index in 0..<EntryStore.shardCount {
            var claims: [RawWeak] = []
            entries.removeAll(in: index, dropped: &claims)
            weak.drop(claims)
        }
        if let destroy { ending(destroy) }
    }

    /// The pool of a handle.
    public static func find(_ bits: UInt64) throws(Failure) -> Pool {
        guard let (raw, reader) = ReadSection.begin(pool: bits) else {
            guard HandleBits(bits).kind == HandleBits.poolKind else { throw .badHandle(bits, .pool) }
            _ = try Container.find(HandleBits(bits).runtime, .runtime)
            throw Failure(.handle, "the pool is closed")
        }
        defer { ReadSection.end(reader) }
        guard let pool = at(raw) else { throw Failure(.handle, "the pool is closed") }
        return pool
    }

    /// In a reading section.
    static func at(_ raw: RawPool) -> Pool? {
        raw.pointee.owner.map { Unmanaged<Pool>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: finding

    /// Runs `body` in a reading section; fails when the runtime is closed.
    private func reading<Result>(_ body: () -> Result) throws(Failure) -> Result {
        guard let reader = ReadSection.begin(container.core, tag: container.tag) else {
            _ = try Container.find(container.handle, .runtime)
            throw Failure(.closed, "the runtime is closed")
        }
        defer { ReadSection.end(reader) }
        return body()
    }

    private func withKey<Result>(
        _ value: UnsafePointer<invivo_value>, _ body: (PoolKey) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try PoolKey.with(value, seed: entries.seed, body)
    }

    /// The living object of a key, with a lease; nil when there is none.
    public func peek(_ value: UnsafePointer<invivo_value>) throws(Failure) -> UInt64? {
        try withKey(value) { (key) throws(Failure) in try self.peek(key) }
    }

    private func peek(_ key: PoolKey) throws(Failure) -> UInt64? {
        let found = try reading { () -> EntryWord.Living in
            let living = EntryStore.find(entries.raw, key).lease()
            if case .weak(let weak) = living, !WeakReferences.hold(weak) { return .nothing }
            return living
        }
        switch found {
        case .object(let object): return object
        case .weak(let claim):
            defer { weak.drop(claim) }
            return try weak.revive(claim)
        case .nothing: return nil
        }
    }

    /// The instance of a key, for a type that counts references itself, with one of its references; nil when there is none.
    public func peekInstance(_ value: UnsafePointer<invivo_value>, _ type: ObjectType) throws(Failure)
        -> UnsafeMutableRawPointer?
    {
        try withKey(value) { (key) throws(Failure) -> UnsafeMutableRawPointer? in
            let claim = try self.reading { () -> RawWeak? in
                guard let weak = EntryStore.find(self.entries.raw, key).weak else { return nil }
                return WeakReferences.hold(weak) ? weak : nil
            }
            guard let claim else {
                guard let object = try self.peek(key) else { return nil }
                _ = ObjectTable.release(object)
                throw Failure(.type, "the object has no weak references; peek at it instead")
            }
            defer { self.weak.drop(claim) }
            return try self.weak.instance(of: claim, as: type)
        }
    }

    // MARK: creating

    /// The living object of a key, or a new one, with a lease. Nil when there is none and no factory.
    public func get(_ value: UnsafePointer<invivo_value>, _ given: Factory?) throws(Failure) -> UInt64? {
        try withKey(value) { (key) throws(Failure) in
            if let object = try self.peek(key) { return object }
            guard let factory = given ?? self.factory else { return nil }
            let build = try self.container.beginBuild()
            defer { Readers.endBuild(build) }
            return try self.create(key, value, factory)
        }
    }

    /// In a build: finds the object of a key, or creates it, or waits for the thread that does.
    func create(_ key: PoolKey, _ value: UnsafePointer<invivo_value>, _ factory: Factory) throws(Failure) -> UInt64 {
        let outcome = withUnsafeTemporaryAllocation(of: iv_creation.self, capacity: 1) { memory in
            Result { () throws(Failure) -> UInt64 in
                let creation = memory.baseAddress.unsafelyUnwrapped
                creation.initialize(to: iv_creation())
                while true {
                    var dropped: [RawWeak] = []
                    defer { weak.drop(dropped) }
                    switch entries.claim(key, for: creation, dropped: &dropped) {
                    case .object(let object): return object
                    case .claimed: return try run(creation, key, value, factory)
                    case .creation(let other): try wait(for: other, key, value)
                    case .weak(let claim):
                        defer { weak.drop(claim) }
                        if let object = try weak.revive(claim) { return object }
                    case .noMemory: throw noMemory()
                    }
                }
            }
        }
        return try outcome.get()
    }

    private func noMemory() -> Failure { Failure(.memory, "no memory for an entry of the pool '\(name)'") }

    /// Runs the factory, and puts the object into the entry that holds the creation.
    private func run(
        _ creation: Creation, _ key: PoolKey, _ value: UnsafePointer<invivo_value>, _ factory: Factory
    ) throws(Failure) -> UInt64 {
        var object = invivo_object()
        var error: OpaquePointer?
        let status = container.run(creation, origin: "the pool '\(name)'") {
            factory.function(factory.userData, value, &object, &error)
        }
        do throws(Failure) {
            if status != 0 {
                if object.bits != 0 { _ = ObjectTable.release(object.bits) }
                throw ErrorBox.failure(
                    status: status, error: error, from: "the factory of an entry of the pool '\(name)'")
            }
            ErrorBox.release(error)
            let word = try checked(object.bits)
            mark(word, key)
            let isEntered = entries.finish(creation, of: key, with: word)
            container.end(creation, nil)
            if !isEntered, let claim = word.weak { weak.drop(claim) }
            return object.bits
        } catch {
            _ = entries.finish(creation, of: key, with: .none)
            container.end(creation, error)
            throw error
        }
    }

    /// Returns the entry's content for the object that a factory returned. Releases the object if it cannot be used.
    private func checked(_ object: UInt64) throws(Failure) -> EntryWord {
        guard object != 0 else {
            throw Failure(.null, "the factory of an entry of the pool '\(name)' returned success without an object")
        }
        guard let record = ObjectTable.record(object) else {
            throw Failure(.handle, "the factory of an entry of the pool '\(name)' returned a stale object")
        }
        guard record.pointee.type.pointee.container == Unmanaged.passUnretained(container).toOpaque() else {
            _ = ObjectTable.release(object)
            throw Failure(
                .handle, "the factory of an entry of the pool '\(name)' returned an object of another runtime")
        }
        if record.pointee.type.pointee.has_weak == 0 { return EntryWord(object: object) }
        do throws(Failure) { return try weak.word(for: object) } catch {
            _ = ObjectTable.release(object)
            throw error
        }
    }

    /// Waits for the creation that an entry held.
    private func wait(for word: EntryWord, _ key: PoolKey, _ value: UnsafePointer<invivo_value>) throws(Failure) {
        let entry = "\(name)[\((try? Value(borrowing: value.pointee))?.description ?? "?")]"
        let pending = container.monitor.locked {
            entries.withCreation(word, of: key) { PendingCreation.of($0, named: entry, container.monitor) }
        }
        if let pending { try container.wait(for: pending) }
    }

    /// Has the end of an entry's object counted. The caller has a lease.
    private func mark(_ word: EntryWord, _ key: PoolKey) {
        if let object = word.object { ObjectTable.mark(object, EntryMark(pool: index, shard: key.shard).bits) }
    }

    /// Called with the owner word of a marked object that has ended.
    static func objectEnded(_ owner: UInt64) {
        let mark = EntryMark(owner: owner)
        let handle = HandleBits(kind: HandleBits.poolKind, tag: owner & HandleBits.tagMask, index: mark.pool).bits
        guard let (raw, reader) = ReadSection.begin(pool: handle) else { return }
        let pool = EntryStore.countEnd(raw, in: mark.shard) ? at(raw) : nil
        ReadSection.end(reader)
        pool?.sweep(mark.shard)
    }

    private func sweep(_ shard: UInt64) {
        var dropped: [RawWeak] = []
        entries.sweep(shard, dropped: &dropped)
        weak.drop(dropped)
    }

    // MARK: changing

    /// Stores a live object under a key, and replaces its former entry.
    public func put(_ value: UnsafePointer<invivo_value>, _ object: UInt64) throws(Failure) {
        try withKey(value) { (key) throws(Failure) in
            let lease = try ObjectLease.retaining(object)
            guard let record = ObjectTable.record(lease.bits), ObjectType.of(record).container === self.container
            else {
                throw Failure(.handle, "the object belongs to another runtime than the pool '\(self.name)'")
            }
            let build = try self.container.beginBuild()
            defer { Readers.endBuild(build) }
            let word = try self.weak.word(for: object)
            self.mark(word, key)
            do throws(Failure) { try self.put(word, key, value) } catch {
                if let claim = word.weak { self.weak.drop(claim) }
                throw error
            }
        }
    }

    private func put(_ word: EntryWord, _ key: PoolKey, _ value: UnsafePointer<invivo_value>) throws(Failure) {
        while true {
            var dropped: [RawWeak] = []
            defer { weak.drop(dropped) }
            switch entries.replace(key, with: word, dropped: &dropped) {
            case .done: return
            case .noMemory: throw noMemory()
            case .creation(let other):
                do throws(Failure) { try wait(for: other, key, value) } catch {
                    // Its failure does not matter here, but a cycle would never end.
                    guard error.code != .cycle else { throw error }
                }
            }
        }
    }

    /// Removes an entry. False when it had no living object.
    public func remove(_ value: UnsafePointer<invivo_value>) throws(Failure) -> Bool {
        try withKey(value) { (key) throws(Failure) in
            let living = try self.peek(key)
            if let living { _ = ObjectTable.release(living) }
            var dropped: [RawWeak] = []
            self.entries.remove(key, dropped: &dropped)
            self.weak.drop(dropped)
            return living != nil
        }
    }

    /// Removes all entries, and returns how many had a living object. The objects of creations that are under way go to their
    /// callers, and into no entry.
    public func removeAll() -> UInt64 {
        let count = count()
        for index in 0..<EntryStore.shardCount {
            var dropped: [RawWeak] = []
            entries.removeAll(in: index, dropped: &dropped)
            weak.drop(dropped)
        }
        return count
    }

    // MARK: all entries

    /// The living objects with their keys, each with a lease.
    public func list() throws(Failure) -> [(key: Value, object: ObjectLease)] {
        var found: [(key: Value, object: ObjectLease)] = []
        for index in 0..<EntryStore.shardCount {
            var claims: [(key: Value, weak: RawWeak)] = []
            defer { for claim in claims { weak.drop(claim.weak) } }
            entries.forEach(in: index) { slot in
                let word = slot.word
                if let object = word.object {
                    if ObjectTable.retain(object) { found.append((slot.key, ObjectLease(owning: object))) }
                } else if let weak = word.weak, WeakReferences.hold(weak) {
                    claims.append((slot.key, weak))
                }
            }
            for claim in claims {
                if let object = try weak.object(of: claim.weak) {
                    found.append((claim.key, ObjectLease(owning: object)))
                }
            }
        }
        return found
    }

    /// The number of entries with a live object.
    public func count() -> UInt64 {
        var count: UInt64 = 0
        for index in 0..<EntryStore.shardCount {
            var claims: [RawWeak] = []
            entries.forEach(in: index) { slot in
                if let object = slot.word.object {
                    if ObjectTable.isClaimed(object) { count += 1 }
                } else if let weak = slot.word.weak, WeakReferences.hold(weak) {
                    claims.append(weak)
                }
            }
            for claim in claims where weak.isAlive(claim) { count += 1 }
            weak.drop(claims)
        }
        return count
    }
}
