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
/// property's, without an underscore that it begins with: `synth.clock`. A recipe refers to another one by its key path, also
/// in a circle, and to those of another assembly that is a property too (`\Synth.tuning.scale`) or a `collaborator`.
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
///
/// Definitions are `Sendable`: a task may take `synth.voice` along and call it. An assembly that is to go to tasks itself, for
/// its methods, says `@unchecked Sendable` where all that it has are definitions that are not changed once it is active.
///
/// What is activated is an assembly of the engine as any other language has them: they need each other, stand in for each
/// other, collide, are replaced and removed alike.
open class Assembly {
    private let givenName: String?
    private let prefix = Locked<String?>(nil)

    /// - Parameter name: The first part of the keys; by default the name of the class that is derived from `Assembly`
    ///   itself, in snake case as in Python: `SynthVoice` is `synth_voice`, `HTTPServer` is `http_server`, and underscores at
    ///   its begin are left out. A class derived from that one stands in its place.
    public init(name: String? = nil) { givenName = name }

    /// The first part of the keys; of one that is mounted its prefix.
    public var name: String { mounted ?? ownName }

    /// What it is called where it is not mounted.
    var ownName: String { givenName ?? Self.name(of: type(of: self)) }

    /// Names of what it also is, by which assemblies of other languages look for collaborators. Its class and those that it is
    /// derived from are so besides.
    open var kinds: [String] { [] }

    /// Under which it was mounted.
    var mounted: String? { prefix.withLock { $0 } }

    func mount(_ name: String?) { prefix.withLock { $0 = name } }

    /// What an assembly of a class is called that is given no name.
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
