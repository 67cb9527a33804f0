internal import CInvivo
import Synchronization

/// A registered description of a kind of host object: memory, properties, methods.
///
/// Immutable; any thread may read it. Its functions run where the object lives.
public final class TypeDescription: Sendable {
    /// No instance, block or field is larger: a wrong number must not exhaust the memory.
    static let largest = 1 << 28

    public let name: String
    public let text: String?
    public let supertypes: [String]
    /// Lookups by this name find it as the exact type.
    public let lookupName: String
    public let isShared: Bool
    /// The domain of confined objects; zero = the runtime's default.
    public let domainBits: UInt64
    /// The bytes that the runtime allocates for an instance; 0 if the type allocates its instances itself (or has only
    /// a block).
    public let size: Int
    public let alignment: Int
    /// Bytes of the block; 0 = none.
    public let blockSize: Int
    /// The constructor's parameters.
    public let signature: Signature
    let members: Members
    public let functions: Functions
    /// The handle for C; valid while the description is retained.
    public let handleBits: UInt64

    private let ownsUserData = Atomic<Bool>(true)
    let borrowed: Borrowed
    private static let live = Atomic<Int>(0)

    /// The number of descriptions in the process.
    public static var liveCount: Int { live.load(ordering: .relaxed) }

    init(
        _ options: invivo_type_options, name: String, text: String?, supertypes: [String], lookupName: String,
        size: Int,
        alignment: Int, blockSize: Int, signature: Signature, members: Members, borrowed: Borrowed
    ) {
        self.name = name
        self.text = text
        self.supertypes = supertypes
        self.lookupName = lookupName
        isShared = options.concurrency == UInt32(INVIVO_SHARED)
        domainBits = options.domain.bits
        self.size = size
        self.alignment = alignment
        self.blockSize = blockSize
        self.signature = signature
        self.members = members
        self.borrowed = borrowed
        functions = Functions(options)
        handleBits = HandleTable.reserve(.type)
        Self.live.add(1, ordering: .relaxed)
        HandleTable.fill(handleBits, .type, weaklyWith: self)
    }

    deinit {
        HandleTable.remove(handleBits, .type)
        Self.live.subtract(1, ordering: .relaxed)
        if ownsUserData.load(ordering: .acquiring), let destroy = functions.destroy {
            ending { [userData] in destroy(userData) }
        }
    }

    /// Leaves the user data with the caller of a failed registration: `destroy` is not called.
    public func disown() { ownsUserData.store(false, ordering: .releasing) }

    /// The description behind a handle.
    public static func find(_ bits: UInt64) throws(Failure) -> TypeDescription {
        try HandleTable.require(bits, .type, as: TypeDescription.self)
    }

    /// Whether it is nothing but a block, of which no instance is created.
    public var isBlockOnly: Bool { size == 0 && functions.make == nil }

    /// Whether this is the type of this name, or a subtype of it.
    public func isKind(of name: String) -> Bool {
        name.isSameName(as: self.name) || supertypes.contains { $0.isSameName(as: name) }
    }

    /// Whether those that expect an object of `other` can have one of this type: it is the same, a subtype, or has a common
    /// supertype. The block of another type has other fields.
    public func canStand(for other: TypeDescription) -> Bool {
        if name.isSameName(as: other.name) { return true }
        guard blockSize == 0, other.blockSize == 0 else { return false }
        return isKind(of: other.name) || supertypes.contains { other.isKind(of: $0) }
    }
}

extension TypeDescription {
    /// Any thread may read an instance of a shared type, so nothing in it changes while it lives: a property takes new
    /// values in the block, or at the next creation.
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
