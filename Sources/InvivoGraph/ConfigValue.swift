public import CInvivo
internal import CPlatform
public import InvivoBase
public import InvivoConfig

/// The value at one path as views read it, shared by the generations in which it is the same. Immutable, except that a
/// list or map is created at the first read, so that an edit copies no enclosing map.
public final class ConfigValue: @unchecked Sendable {
    public let node: ConfigNode
    /// The storage of the value; nil until it is created. Freed with this object, which the chunk that points to it
    /// retains.
    private let made: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    let isLazy: Bool

    /// `value` is that of the node, as its readers request it. It is not used for a list or map.
    public init(_ node: ConfigNode, _ value: @autoclosure () -> Value) {
        self.node = node
        isLazy = if case .value = node.content { false } else { true }
        made = .allocate(capacity: 1)
        made.initialize(to: isLazy ? nil : Self.store(value()))
    }

    private static func store(_ value: Value) -> UnsafeMutableRawPointer {
        let raw = UnsafeMutablePointer<invivo_value>.allocate(capacity: 1)
        raw.initialize(to: value.owned())
        return UnsafeMutableRawPointer(raw)
    }

    private static func free(_ raw: UnsafeMutableRawPointer) {
        let raw = raw.assumingMemoryBound(to: invivo_value.self)
        Value.free(&raw.pointee)
        raw.deallocate()
    }

    /// The block of the entry in the graph: a pointer to the value, or to the pointer to a deferred one.
    var block: UnsafeRawPointer { isLazy ? UnsafeRawPointer(made) : UnsafeRawPointer(made.pointee!) }

    /// The value, created by the first reader. Any thread; never waits.
    public var raw: UnsafePointer<invivo_value> {
        var there = iv_load_pointer(made)
        if there == nil {
            let own = Self.store(node.value)
            there = iv_settle_pointer(made, own)
            if there != own { Self.free(own) }
        }
        return UnsafePointer(there!.assumingMemoryBound(to: invivo_value.self))
    }

    deinit {
        if let there = made.pointee { Self.free(there) }
        made.deallocate()
    }
}

extension KeyTable {
    /// Paths are interned beside keys, under names that no key has.
    public static let mark = "\u{1}"

    /// Under the monitor: the id of a path of the configuration, which is added if it is new.
    public func intern(config path: String) throws(Failure) -> UInt32 { try intern(Self.mark + path) }

    /// Under the monitor: the id of a path; nil if nothing has named it.
    public func id(ofConfig path: String) -> UInt32? { id(of: Self.mark + path) }

    /// Under the monitor: the path of an id; nil for a key.
    public func configPath(_ id: UInt32) -> UnsafePointer<CChar>? {
        guard let text = text(id), text[0] == 1 else { return nil }
        return text + 1
    }

    public static func isReserved(_ name: String) -> Bool { name.hasPrefix(mark) }
}

/// Access to the configuration of the next generation, for the compiler of definitions.
public struct ConfigLookup {
    public let tree: ConfigTree
    /// The secret paths. A default of one is secret, too.
    let secrets: SecretPaths
    let placeOfNull: (String) -> Location?
    let intern: (String) -> UInt32
    public let converter: (String) -> TextConverter?
    let converters: () -> [String]

    public init(
        tree: ConfigTree, secrets: SecretPaths = SecretPaths(), placeOfNull: @escaping (String) -> Location?,
        intern: @escaping (String) -> UInt32,
        converter: @escaping (String) -> TextConverter?,
        converters: @escaping () -> [String]
    ) {
        self.tree = tree
        self.secrets = secrets
        self.placeOfNull = placeOfNull
        self.intern = intern
        self.converter = converter
        self.converters = converters
    }

    public static var none: ConfigLookup {
        ConfigLookup(
            tree: ConfigTree(), placeOfNull: { _ in nil }, intern: { _ in .max }, converter: { _ in nil },
            converters: { [] })
    }
}
