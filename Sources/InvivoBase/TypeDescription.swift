public import CInvivo
import Synchronization

/// A registered description of a kind of host object: memory, properties, methods.
///
/// Immutable; any thread may read it. Its functions run where the object lives.
public final class TypeDescription: @unchecked Sendable {
    /// No instance, block or field is larger: a wrong number must not take the machine's memory.
    static let largest = 1 << 28

    public let name: String
    public let text: String?
    public let supertypes: [String]
    /// Lookups by this name find it as the exact type.
    public let lookupName: String
    public let isShared: Bool
    /// The domain of confined objects; zero = the runtime's default.
    public let domainBits: UInt64
    /// Bytes that the runtime allocates for an instance; 0 = the type makes its own (or has only a block).
    public let size: Int
    public let alignment: Int
    /// Bytes of the block; 0 = none.
    public let blockSize: Int
    /// The constructor's parameters.
    public let signature: Signature
    public let properties: [Property]
    /// For each property, whether setting it moves no other: a plain field of the instance that shares no byte with another.
    public let movesNoOther: [Bool]
    public let methods: [Method]
    /// The functions as they were given.
    public let functions: Functions
    public let userData: UnsafeMutableRawPointer?
    /// What C knows it by; valid while somebody holds the description.
    public private(set) var handleBits: UInt64 = 0

    private let store: CStrings
    private let destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    private let ownsUserData = Atomic<Bool>(true)
    private let propertyIndex: NameTable<(index: Int, formerName: Bool)>
    private let methodIndex: NameTable<Int>
    private let instanceImage: InitialImage
    private let blockImage: InitialImage
    /// The name as C borrows it.
    public let cName: UnsafePointer<CChar>
    /// The constructor's parameters as C borrows them.
    public let cParameters: UnsafeBufferPointer<invivo_parameter>
    private static let live = Atomic<Int>(0)

    /// How many descriptions there are in the process.
    public static var liveCount: Int { live.load(ordering: .relaxed) }

    public struct Functions {
        public let initialize: Initialize?
        public let deinitialize: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
        public let make: Make?
        public let release: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
        public let start: Life?
        public let stop: Life?
        public let prepare: Life?
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

        /// There is something to do when all that is made together is complete.
        public var hearsOfCompletion: Bool { didInject != nil || takeRuntime != nil }
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

    /// From C; everything is copied except functions and user data. When this throws, `destroy` is not called.
    public init(options pointer: UnsafePointer<invivo_type_options>?) throws(Failure) {
        let tables = try TypeTables(pointer)
        let options = tables.options
        name = tables.name
        text = tables.text
        supertypes = tables.supertypes
        lookupName = tables.lookupName ?? tables.name
        isShared = options.concurrency == UInt32(INVIVO_SHARED)
        domainBits = options.domain.bits
        size = tables.size
        alignment = tables.alignment
        blockSize = tables.blockSize
        signature = Signature(name: tables.name, parameters: tables.parameters)
        properties = tables.properties
        movesNoOther = Self.movingNoOther(tables.properties)
        methods = tables.methods
        functions = Functions(
            initialize: options.`init`, deinitialize: options.deinit, make: options.make, release: options.release,
            start: options.start, stop: options.stop, prepare: options.prepare, willInject: options.will_inject,
            didInject: options.did_inject, takeRuntime: options.take_runtime,
            countReferences: options.count_references,
            weakMake: options.weak_make, weakLoad: options.weak_load, weakFree: options.weak_free,
            child: options.child, keyName: options.key_name)
        userData = options.user_data
        destroy = options.destroy
        store = tables.store
        cName = tables.store.string(tables.name)
        cParameters = UnsafeBufferPointer(start: tables.cParameters, count: tables.parameters.count)
        var propertyIndex: NameTable<(index: Int, formerName: Bool)> = [:]
        for (index, property) in tables.properties.enumerated() {
            propertyIndex[property.name] = (index, false)
            for former in property.was { propertyIndex[former] = (index, true) }
        }
        self.propertyIndex = propertyIndex
        methodIndex = NameTable(tables.methods.enumerated().map { ($1.name, $0) })
        instanceImage = InitialImage(size: tables.size, tables.properties.filter { !$0.isInBlock })
        blockImage = InitialImage(
            size: tables.blockSize, tables.properties.filter { $0.isInBlock },
            over: UnsafeRawPointer(options.block_initial))
        Self.live.add(1, ordering: .relaxed)
        handleBits = HandleTable.insert(weakly: self, kind: .type)
    }

    private static func movingNoOther(_ properties: [Property]) -> [Bool] {
        var moves = properties.map { $0.isPlain && $0.isField && !$0.isInBlock }
        let fields = properties.indices.filter { properties[$0].isField && !properties[$0].isInBlock }
            .sorted { properties[$0].offset < properties[$1].offset }
        var end = 0
        for (at, index) in fields.enumerated() {
            let field = properties[index]
            let isBehindTheFormer = at == 0 || field.offset >= end
            if !isBehindTheFormer { moves[index] = false }
            end = max(end, field.offset + field.size)
            if at + 1 < fields.count, properties[fields[at + 1]].offset < end { moves[index] = false }
        }
        return moves
    }

