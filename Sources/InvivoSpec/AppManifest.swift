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
public struct AppManifest: Sendable {
    public let modules: [ManifestModule]
    /// The map under `config:`. Values of the specs override it.
    public let config: SpecNode?
    /// The assemblies to activate, of those that the modules describe.
    public let assemblies: [ManifestAssembly]
    public let components: [ManifestComponent]
    /// Components that take the place of others' objects, in their order.
    public let decorators: [ManifestDecorator]
    public let specs: [ManifestSpec]
    public let file: String

    /// Reports all errors at once, as `.spec`.
    public init(_ document: SpecDocument) throws(Failure) {
        var reader = ManifestChecker()
        let parts = reader.parts(of: document.root)
        assemblies = reader.assemblies(of: document.root)
        config = reader.config(of: document.root)
        decorators = reader.decorators(of: document.root)
        (modules, components, specs) = (parts.modules, parts.components, parts.specs)
        file = document.file
        try reader.checker.failures.throwIfAny()
    }

    public static func read(
        _ bytes: UnsafeRawBufferPointer, file: String, format: SpecFormat, limits: SpecLimits = SpecLimits()
    ) throws(Failure) -> AppManifest {
        try AppManifest(SpecReader.read(bytes, file: file, format: format, limits: limits))
    }
}

public struct ManifestModule: Sendable {
    public let name: String
    public let namePlace: Place
    /// As written; relative paths mean relative to the manifest.
    public let modulePath: String
    public let place: Place
}

public struct ManifestSpec: Sendable {
    /// As written; relative paths mean relative to the manifest.
    public let specPath: String
    public let place: Place
}

public enum ManifestScope: String, Sendable, CaseIterable {
    case prototype
    case graph
    case lazySingleton = "lazy-singleton"
    case singleton
    case weakSingleton = "weak-singleton"
    case context
    case thread
}

public struct ManifestComponent: Sendable {
    public let key: String
    public let keyPlace: Place
    /// Nil if the type is that of its parent, of the target of its alias, or of its options.
    public let type: String?
    public let typePlace: Place
    /// Lazy singleton by default. Nil if another component determines it; then `scopePlace` is the location of this
    /// component.
    public let scope: ManifestScope?
    /// A scope of the host's, in the place of `scope`.
    public let scopeName: String?
    public let scopePlace: Place
    /// The properties that are set after the object is created, in this order. Each has a name.
    public let properties: [ManifestInjection]
    /// Arguments of the initializer: all by name, or all by position.
    public let initializer: [ManifestInjection]
    public let making: ManifestMaking
    public let life: ManifestLife
    public let place: Place
    /// Its key path in the manifest, "components.synth.lead", for errors found later.
    public let path: String
}

/// A value that a component is given.
public struct ManifestInjection: Sendable {
    /// The property or parameter; nil in a list.
    public let name: String?
    public let value: ManifestValue
    /// The source location of the name if there is one, else of the value.
    public let namePlace: Place
    public let place: Place
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
