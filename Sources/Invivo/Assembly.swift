internal import CInvivo

/// A named set of definitions, declared as properties:
///
///     class Synth: Assembly {
///         var clock = lazySingleton(SystemClock.init)
///         var voice = prototype { resolver, note in try Voice(note: note, clock: resolver(\Synth.clock)) }
///     }
///     let synth = try runtime.activate(Synth())
///     let voice = try synth.voice(60)
///
/// Before it is activated a property is a recipe, afterwards a typed factory. Its key is the assembly's name and the
/// property's: `synth.clock`. A recipe refers to another one by its key path, also in a circle, and to those of another
/// assembly that is a property too (`\Synth.tuning.scale`) or a `collaborator`.
///
/// A derived assembly overrides a definition by giving the property another one, of the same type, in its initializer:
///
///     final class QuietSynth: Synth {
///         init() {
///             super.init()
///             voice = prototype { _, note in Voice(note: note, clock: SilentClock()) }
///         }
///     }
///
/// Properties are declared with `let` or `var`, not `lazy`: they must be there when the assembly is activated. Where the
/// compiler finds that types of properties depend on each other in a circle, one of them is written out:
/// `let left: Definition<Left> = ...`.
open class Assembly {
    private let givenName: String?

    /// - Parameter name: The first part of the keys; by default the name of the class that is derived from `Assembly`
    ///   itself, its first letter small: a class derived from that one stands in its place.
    public init(name: String? = nil) { givenName = name }

    /// The first part of the keys.
    public var name: String {
        if let givenName { return givenName }
        var mirror = Mirror(reflecting: self)
        while let above = mirror.superclassMirror, above.subjectType != Assembly.self { mirror = above }
        let type = String(describing: mirror.subjectType)
        return type.prefix(1).lowercased() + type.dropFirst()
    }
}

/// What an assembly's properties are, read once for each activation.
struct Members {
    /// The most derived class' last, in the order of their declaration.
    var definitions: [(name: String, definition: AnyDefinition)] = []
    var collaborators: [(name: String, collaborator: AnyCollaborator)] = []
    /// Assemblies that are properties.
    var assemblies: [Assembly] = []
    var problems: [InvivoError] = []

    init(of assembly: Assembly) {
        let name = assembly.name
        var levels: [Mirror] = []
        var mirror: Mirror? = Mirror(reflecting: assembly)
        while let level = mirror {
            levels.append(level)
            mirror = level.superclassMirror
        }
        var known: Set<String> = []
        for child in levels.reversed().flatMap(\.children) {
            guard let given = child.label else { continue }
            let isLazy = given.hasPrefix(lazyPrefix)
            let label = isLazy ? String(given.dropFirst(lazyPrefix.count)) : given
            if let definition = child.value as? AnyDefinition {
                if !known.insert(label).inserted {
                    problems.append(
                        InvivoError(.exists, "two classes of the assembly declare '\(label)'", path: "\(name).\(label)")
                    )
                }
                definitions.append((label, definition))
            } else if let collaborator = child.value as? AnyCollaborator {
                collaborators.append((label, collaborator))
            } else if let inner = child.value as? Assembly {
                assemblies.append(inner)
            } else if isLazy, child.value is any OptionalDefinition {
                problems.append(
                    InvivoError(
                        .argument,
                        "a definition must be there from the start: declare it with `let` or `var`, not `lazy`",
                        path: "\(name).\(label)"))
            }
        }
    }
}

private let lazyPrefix = "$__lazy_storage_$_"
private protocol OptionalDefinition {}
extension Optional: OptionalDefinition where Wrapped: AnyDefinition {}