    deinit {
        HandleTable.remove(handleBits, .type)
        Self.live.subtract(1, ordering: .relaxed)
        if ownsUserData.load(ordering: .acquiring), let destroy { ending { [userData] in destroy(userData) } }
    }

    /// Gives the user data back to the caller of a registration that failed: `destroy` will not be called.
    public func disown() { ownsUserData.store(false, ordering: .releasing) }

    /// The description behind a handle.
    public static func find(_ bits: UInt64) throws(Failure) -> TypeDescription {
        try HandleTable.require(bits, .type, as: TypeDescription.self)
    }

    // MARK: Members

    /// A property by its name or a former one.
    public func property(named name: String) throws(Failure) -> (property: Property, formerName: Bool) {
        guard let found = propertyIndex[name] else {
            let near = suggestion(for: name, among: properties.map(\.name))
            throw Failure(.property, "\(self.name) has no property '\(name)'\(near)", path: name)
        }
        return (properties[found.index], found.formerName)
    }

    /// Where a property stands among the type's.
    public func index(of property: Property) -> Int { properties.firstIndex { $0 === property } ?? 0 }

    public func method(named name: String) throws(Failure) -> Method {
        guard let index = methodIndex[name] else {
            let near = suggestion(for: name, among: methods.map(\.name))
            throw Failure(.method, "\(self.name) has no method '\(name)'\(near)", path: name)
        }
        return methods[index]
    }

    /// Whether it is the type of this name, or says that it is one.
    public func isKind(of name: String) -> Bool {
        name.isSameName(as: self.name) || supertypes.contains { $0.isSameName(as: name) }
    }

    // MARK: Initial values

    /// Sets the initial values of the fields of an instance of `size` zeroed bytes.
    public func applyInitialValues(to instance: UnsafeMutableRawPointer) { instanceImage.apply(to: instance) }

    /// A copy of a block's bytes, `blockSize` of them or zeros, with the initial values that properties have of their own. What a
    /// property reads from them must be an allowed value.
    public func checkedBlock(_ given: UnsafeRawPointer?, under key: String) throws(Failure) -> [UInt8] {
        var image =
            given.map { Array(UnsafeRawBufferPointer(start: $0, count: blockSize)) }
            ?? Array(repeating: 0, count: blockSize)
        var failures: [Failure] = []
        image.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            for property in properties where property.isInBlock {
                property.writeInitial(to: base)
                do throws(Failure) { _ = try property.checkedContent(property.read(base)) } catch {
                    failures.append(
                        Failure(error.code, "the initial value: \(error.message)", path: "\(key).\(property.name)"))
                }
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return image
    }

    /// Fills `blockSize` bytes with the block's initial values, zeros between them.
    public func writeInitialBlock(to block: UnsafeMutableRawPointer) {
        block.initializeMemory(as: UInt8.self, repeating: 0, count: blockSize)
        blockImage.apply(to: block)
    }
}

/// The bytes of a zeroed struct that its initial values change, as one piece.
private struct InitialImage: @unchecked Sendable {
    // Immutable; from the first byte that is not zero to the last.
    private let start: Int
    private let bytes: [UInt8]

    /// `given` has `size` bytes; nil stands for zeros.
    init(size: Int, _ properties: [Property], over given: UnsafeRawPointer? = nil) {
        // Fields of a struct that only the host knows the size of are the host's to fill.
        let end = size > 0 ? properties.filter(\.isField).map { $0.offset + $0.size }.max() ?? 0 : 0
        var image =
            given.map { Array(UnsafeRawBufferPointer(start: $0, count: size)) } ?? [UInt8](repeating: 0, count: end)
        image.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            for property in properties { property.writeInitial(to: base) }
        }
        start = image.firstIndex { $0 != 0 } ?? 0
        bytes = Array(image[start..<(image.lastIndex { $0 != 0 }.map { $0 + 1 } ?? start)])
    }

    func apply(to base: UnsafeMutableRawPointer) {
        bytes.withUnsafeBytes { source in
            if let first = source.baseAddress { (base + start).copyMemory(from: first, byteCount: source.count) }
        }
    }
}

extension TypeDescription {
    /// Any thread may read an instance of a shared type, so nothing in it changes while it lives: a property takes new
    /// values in the block, or at the next making.
    public func checkTunable(_ property: Property) throws(Failure) {
        guard isShared, !property.isInBlock, !property.takesRestart else { return }
        throw sharedFailure(property)
    }

    public func sharedFailure(_ property: Property) -> Failure {
        Failure(
            .readOnly,
            "\(name) is a shared type: its instances are never changed in place; put '\(property.name)' into the block, or let "
                + "it take effect at the next creation (a restart property)")
    }
}
