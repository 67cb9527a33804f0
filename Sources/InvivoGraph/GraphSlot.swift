public import CPlatform
internal import InvivoBase

/// The definition of one key in a graph, in compact form. Immutable.
///
/// The subclass adds the instance. The graph sees only the part of it that readers see. Unchecked because it has
/// subclasses.
open class GraphSlot: @unchecked Sendable {
    private let packed: PackedDefinition

    /// Must not be called with the lock of the key table held.
    public init(_ recipe: Recipe) { packed = PackedDefinition(recipe) ?? PackedDefinition(unpacked: recipe) }

    /// Creates a slot that keeps the recipe as it is.
    public init(unpacked recipe: Recipe) { packed = PackedDefinition(unpacked: recipe) }

    /// The type of a packed recipe; nil for all others.
    public final var packedType: ObjectType? { packed.type }

    private var unpacked: Recipe? { packed.unpacked.map { unsafeDowncast($0, to: Recipe.self) } }

    /// The recipe of the slot's instance. An instance that is kept keeps its slot, though the next generation may have another
    /// recipe for the key.
    public final var recipe: Recipe { unpacked ?? packed.recipe }

    /// Whether `other` is equal to the slot's compiled definition.
    public final func isMade(by other: Recipe) -> Bool {
        if let unpacked { return unpacked === other }
        return other.type === type && PackedDefinition(other)?.isSame(as: packed) == true
    }

    public final var definition: Definition { unpacked?.definition ?? packed.definition }
    public final var isPacked: Bool { packed.isPacked }
    /// The missing dependencies of a blocked definition.
    public final var waits: [String] { unpacked?.waits ?? [] }
    public final var id: UInt32 { packed.id ?? recipe.id }
    public final var scope: Scope { unpacked?.scope ?? packed.declaredScope ?? .graph }
    /// Whether at most one object of the definition is started at a time.
    public final var isExclusive: Bool { unpacked?.isExclusive ?? packed.flags.contains(.exclusive) }
    /// Whether a change of the definition waits until the object is created again.
    public final var waitsForRestart: Bool {
        unpacked?.definition.body.flags.contains(.restart) ?? packed.flags.contains(.restart)
    }
    public final var type: ObjectType? { packed.type ?? recipe.type }

    // MARK: the instance

    /// The instance as readers see it; nil if none was ever requested. Under the lock of the instances.
    open var shown: UnsafeMutablePointer<iv_cell>? { nil }

    /// The type of the instance that readers see. Under the lock of the instances.
    open var shownType: ObjectType? { type }
}
