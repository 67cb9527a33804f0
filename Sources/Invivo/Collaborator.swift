/// Another assembly that this one refers to, found at activation.
///
///     final class Synth: Assembly {
///         let tuning = collaborator(Tuning.self)
///         let voice = prototype { resolver, note in try Voice(note, scale: resolver(\Synth.tuning, \.scale)) }
///     }
///
/// The candidates are assemblies of the class or of a derived class, in this order: one that is activated together with
/// this one, one that is active already, one that was described. `Other` may be a protocol that assemblies conform to.
public final class Collaborator<Other>: AnyCollaborator, @unchecked Sendable {
    private let make: (() -> Other)?
    private let key: String?
    /// The collaborator. Active assemblies are retained by their definitions; one that this object created is retained here.
    private let found = Locked(Weak())
    private struct Weak {
        weak var assembly: Assembly?
        var made: Assembly?
    }

    fileprivate init(_ key: String?, _ make: (() -> Other)?) {
        self.key = key
        self.make = make
    }

    /// The assembly; an error before it is found.
    public func callAsFunction() throws(InvivoError) -> Other { try met() }

    func met() throws(InvivoError) -> Other {
        guard let other = current as? Other else {
            throw InvivoError(
                .notReady,
                "the collaborator, \(wanted), is found when the assembly is activated: runtime.activate(…)")
        }
        return other
    }

    override var wanted: String {
        key.map { "the assembly '\($0)', \(article(Other.self))" } ?? "\(article(Other.self))"
    }
    override var name: String? { key ?? (Other.self as? AnyClass).map(Assembly.name) }
    override var current: Assembly? { found.withLock { $0.assembly } }
    override func fits(_ assembly: Assembly) -> Bool { assembly is Other && (key == nil || assembly.name == key) }
    override func isAlike(_ assembly: Assembly) -> Bool { assembly is Other }
    override func isExactly(_ assembly: Assembly) -> Bool { type(of: assembly) == Other.self }
    override func meet(_ assembly: Assembly?) { found.withLock { $0.assembly = assembly } }

    override func made() -> Assembly? {
        if let made = found.withLock({ $0.made }) { return made }
        let made = make?() as? Assembly
        found.withLock { $0.made = made }
        return made
    }
}

/// A collaborator that is known by its name alone, of any language; the engine finds it.
///
///     let studio = collaborator(named: "studio")
///     let voice = prototype { resolver, note in try Voice(note, scale: resolver(\Synth.studio, "scale")) }
public final class NamedCollaborator: AnyCollaborator, @unchecked Sendable {
    private let key: String
    /// The name of the assembly or of a supertype; nil: the key.
    let kind: String?
    let isOptional: Bool
    private let remapped = Locked<String?>(nil)

    fileprivate init(_ key: String, _ kind: String?, _ isOptional: Bool) {
        self.key = key
        self.kind = kind
        self.isOptional = isOptional
    }

    override var wanted: String { "the assembly '\(kind ?? key)'" }
    override var name: String? { key }
    override var isByName: Bool { true }
    override var isLed: Bool { remapped.withLock { $0 != nil } }
    override func lead(to name: String?) { remapped.withLock { $0 = name } }

    /// The first part of references to it.
    override var prefix: String? { remapped.withLock { $0 } ?? key }
    override var reference: ActiveAssembly.Reference? {
        prefix.map { ActiveAssembly.Reference(prefix: $0, kind: kind, isOptional: isOptional) }
    }
}

/// A collaborator of any class.
public class AnyCollaborator: @unchecked Sendable {
    init() {}
    /// The required assembly, for messages.
    var wanted: String { "" }
    /// The name of an assembly without a class, for lookups and remaps.
    var name: String? { nil }
    var isByName: Bool { false }
    /// Whether a mount redirects its references to keys, which need not belong to an assembly.
    var isLed: Bool { false }
    /// The assembly that was found.
    var current: Assembly? { nil }
    /// The first part of references to it.
    var prefix: String? { current?.name }
    /// The reference in the terms of the engine.
    var reference: ActiveAssembly.Reference? { prefix.map { ActiveAssembly.Reference(prefix: $0) } }
    /// Whether an assembly matches.
    func fits(_ assembly: Assembly) -> Bool { false }
    /// Whether an assembly matches the required type, under any name.
    func isAlike(_ assembly: Assembly) -> Bool { false }
    func isExactly(_ assembly: Assembly) -> Bool { false }
    func meet(_ assembly: Assembly?) {}
    func lead(to name: String?) {}
    func made() -> Assembly? { nil }
}

/// Refers to an assembly that is found at activation. A missing one is an error of the activation.
public func collaborator<Other>(_ other: Other.Type) -> Collaborator<Other> { Collaborator(nil, nil) }

/// Refers to the assembly with a name, which must be of a class.
public func collaborator<Other>(_ other: Other.Type, named name: String) -> Collaborator<Other> {
    Collaborator(name, nil)
}

/// Refers to an assembly of any language by its name.
///
/// - Parameters:
///   - kind: The name of an assembly or of a supertype, if it differs from `name`. References begin with `name` in any
///     case.
///   - isOptional: Whether it may be missing; references to it must then be optional.
public func collaborator(named name: String, of kind: String? = nil, isOptional: Bool = false) -> NamedCollaborator {
    NamedCollaborator(name, kind, isOptional)
}

/// Refers to another assembly. If none is given or active, `make` creates one:
/// `collaborator(Tuning.self, else: Tuning())`.
public func collaborator<Other: Assembly>(
    _ other: Other.Type, else make: @autoclosure @escaping () -> Other
) -> Collaborator<Other> {
    Collaborator(nil, make)
}
