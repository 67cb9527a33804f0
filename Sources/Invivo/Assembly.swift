internal import CInvivo

/// A named set of definitions, declared as properties.
///
///     class Synth: Assembly {
///         var clock = lazySingleton(SystemClock.init)
///         var voice = prototype { resolver, note in try Voice(note: note, clock: resolver(\Synth.clock)) }
///     }
///     let synth = try runtime.activate(Synth())
///     let voice = try synth.voice(60)
///
/// Before activation a property describes an object; after activation it is a typed factory. Its key is the assembly's
/// name and the property's name without a leading underscore: `synth.clock`. A definition refers to another one by its
/// key path; cycles are allowed. It refers to members of another assembly through a property (`\Synth.tuning.scale`) or
/// a `collaborator`.
///
/// A derived assembly overrides a definition by assigning another one, of the same type, to the property in its
/// initializer:
///
///     final class QuietSynth: Synth {
///         init() {
///             super.init()
///             voice = prototype { _, note in Voice(note: note, clock: SilentClock()) }
///         }
///     }
///
/// Properties are declared with `let` or `var`, not `lazy`: they must exist when the assembly is activated. If the
/// compiler reports that types of properties depend on each other in a cycle, declare one of the types:
/// `let left: Definition<Left> = ...`.
///
/// Definitions are `Sendable`: a task may capture `synth.voice` and call it. To pass an assembly itself to tasks,
/// declare it `@unchecked Sendable`. This is correct when it has only definitions, and none of them is changed after
/// activation.
///
/// An active assembly is an assembly of the engine, like those of other languages: they depend on each other,
/// substitute for each other, collide, are replaced and are removed in the same way.
open class Assembly {
    private let givenName: String?
    private let prefix = Locked<String?>(nil)

    /// Creates an assembly.
    ///
    /// - Parameter name: The first part of the keys. The default is the name of the direct subclass of `Assembly`,
    ///   without leading underscores and in snake case as in Python: `SynthVoice` is `synth_voice`, `HTTPServer` is
    ///   `http_server`. Further derived classes use the same name, and so replace it.
    public init(name: String? = nil) { givenName = name }

    /// The first part of the keys; of one that is mounted its prefix.
    public var name: String { mounted ?? ownName }

    /// The name of the assembly where it is not mounted.
    var ownName: String { givenName ?? Self.name(of: type(of: self)) }

    /// Names of further supertypes, under which assemblies of other languages find this one as a collaborator. Its
    /// class and base classes are supertypes anyway.
    open var kinds: [String] { [] }
    /// The paths of the configuration that are secret while the assembly is active: `["database.password"]`. See
    /// `ChangeSet.addSecret`.
    open var secretPaths: [String] { [] }

    /// The prefix of its mount; nil if it is not mounted.
    var mounted: String? { prefix.withLock { $0 } }

    func mount(_ name: String?) { prefix.withLock { $0 = name } }

    /// The default name of an assembly of a class.
    static func name(of type: AnyClass) -> String {
        var type: AnyClass = type
        while let above = _getSuperclass(type), above != Assembly.self { type = above }
        return snake(String(describing: type))
    }

    /// The classes of an assembly and their names, without its own.
    var allKinds: [String] {
        var found: [String] = []
        var type: AnyClass? = Swift.type(of: self)
        while let each = type, each != Assembly.self {
            found += [String(describing: each), Self.snake(String(describing: each))]
            type = _getSuperclass(each)
        }
        var seen: Set<String> = [name]
        return (found + kinds).filter { seen.insert($0).inserted }
    }

    /// A word begins at a capital after a small letter or digit, and at the last capital of several before a small letter.
    private static func snake(_ name: String) -> String {
        let letters = Array(name.unicodeScalars.drop { $0 == "_" })
        var words = ""
        for (index, letter) in letters.enumerated() {
            if index > 0, "A"..."Z" ~= letter {
                let former = letters[index - 1]
                let isNextSmall = index + 1 < letters.count && "a"..."z" ~= letters[index + 1]
                if "a"..."z" ~= former || "0"..."9" ~= former || "A"..."Z" ~= former && isNextSmall { words += "_" }
            }
            words.unicodeScalars.append(letter)
        }
        return words.lowercased()
    }
}

/// The members of an assembly, read once for each activation.
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
            var label = isLazy ? String(given.dropFirst(lazyPrefix.count)) : given
            if let definition = child.value as? AnyDefinition {
                if label.hasPrefix("_") { label.removeFirst() }
                if !known.insert(label).inserted {
                    problems.append(
                        InvivoError(
                            .exists, "two properties of the assembly declare '\(label)'", path: "\(name).\(label)")
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
