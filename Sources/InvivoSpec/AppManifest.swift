public import InvivoBase

/// An application manifest: the modules to load, the assemblies to activate, the components to define, the spec files
/// to follow. Only the form is checked here. InvivoApp looks up types, keys and files when it runs the manifest.
///
///     modules: { oscillator: build/liboscillator.so }
///     assemblies: [synth, { mount: voice, as: left }]
///     components:
///       synth.lead:   { type: Oscillator, scope: singleton, properties: { wave: saw } }
///       synth.filter: { type: LowPass, init: { input: $synth.lead } }
///     specs: [tuning.yaml]
///     secrets: [db.password]
///     contexts: [{ session: follows }, { request: follows, provides: [user] }]
public struct AppManifest: Sendable {
    public let modules: [ManifestModule]
    /// The map under `config:`. Values of the specs override it.
    public let config: SpecNode?
    /// The paths of the configuration that are secret.
    public let secrets: [ManifestSecret]
    /// The assemblies to activate, of those that the modules describe.
    public let assemblies: [ManifestAssembly]
    public let components: [ManifestComponent]
    /// Components that replace the objects of others, in their order.
    public let decorators: [ManifestDecorator]
    public let specs: [ManifestSpec]
    /// The sections of the configuration that are read as settings.
    public let settings: [ManifestSettings]
    /// The kinds of contexts, from the outermost to the innermost.
    public let contexts: [ManifestContextKind]
    public let file: String

    /// Reports all errors at once, as `.spec`.
    public init(_ document: SpecDocument) throws(Failure) {
        var reader = ManifestChecker()
        let parts = reader.parts(of: document.root)
        assemblies = reader.assemblies(of: document.root)
        config = reader.config(of: document.root)
        secrets = reader.secrets(of: document.root)
        decorators = reader.decorators(of: document.root)
        settings = reader.settings(of: document.root)
        contexts = reader.contexts(of: document.root)
        (modules, components, specs) = (parts.modules, parts.components, parts.specs)
        file = document.file
        try reader.checker.failures.throwIfAny()
    }

    public static func read(
        _ bytes: UnsafeRawBufferPointer, file: String, format: SpecFormat, limits: SpecLimits = SpecLimits()
    ) throws(Failure) -> AppManifest {
        try ContentQuoting.allowedForForm(!mayDeclareSecrets(bytes)) { () throws(Failure) in
            try AppManifest(SpecReader.read(bytes, file: file, format: format, limits: limits))
        }
    }

    /// Whether the text of a manifest may declare secrets. It need not be well-formed.
    private static func mayDeclareSecrets(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let mark = Array("secrets".utf8)
        return bytes.indices.contains { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
    }
}

public struct ManifestModule: Sendable {
    public let name: String
    public let nameLocation: Location
    /// As written; relative paths mean relative to the manifest.
    public let modulePath: String
    public let location: Location
}

/// A path of the configuration that a manifest declares as secret.
public struct ManifestSecret: Sendable {
    public let name: String
    public let location: Location
    /// Its key path in the manifest: "secrets[0]".
    public let path: String
}

/// A section of the configuration that is read as a type of settings.
public struct ManifestSettings: Sendable {
    /// The path of the section.
    public let section: String
    public let type: String
    /// The name of the binding; by default that of the type.
    public let name: String
    public let location: Location
    /// Its key path in the manifest, for errors found later.
    public let path: String
}

public struct ManifestSpec: Sendable {
    /// As written; relative paths mean relative to the manifest.
    public let specPath: String
    /// Whether traits with errors are skipped.
    public let keepsGoing: Bool
    public let location: Location
}

public enum ManifestScope: String, Sendable, CaseIterable {
    case prototype
    case graph
    case lazySingleton = "lazy-singleton"
    case singleton
    case weakSingleton = "weak-singleton"
    case context
    case thread

    /// Reads a name with hyphens, or with underscores as in code.
    init?(spelling: String) { self.init(rawValue: spelling.replacing("_", with: "-")) }

    /// Every name that `init(spelling:)` reads, those with hyphens first.
    public static var spellings: [String] {
        let names = allCases.map(\.rawValue)
        return names + names.filter { $0.contains("-") }.map { $0.replacing("-", with: "_") }
    }
}

/// The scope of a kind of contexts, as documents spell it: `context(request)`.
public enum ContextScope {
    /// The name of the kind; nil for another scope.
    public static func kind(in scope: String) -> String? {
        guard scope.hasPrefix("context("), scope.hasSuffix(")") else { return nil }
        let kind = scope.dropFirst("context(".count).dropLast()
        return kind.isEmpty ? nil : String(kind)
    }

    public static func text(_ kind: String) -> String { "context(\(kind))" }
}

/// A scope as documents spell it.
enum ScopeName {
    case standard(ManifestScope)
    /// `context(KIND)`
    case context(String)
    case host(String)
}

extension DocumentChecker {
    /// Reads a standard scope, or the name of a host scope. A name that resembles a standard scope is treated as a misspelling.
    mutating func scope(_ node: SpecNode, path: SpecPath) -> ScopeName? {
        let known = ManifestScope.allCases.map(\.rawValue)
        let expected = known.map { "'\($0)'" }.choices()
        guard let name = text(node, expected, path: path) else { return nil }
        if let scope = ManifestScope(spelling: name) { return .standard(scope) }
        if let kind = ContextScope.kind(in: name) { return .context(kind) }
        let near = suggestion(for: name.lowercased(), among: known)
        if near.isEmpty { return .host(name) }
        fail(
            node.variables.map { "\($0.describedValue) is not the name of a scope; expected \(expected)" }
                ?? "unknown scope \(quoted(name))\(near)", path: path, at: node.location)
        return nil
    }
}

public struct ManifestComponent: Sendable {
    public let key: String
    public let keyLocation: Location
    /// Nil if the type is that of its parent, of the target of its alias, or of its options.
    public let type: String?
    public let typeLocation: Location
    /// Lazy singleton by default. Nil if another component determines it; then `scopeLocation` is the location of this
    /// component.
    public let scope: ManifestScope?
    /// The name of a host scope, instead of `scope`; for a scope of contexts, that of their kind.
    public let scopeName: String?
    public let scopeLocation: Location
    /// The properties that are set after the object is created, in this order. Each has a name.
    public let properties: [ManifestInjection]
    /// Arguments of the initializer: all by name, or all by position.
    public let initializer: [ManifestInjection]
    public let making: ManifestMaking
    public let life: ManifestLife
    public let location: Location
    /// Its key path in the manifest, "components.synth.lead", for errors found later.
    public let path: String
}

/// A value that a component is given.
public struct ManifestInjection: Sendable {
    /// The property or parameter; nil in a list.
    public let name: String?
    public let value: ManifestValue
    /// The source location of the name if there is one, else of the value.
    public let nameLocation: Location
    public let location: Location
    /// Its key path in the manifest, "components.synth.lead.init.input", for errors found later.
    public let path: String
}

public enum ManifestValue: Sendable {
    /// `$synth.lead`: the object of that key.
    case reference(String)
    /// A value without any reference in it; `$$` at the beginning of a text has become `$`.
    case value(SpecNode)
    /// A list in which there are references.
    case list([ManifestInjection])
    /// A map in which there are references.
    case map([ManifestInjection])
    /// `$config.voices`, or a map with a key that begins with `$`.
    case form(ManifestForm)
}
