public import CPlatform
internal import InvivoBase

/// The definition of one key in a graph, in compact form. Immutable.
///
/// The subclass adds the instance. The graph sees only the part of it that readers see. Unchecked because it has
/// subclasses.
open class GraphSlot: @unchecked Sendable {
    /// A `Recipe`, or the type of a packed one.
    private let basis: AnyObject
    private let packed: PackedRecipe
    /// For a packed definition: the offset of the key's name in the table of names.
    private let name: UInt32

    /// Must not be called with the lock of the key table held.
    public init(_ recipe: Recipe) {
        if let type = recipe.type, let packed = PackedRecipe(recipe, type), let name = type.keys.offset(of: recipe.id) {
            (basis, self.packed, self.name) = (type, packed, name)
        } else {
            (basis, packed, name) = (recipe, .none, 0)
        }
    }

    /// Creates a slot that keeps the compiled definition as it is.
    public init(unpacked recipe: Recipe) { (basis, packed, name) = (recipe, .none, 0) }

    /// The type of a packed definition; nil for all others.
    public final var packedType: ObjectType? {
        packed.isPacked ? unsafeDowncast(basis, to: ObjectType.self) : nil
    }

    /// The compiled definition of the slot's instance. A kept instance keeps its slot, even if the next generation has
    /// another definition for the key.
    public final var recipe: Recipe {
        packedType.map { packed.recipe(name, $0) } ?? unsafeDowncast(basis, to: Recipe.self)
    }

    /// Whether `other` is equal to the slot's compiled definition.
    public final func isMade(by other: Recipe) -> Bool {
        guard let type = packedType else { return basis === other }
        guard other.type === type, other.id == id, let packed = PackedRecipe(other, type) else { return false }
        return packed.bits == self.packed.bits && packed.operands == self.packed.operands
    }

    public final var definition: Definition { packedType.map { packed.definition(name, $0) } ?? recipe.definition }
    public final var isPacked: Bool { packed.isPacked }
    /// The missing dependencies of a blocked definition.
    public final var waits: [String] { packed.isPacked ? [] : recipe.waits }
    public final var id: UInt32 { packedType.map { $0.keys.table.id(at: name) } ?? recipe.id }
    public final var scope: Scope { packed.isPacked ? packed.saidScope ?? .graph : recipe.scope }
    public final var type: ObjectType? { packedType ?? recipe.type }

    // MARK: the instance

    /// The instance as readers see it; nil if none was ever asked for. Under the lock of the instances.
    open var shown: UnsafeMutablePointer<iv_cell>? { nil }

    /// The type of the instance that readers see. Under the lock of the instances.
    open var shownType: ObjectType? { type }
}
