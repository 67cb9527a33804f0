internal import CInvivo

/// A named set of definitions, declared as properties:
///
///     final class Synth: Assembly {
///         let clock = lazySingleton(SystemClock.init)
///         let voice = prototype { resolver, note in try Voice(note: note, clock: resolver(\Synth.clock)) }
///     }
///     let synth = try runtime.activate(Synth())
///     let voice = try synth.voice(60)
///
/// Before it is activated a property is a recipe, afterwards a typed factory. Its key is the assembly's name and the
/// property's: `synth.clock`. Properties are declared with `let`: they must be there when the assembly is activated.
open class Assembly {
    private let givenName: String?

    /// - Parameter name: The first part of the keys; by default the class' name, its first letter small.
    public init(name: String? = nil) { givenName = name }

    /// The first part of the keys.
    public var name: String {
        if let givenName { return givenName }
        let type = String(describing: type(of: self))
        return type.prefix(1).lowercased() + type.dropFirst()
    }
}

/// A property of an assembly, as activation sees it.
protocol Recipe: AnyObject, Sendable {
    var valueType: Any.Type { get }
    /// Whether it can be made without being given arguments, and so be injected by its type.
    var needsArguments: Bool { get }
    /// The types that its initializer wants injected.
    var wanted: [Any.Type] { get }
    var isBound: Bool { get }
    func define(_ key: String, _ changes: ChangeSet, _ assembly: AssemblyBox) throws(InvivoError) -> Bindable
}

/// A recipe whose definition stands in a change set: becomes a factory when that is committed.
struct Bindable {
    let handle: invivo_key
    let bind: () -> Void
}

/// An activated assembly, as its recipes see it.
final class AssemblyBox: @unchecked Sendable {
    /// Only its constant recipes are read, from any thread.
    private let assembly: Assembly
    let name: String
    let members: [(name: String, recipe: any Recipe)]
    /// Complete before anything is built.
    private var keys: [ObjectIdentifier: invivo_key] = [:]

    init(_ assembly: Assembly, _ core: Core) throws(InvivoError) {
        self.assembly = assembly
        name = assembly.name
        var members: [(String, any Recipe)] = []
        var problems: [InvivoError] = []
        var mirror: Mirror? = Mirror(reflecting: assembly)
        while let level = mirror {
            for child in level.children {
                guard let label = child.label else { continue }
                if let recipe = child.value as? any Recipe {
                    members.append((label, recipe))
                } else if label.hasPrefix(lazyPrefix), child.value is any OptionalRecipe {
                    problems.append(
                        InvivoError(
                            .argument,
                            "a definition must be there from the start: declare it with `let`, not `lazy var`",
                            path: "\(name).\(label.dropFirst(lazyPrefix.count))"))
                }
            }
            mirror = level.superclassMirror
        }
        self.members = members
        for (member, recipe) in members {
            let path = "\(name).\(member)"
            if recipe.isBound {
                problems.append(InvivoError(.exists, "the assembly is active already; make another one", path: path))
            }
            for type in recipe.wanted {
                do { _ = try candidate(type) } catch {
                    var error = error
                    error.path = path
                    problems.append(error)
                }
            }
        }
        if let error = InvivoError(all: problems) { throw error }
        for (member, recipe) in members {
            var key = invivo_key()
            try core.call(naming: "\(name).\(member)") { $0.pointee.key_intern(core.handle, $1, &key, $2) }
            keys[ObjectIdentifier(recipe)] = key
        }
    }

    /// The one definition that makes a value of a type: of that very type, or else of a class derived from it.
    func candidate(_ type: Any.Type) throws(InvivoError) -> any Recipe {
        let makers = members.filter { !$0.recipe.needsArguments }
        var fitting = makers.filter { $0.recipe.valueType == type }
        if fitting.isEmpty { fitting = makers.filter { isDerived($0.recipe.valueType, from: type) } }
        guard let only = fitting.first, fitting.count == 1 else {
            throw InvivoError(
                fitting.isEmpty ? .notFound : .argument,
                fitting.isEmpty
                    ? "nothing in the assembly makes the \(type) that the initializer wants"
                    : "the initializer wants a \(type), and \(fitting.map(\.name).joined(separator: ", ")) make one; "
                        + "say which with a closure")
        }
        return only.recipe
    }

    func key(_ recipe: any Recipe) throws(InvivoError) -> invivo_key {
        guard let key = keys[ObjectIdentifier(recipe)] else {
            throw InvivoError(.notFound, "the definition is not a property of the assembly '\(name)'")
        }
        return key
    }

    func read<Part: Assembly, Member>(_ path: KeyPath<Part, Member>) throws(InvivoError) -> Member {
        guard let part = assembly as? Part else {
            throw InvivoError(.type, "the recipe belongs to a \(Swift.type(of: assembly)), not to a \(Part.self)")
        }
        return part[keyPath: path]
    }
}

private let lazyPrefix = "$__lazy_storage_$_"
private protocol OptionalRecipe {}
extension Optional: OptionalRecipe where Wrapped: Recipe {}

private func isDerived(_ type: Any.Type, from base: Any.Type) -> Bool {
    func isDerived<Base>(_ base: Base.Type) -> Bool { type is Base.Type && base is AnyClass }
    return _openExistential(base, do: isDerived)
}

extension Runtime {
    /// Defines everything that an assembly declares, as one reload, and makes its properties factories. An assembly of the
    /// same name that was active is replaced: what it had and this one has not is removed.
    @discardableResult
    public func activate<Part: Assembly>(_ assembly: Part) throws(InvivoError) -> Part {
        let box = try AssemblyBox(assembly, core)
        let changes = try ChangeSet(core)
        let keys = box.members.map { "\(box.name).\($0.name)" }
        let former = core.registry.withLock { $0.assemblies[box.name] } ?? []
        for key in former where !keys.contains(key) { try changes.remove(key) }
        var definitions: [Bindable] = []
        for (key, member) in zip(keys, box.members) { definitions.append(try member.recipe.define(key, changes, box)) }
        try changes.commit()
        core.registry.withLock { $0.assemblies[box.name] = keys }
        for definition in definitions { definition.bind() }
        return assembly
    }

    /// Removes everything that an activated assembly has defined.
    public func deactivate(_ assembly: Assembly) throws(InvivoError) {
        let name = assembly.name
        guard let keys = core.registry.withLock({ $0.assemblies[name] }) else {
            throw InvivoError(.notFound, "no assembly '\(name)' is active")
        }
        let changes = try ChangeSet(core)
        for key in keys { try changes.remove(key) }
        try changes.commit()
        core.registry.withLock { $0.assemblies[name] = nil }
    }
}
