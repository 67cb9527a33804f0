internal import CInvivo
internal import CPlatform
internal import Glibc
internal import InvivoBase
internal import InvivoGraph

/// Creating instances with their records and handles. Definitions play no part in it.
extension ObjectType {
    private static let recordSize = (MemoryLayout<iv_record>.size + 15) & ~15

    /// The call of an initializer or a factory.
    struct Initializer {
        var values: [Value]
        /// `invivo_build.given`.
        var given: UInt64
        var factory: Factory?
        var key: UInt32?
        var requester: UInt32?
        var isShared = false
        /// The object that the new one replaces.
        var former: FormerObject?
        /// Whether a factory may return null.
        var isNullable = false
        /// The number of leases on injected objects for which the record has space.
        var edges = 0

        init(values: [Value], given: UInt64) { (self.values, self.given) = (values, given) }
    }

    /// The number of these values, if all are objects: each is then one word of the record.
    static func plainLeases(_ values: [Value]) -> Int {
        guard values.count <= Int(UInt16.max) else { return 0 }
        return values.allSatisfy { if case .object = $0 { true } else { false } } ? values.count : 0
    }

    /// A handle for an instance of the host.
    func wrap(_ instance: UnsafeMutableRawPointer, key: UInt32?) throws(Failure) -> UInt64 {
        try Self.open(try record(instance, key: key), owner: container.tag)
    }

    /// A handle for a record, with one lease for the caller. Destroys the instance if there is no memory for a handle.
    static func open(_ record: Record, owner: UInt64) throws(Failure) -> UInt64 {
        guard let slot = ObjectTable.takeSlot() else {
            Disposal.destroy(record)
            throw Failure(.memory, "no memory for an object")
        }
        return ObjectTable.open(slot, record, owner: owner, leases: 1, hold: false)
    }

    /// A new instance. Nil if a factory returned null and may do so.
    func create(_ initializer: Initializer) throws(Failure) -> Record? {
        let (key, edges) = (initializer.key, initializer.edges)
        if isBlockOnly { return try record(nil, key: key, edges: edges) }
        let values =
            initializer.factory == nil ? try description.checkArguments(initializer.values) : initializer.values
        var build = invivo_build(
            struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: container.handle),
            key: invivo_key(bits: key.map(container.keyHandle) ?? 0), type: invivo_type(bits: description.handleBits),
            asker: invivo_key(bits: initializer.requester.map(container.keyHandle) ?? 0), given: initializer.given,
            flags: initializer.isShared ? UInt32(INVIVO_BUILD_SHARED) : 0, reserved: 0,
            former: invivo_object(bits: initializer.former?.lease.bits ?? 0),
            former_instance: UnsafeRawPointer(initializer.former?.instance))
        if description.size > 0 {
            let record = try record(nil, key: key, edges: edges)
            guard let instance = record.pointee.instance else { return record }
            description.applyInitialValues(to: instance)
            do throws(Failure) {
                if let factory = initializer.factory {
                    if try factory.run("the factory of '\(name)'", instance, &build, values) == nil {
                        guard initializer.isNullable else { throw noInstance() }
                        Disposal.freeMemory(of: record)
                        return nil
                    }
                } else {
                    try description.initialize(instance, &build, values)
                }
            } catch {
                Disposal.freeMemory(of: record)
                throw error
            }
            return record
        }
        let instance: UnsafeMutableRawPointer
        if let factory = initializer.factory {
            guard let made = try factory.run("the factory of '\(name)'", nil, &build, values) else {
                if initializer.isNullable { return nil }
                throw noInstance()
            }
            instance = made
        } else {
            instance = try description.make(&build, values)
        }
        do throws(Failure) {
            return try record(instance, key: key, edges: edges)
        } catch {
            description.dispose(instance)
            throw error
        }
    }

    private func noInstance() -> Failure {
        Failure(
            .null,
            "the factory of '\(name)' returned success without an instance; flag the definition as nullable if it may"
        )
    }

    /// A record with space for `edges` leases. Without an instance of the host it has memory for one, if the type has a
    /// size.
    private func record(
        _ instance: UnsafeMutableRawPointer?, key: UInt32?, edges: Int = 0
    ) throws(Failure) -> Record {
        let alignment = max(16, description.alignment)
        let offset = max(Self.recordSize, (Self.recordSize + alignment - 1) & ~(alignment - 1))
        let own = instance == nil && description.size > 0
        let room = edges * MemoryLayout<UInt64>.stride
        let bytes =
            own ? offset + (description.size + (room > 0 ? 7 & -description.size : 0)) + room : Self.recordSize + room
        var memory: UnsafeMutableRawPointer?
        if alignment > 16 && own {
            guard posix_memalign(&memory, alignment, bytes) == 0 else {
                throw Failure(.memory, "no memory for \(name)")
            }
        } else {
            memory = malloc(bytes)
        }
        guard let memory else { throw Failure(.memory, "no memory for an object of type '\(name)'") }
        memset(memory, 0, bytes)
        let record = memory.assumingMemoryBound(to: iv_record.self)
        record.pointee.type = raw
        record.pointee.instance = instance ?? (own ? memory + offset : nil)
        record.pointee.key = key.map { $0 &+ 1 } ?? 0
        // Until it becomes a shared instance or is attached, a confined object belongs to the creating thread. A domain that is
        // not one thread has no thread to give it to.
        let isDomains = raw.pointee.thread == 0 || (domain?.isHere != nil && domain?.isCurrent == true)
        record.pointee.thread = isDomains ? raw.pointee.thread : currentThread().identity
        record.pointee.sequence = iv_add_u64(iv_live_sequence(), 1)
        return record
    }
}
