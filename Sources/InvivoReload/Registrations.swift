internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits

/// The registrations of a runtime that outlive its generations: types, described assemblies, converters, and the configuration
/// paths that are read. Any thread adds to them; they are answered as of the moment.
protocol Registrations {
    func type(named name: String) throws(Failure) -> ObjectType
    var assemblies: NameTable<AssemblyDescription> { get }
    /// Returns the error for a name that is not one of the host's scopes or, for contexts, of their kinds.
    func scopeFailure(_ scope: Scope, _ name: String?) -> Failure?
    /// Whether the contexts of the kind `inner` are declared as inner ones of `outer`.
    func isKind(_ inner: String, inside outer: String) -> Bool
    /// Whether contexts of a kind have a value for a key: the kind or an outer one provides it, or the key has a default.
    func provides(_ key: String, in kind: String) -> Bool
    /// Whether the properties that a type declares as needed are injected.
    var fillsNeeds: Bool { get }
    /// Returns the assembly that must be activated before `key` is defined.
    func inactiveAssembly(of key: String) -> String?
    /// The kinds of value as which the host reads configuration paths.
    var hostKinds: [UInt32: Set<ValueKind>] { get }
    /// Returns a lookup of configuration values for the compiler. Each path that is looked up is noted as read.
    func lookup(_ layers: ConfigLayers) -> ConfigLookup
    /// The ids of the paths that something other than a definition reads.
    var hostPaths: Set<UInt32> { get }
    /// Whether any path was ever read.
    var hasReadPaths: Bool { get }
    /// All paths that were ever read.
    var readPaths: PathTrie { get }
    /// Notes that a path is read and returns its id.
    func noteRead(_ path: String) -> UInt32?
}
