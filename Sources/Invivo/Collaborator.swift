/// Another assembly that this one refers to, found when it is activated:
///
///     final class Synth: Assembly {
///         let tuning = collaborator(Tuning.self)
///         let voice = prototype { resolver, note in try Voice(note, scale: resolver(\Synth.tuning, \.scale)) }
///     }
///
/// An assembly of the class, or one derived from it, that is activated together with this one stands in for it, else one
/// that is active already. `Other` may be a protocol that assemblies conform to.
public final class Collaborator<Other>: AnyCollaborator, @unchecked Sendable {
    private let make: (() -> Other)?
    /// Active assemblies are kept by their definitions; one that was made here is kept here.
    private let found = Locked(Weak())
    private struct Weak {
        weak var assembly: Assembly?
        var made: Assembly?
    }

    fileprivate init(_ make: (() -> Other)?) { self.make = make }

    /// The assembly; an error before it is found.
    public func callAsFunction() throws(InvivoError) -> Other { try met() }

    func met() throws(InvivoError) -> Other {
        guard let other = current as? Other else {
            throw InvivoError(
                .notReady,
                "the collaborator, a \(Other.self), is found when the assembly is activated: "
                    + "runtime.activate(…)")
        }
        return other
    }

    override var wanted: String { "\(Other.self)" }
    override var current: Assembly? { found.withLock { $0.assembly } }
    override func fits(_ assembly: Assembly) -> Bool { assembly is Other }
    override func isExactly(_ assembly: Assembly) -> Bool { type(of: assembly) == Other.self }
    override func meet(_ assembly: Assembly?) { found.withLock { $0.assembly = assembly } }

    override func made() -> Assembly? {
        if let made = found.withLock({ $0.made }) { return made }
        let made = make?() as? Assembly
        found.withLock { $0.made = made }
        return made
    }
}

/// A collaborator of any class.
public class AnyCollaborator: @unchecked Sendable {
    init() {}
    var wanted: String { "" }
    var current: Assembly? { nil }
    func fits(_ assembly: Assembly) -> Bool { false }
    func isExactly(_ assembly: Assembly) -> Bool { false }
    func meet(_ assembly: Assembly?) {}
    func made() -> Assembly? { nil }
}

/// An assembly that is found when this one is activated; none is an error then.
public func collaborator<Other>(_ other: Other.Type) -> Collaborator<Other> { Collaborator(nil) }

/// The same; when none is given or active, one is made: `collaborator(Tuning.self, else: Tuning())`.
public func collaborator<Other: Assembly>(
    _ other: Other.Type, else make: @autoclosure @escaping () -> Other
) -> Collaborator<Other> {
    Collaborator(make)
}
