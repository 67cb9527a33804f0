internal import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase
internal import InvivoGraph
internal import Synchronization

/// The declared keys of a runtime: their types and defaults. Keys are only added.
public final class ContextKeys: Sendable {
    /// The type and the default of a key.
    public struct Declaration: Sendable {
        /// INVIVO_KIND_...
        public let kind: UInt32
        public let typeName: String?
        public let initial: Value?

        public init(kind: UInt32, typeName: String?, initial: Value?) {
            (self.kind, self.typeName, self.initial) = (kind, typeName, initial)
        }

        fileprivate func isSame(as other: Declaration) -> Bool {
            guard kind == other.kind, typeName.map(Name.init) == other.typeName.map(Name.init) else { return false }
            switch (initial, other.initial) {
            case (nil, nil): return true
            case (let one?, let two?): return one.isSame(as: two)
            default: return false
            }
        }
    }

    private struct State {
        var declared: [UInt32: Declaration] = [:]
        /// Tables of defaults that were replaced: readers may be in them.
        var outgrown: [UInt] = []
    }

    private let state: Guarded<State>
    private let names: KeyNames
    private let core: CoreReference
    private let isEmpty = Atomic<Bool>(true)

    init(_ monitor: Monitor, _ names: KeyNames, _ core: CoreReference) {
        state = Guarded(State(), by: monitor)
        self.names = names
        self.core = core
    }

    public func declare(_ id: UInt32, _ given: Declaration) throws(Failure) {
        var declaration = given
        if let initial = given.initial {
            let converted = try Self.check(initial, given, names.name(id))
            declaration = Declaration(kind: given.kind, typeName: given.typeName, initial: converted)
        }
        let shared = declaration.initial?.shared()
        let name = names.name(id)
        do throws(Failure) {
            let isNew = try state.locked { [declaration] state throws(Failure) -> Bool in
                if let known = state.declared[id] {
                    guard known.isSame(as: declaration) else {
                        throw Failure(
                            .exists, "the key '\(name)' of contexts is declared with another type or default",
                            path: name)
                    }
                    return false
                }
                if let shared { try addDefault(id, shared, &state.outgrown) }
                state.declared[id] = declaration
                return true
            }
            isEmpty.store(false, ordering: .releasing)
            if !isNew { free(shared) }
        } catch {
            free(shared)
            throw error
        }
    }

    private func free(_ shared: invivo_value?) {
        guard var value = shared else { return }
        Value.free(&value)
    }

    public func hasDefault(_ id: UInt32) -> Bool { state.locked { $0.declared[id]?.initial != nil } }

    /// The value for a key in its declared type.
    func checked(_ value: Value, for id: UInt32) throws(Failure) -> Value {
        guard !isEmpty.load(ordering: .acquiring), let declaration = state.locked({ $0.declared[id] }) else {
            return value
        }
        return try Self.check(value, declaration, names.name(id))
    }

    private static func check(_ value: Value, _ declaration: Declaration, _ name: String) throws(Failure) -> Value {
        do throws(Failure) {
            let converted =
                declaration.kind == UInt32(INVIVO_KIND_ANY) ? value : try value.converted(to: declaration.kind)
            guard let typeName = declaration.typeName else { return converted }
            guard case .object(let lease) = converted else {
                throw Failure(.type, "an object of type '\(typeName)' is needed, not \(value.kind.name)")
            }
            guard ContextTypes.isKind(lease.bits, of: typeName) else {
                let own = ObjectLease.typeOf(lease.bits)?.name ?? "?"
                throw Failure(.type, "an object of type '\(typeName)' is needed, not of type '\(own)'")
            }
            return converted
        } catch {
            var failure = Failure(
                error.code, "the value for the key '\(name)' of contexts cannot be used: \(error.message)", path: name)
            failure.location = error.location
            throw failure
        }
    }

    // MARK: defaults

    /// Defaults are the values of a context above all others, which is never freed while the runtime is open. With the lock.
    private func addDefault(_ id: UInt32, _ value: invivo_value, _ outgrown: inout [UInt]) throws(Failure) {
        guard let version = ContextMemory.version() else { throw Failure(.memory, "no memory for a default") }
        version.pointee.key = id
        version.withValue { $0 = value }
        let former = iv_core_context_defaults(core.core)
        if let former, let table = iv_context_table_of(former), let entry = table.entry(id, adds: true) {
            iv_context_entry_set(entry, version)
            return
        }
        let count = former.flatMap { iv_context_table_of($0) }.map { Int($0.pointee.used) } ?? 0
        guard let next = former ?? ContextMemory.context(values: 0),
            let table = ContextMemory.table(capacity: ContextMemory.capacity(for: max(8, count * 2)))
        else {
            ContextMemory.free(version)
            throw Failure(.memory, "no memory for a default")
        }
        let full = former.flatMap { iv_context_table_of($0) }
        full?.forEach { entry in
            let key = UInt32(truncatingIfNeeded: iv_context_entry_key(entry) - 1)
            if let copy = table.entry(key, adds: true) { iv_context_entry_set(copy, iv_context_entry_newest(entry)) }
        }
        if let entry = table.entry(id, adds: true) { iv_context_entry_set(entry, version) }
        iv_context_publish(next, table)
        iv_core_set_context_defaults(core.core, next)
        if let full { outgrown.append(UInt(bitPattern: full)) }
    }

    /// The leases that the defaults hold, by object: those of the declarations, and those that lookups copy.
    func addLeases(to counts: inout [UInt64: UInt64]) {
        for declaration in state.locked({ Array($0.declared.values) }) {
            declaration.initial?.forEachLease { counts[$0.bits, default: 0] += 1 }
        }
        iv_core_context_defaults(core.core).flatMap { iv_context_table_of($0) }?.forEach { entry in
            guard let newest = iv_context_entry_newest(entry) else { return }
            for object in Value.objects(in: newest.valuePointer.pointee) { counts[object, default: 0] += 1 }
        }
    }

    /// When no reader is left. Objects of defaults may end, so they are released without the lock.
    func removeAll() {
        let former = state.locked { state in
            defer { state = State() }
            return state
        }
        for address in former.outgrown { Glibc.free(UnsafeMutableRawPointer(bitPattern: address)) }
        guard let defaults = iv_core_context_defaults(core.core) else { return }
        iv_core_set_context_defaults(core.core, nil)
        if let table = iv_context_table_of(defaults) {
            table.forEach { entry in
                if let version = iv_context_entry_newest(entry) { ContextMemory.free(version) }
            }
            Glibc.free(table)
        }
        Glibc.free(defaults)
    }
}

/// Questions about types, which a higher module answers.
public enum ContextTypes {
    public typealias IsKind = @Sendable (_ object: UInt64, _ type: String) -> Bool
    private static let answer = SetOnce<IsKind>()

    /// Sets the function that answers whether an object has a type or that supertype.
    public static func set(_ function: @escaping IsKind) { answer.set(function) }

    static func isKind(_ object: UInt64, of type: String) -> Bool { answer.function?(object, type) ?? false }
}
