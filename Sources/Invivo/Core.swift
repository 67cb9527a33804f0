public import CInvivo
public import Synchronization

/// The functions of the library that a runtime belongs to.
@usableFromInline typealias Table = UnsafePointer<invivo_table>
/// The out parameter for the error of a C function.
typealias ErrorOut = UnsafeMutablePointer<OpaquePointer?>

/// The functions of a library, for other threads. Immutable, and lives as long as the process.
struct SharedTable: Sendable {
    nonisolated(unsafe) let table: Table
}

/// The shared state of one runtime: its handle, the function table through which it is called, and the registry of its
/// types and instances in this copy of the package.
///
/// There is one for each runtime, found by `Core.of`, for any number of `Runtime` values.
@usableFromInline
final class Core: Sendable {
    /// Complete (checked by `of`) and immutable while the process lives.
    @usableFromInline nonisolated(unsafe) let table: Table
    @usableFromInline let handle: invivo_runtime
    /// Taken last, and never around calls of the library. Held across fork: a child reads objects through it.
    let registry = Locked(Registry(), acrossFork: true)
    /// Held while an instance becomes an object, so that it gets only one. Taken before the registry's lock, and never
    /// while code of the program runs.
    let wrapping = Locked(())
    /// The number of open pins that follow tasks.
    @usableFromInline let taskPins = Atomic(0)
    /// Whether injected properties use this runtime: its option, if it was opened here.
    let fillsInjected = Atomic(true)
    /// The numbers of `Object`s that the program holds, and of those that components received.
    private let programObjects = Atomic(0)
    private let componentObjects = Atomic(0)

    func count(_ holder: Object.Holder, _ change: Int) {
        switch holder {
        case .program: programObjects.add(change, ordering: .relaxed)
        case .component: componentObjects.add(change, ordering: .relaxed)
        }
    }

    /// Whether all held objects are held by components, and none by the program.
    var isHeldByComponentsAlone: Bool {
        programObjects.load(ordering: .relaxed) == 0 && componentObjects.load(ordering: .relaxed) > 0
    }

    /// Held while a type is looked up and, when new, registered, so that it is registered once.
    let registering = Locked(0)  // nothing but the lock; a value without size would share its address with another

    private init(table: Table, handle: invivo_runtime) {
        self.table = table
        self.handle = handle
    }

    private struct Identity: Hashable {
        var table: UInt
        var runtime: UInt64
    }
    private struct Weak { weak var core: Core? }
    private static let all = Locked<[Identity: Weak]>([:])

    /// The core of a runtime; fails for a table that is older than this package needs.
    static func of(_ table: Table, _ handle: invivo_runtime) throws(InvivoError) -> Core {
        try check(table)
        let identity = Identity(table: UInt(bitPattern: table), runtime: handle.bits)
        return all.withLock { all in
            if let core = all[identity]?.core { return core }
            let core = Core(table: table, handle: handle)
            all[identity] = Weak(core: core)
            return core
        }
    }

    /// Whether the runtime can no longer be used.
    var isClosed: Bool {
        var info = invivo_runtime_info()
        info.struct_size = MemoryLayout<invivo_runtime_info>.size
        return table.pointee.runtime_inspect(handle, &info, nil) != 0
    }

    deinit {
        let identity = Identity(table: UInt(bitPattern: table), runtime: handle.bits)
        Self.all.withLock { all in
            if all[identity]?.core == nil { all[identity] = nil }
        }
    }

    /// Whether the pin of a task is open. Reads then look whether their task is in it.
    @inlinable @inline(__always)
    var mayBeInTaskPin: Bool { taskPins.load(ordering: .relaxed) != 0 }

    /// Begins a view, in the pin of the task if it is in one.
    @inlinable @inline(__always)
    func beginView() -> invivo_view {
        mayBeInTaskPin ? beginViewInTaskPin() : table.pointee.view_begin(handle)
    }

    static func check(_ table: Table) throws(InvivoError) {
        guard table.pointee.abi_version == UInt32(INVIVO_ABI_VERSION),
            table.pointee.struct_size >= MemoryLayout<invivo_table>.size
        else {
            throw InvivoError(
                .version,
                "the library has ABI version \(table.pointee.abi_version) with \(table.pointee.function_count) functions; "
                    + "this package was built for version \(INVIVO_ABI_VERSION) and a newer library: build both from one version"
            )
        }
    }

    /// The table of the library that this package is linked with, or of the stubs in module code.
    static func own() throws(InvivoError) -> Table {
        guard let table = invivo_table_get() else {
            throw InvivoError(
                .notReady,
                "this is module code and its entry has not run; a module works on the runtime that it is handed")
        }
        try check(table)
        return table
    }

    /// Calls a function that may fail, in the current context of the task, and throws its error.
    func call(_ body: (Table, ErrorOut) -> invivo_status) throws(InvivoError) {
        try Self.call(table) { table, error in inTaskContext { inTaskPin { body(table, error) } } }
    }

    /// The same for a function that runs no code of the program and resolves nothing.
    func plainCall(_ body: (Table, ErrorOut) -> invivo_status) throws(InvivoError) {
        try Self.call(table) { table, error in inTaskPin { body(table, error) } }
    }

    /// Calls a function that takes a name, and throws its error. A name with a NUL is rejected, because C would
    /// truncate it.
    func call(
        naming name: String, _ body: (Table, UnsafePointer<CChar>, ErrorOut) -> invivo_status
    ) throws(InvivoError) {
        try Self.call(table, naming: name) { table, name, error in
            inTaskContext { inTaskPin { body(table, name, error) } }
        }
    }

    static func call(
        _ table: Table, naming name: String, _ body: (Table, UnsafePointer<CChar>, ErrorOut) -> invivo_status
    ) throws(InvivoError) {
        let name = try Arena.whole(name)
        try call(table) { table, error in name.withCString { body(table, $0, error) } }
    }

    static func call(_ table: Table, _ body: (Table, ErrorOut) -> invivo_status) throws(InvivoError) {
        var error: OpaquePointer?
        let status = body(table, &error)
        guard status == 0 else { throw InvivoError(taking: error, status: status, table: table) }
    }
}

/// The types and instances of a runtime that this copy of the package knows.
struct Registry {
    /// The Swift side of each type that this package has registered, by the bits of its handle.
    var types: [UInt64: TypeBox] = [:]
    /// The types of classes that were described, and of values that were not.
    var described: [ObjectIdentifier: UInt64] = [:]
    var plain: [PlainType: UInt64] = [:]
    /// The types of blocks, by name.
    var blocks: [String: BlockType] = [:]
    /// The handles of instances. May be outdated; checked on use.
    var instances: [ObjectIdentifier: Known] = [:]
    /// The boxes of values that were runtime arguments and can be compared.
    var boxes = ComparedBoxes()
    /// The assemblies that are active, by name.
    var assemblies: [String: ActiveAssembly] = [:]
    /// Before each change of them: the generation, and the assemblies that were active.
    var formerAssemblies: [(generation: UInt64, assemblies: [String: ActiveAssembly])] = []
    /// The described assemblies, by name.
    var knownAssemblies: [String: ActiveAssembly] = [:]
    /// The types that were looked up, with the names for the lookups.
    var queried: [ObjectIdentifier: (type: Any.Type, name: String)] = [:]

    struct PlainType: Hashable {
        var type: ObjectIdentifier
        var isShared: Bool
    }

    /// The keys of contexts that were used.
    var contextKeys: [ContextKeyIdentity: DeclaredContextKey] = [:]

    /// The structs of the blocks that were declared here, by their types.
    var blockContents: [UInt64: ObjectIdentifier] = [:]

    struct BlockType {
        var type: UInt64
        var content: ObjectIdentifier
        var names: [String]
    }

    enum Known: Equatable {
        case object(invivo_object)
        case key(invivo_key)

        static func == (one: Known, other: Known) -> Bool {
            switch (one, other) {
            case (.object(let one), .object(let other)): one.bits == other.bits
            case (.key(let one), .key(let other)): one.bits == other.bits
            default: false
            }
        }
    }
}
