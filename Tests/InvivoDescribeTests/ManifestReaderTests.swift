import InvivoBase
import InvivoSpec
import InvivoGraph
import InvivoWiring
import Testing

@testable import InvivoDescribe

/// Components of a manifest as definitions, without a runtime.
@Suite struct ManifestReaderTests {
    private static func read(_ text: String) throws(Failure) -> (
        definitions: [Definition], inlines: [Definition], failures: [Failure]
    ) {
        let bytes = Array(text.utf8)
        let read = bytes.withUnsafeBytes { bytes in
            Result { () throws(Failure) in try AppManifest.read(bytes, file: "app.yaml", format: .yaml) }
        }
        let manifest = try read.get()
        let registry = Registry()
        registry.scopes = ["request"]
        let reader = ManifestReader(manifest, in: registry)
        let inlines = InlineDefinitions()
        var failures: [Failure] = []
        var definitions: [Definition] = []
        for component in manifest.components {
            definitions.append(try reader.definition(component, nil, &failures, inlines))
        }
        return (definitions, inlines.definitions, failures)
    }

    @Test func formsAreTheSourcesThatTheyName() throws {
        let (definitions, _, failures) = try Self.read(
            """
            components:
              app.part:
                type: Part
                scope: request
                init:
                  - $app.other
                  - { $key: $app.other, arguments: [1], optional: true }
                  - { $type: Clock, exact: true, greedy: true }
                  - { $config: voices, default: 8 }
                  - { $path: theme.name, of: $app.other }
                  - { $text: 64 KiB, by: bytes }
                  - { $argument: 2 }
                  - [$app.other, { $provider: $app.other }]
            """)
        #expect(failures.isEmpty)
        #expect(definitions[0].body.scope == .host && definitions[0].body.scopeName == "request")
        let expected: [Injection.Source] = [
            .reference("app.other"), .reference("app.other", arguments: [.value(.int64(1))], isOptional: true),
            .type(Injection.TypeQuery(name: "Clock", isExact: true, isGreedy: true)),
            .config("voices", default: .value(.int64(8)), isOptional: false, kind: .any),
            .path(.reference("app.other"), ["theme", "name"], isOptional: false),
            .text(.value(.string("64 KiB")), converter: "bytes"), .argument(2),
            .list([.reference("app.other"), .provider(.reference("app.other"))]),
        ]
        #expect(definitions[0].body.initializer.map { "\($0.source)" } == expected.map { "\($0)" })
    }

    @Test func inlineComponentsAreNamedByTheirPath() throws {
        let (definitions, inlines, failures) = try Self.read(
            """
            components:
              app.part:
                parent: app.base
                parameters: [note]
                properties: { left: { $new: { parent: app.base, init: [{ $argument: 0 }] } } }
                methods: [play: [{ $new: { parent: app.base } }]]
            """)
        #expect(failures.isEmpty)
        #expect(inlines.map(\.key) == ["app.part.left", "app.part.play.0"])
        #expect(inlines[0].body.parameters?.parameters.map(\.name) == ["note"])
        #expect(inlines[1].body.parameters == nil)
        #expect(
            definitions[0].body.properties.map { "\($0.source)" } == [
                "\(Injection.Source.reference("app.part.left", arguments: [.argument(0)], isOptional: false))"
            ])
    }

    @Test func allErrorsAreReportedWithTheirPlace() throws {
        let (definitions, _, failures) = try Self.read(
            """
            components:
              app.part:
                type: Part
                scope: nowhere
                parameters: [{ name: a, kind: in32 }, { name: b, kind: int32, default: x }, { name: c, default: 1 }, d]
                init: [{ $path: a..b, of: $app.other }]
            """)
        #expect(definitions[0].body.isPartial)
        let texts = failures.map { "\($0.location.line):\($0.location.column) \($0.path): \($0.message)" }
        try #require(texts.count == 5, "\(texts)")
        #expect(texts[0] == "4:12 app.part.scope: no scope 'nowhere'" || texts[0].hasSuffix("no scope 'nowhere'"))
        #expect(texts[1].hasPrefix("5:18 app.part: 'in32' is no kind"))
        #expect(texts[2].contains("app.part: the default: "))
        #expect(texts[3].hasSuffix("the parameter 'd' is required, but follows an optional one"))
        #expect(texts[4].hasSuffix("components.app.part.init[0]: 'a..b' is not a property path"))
    }
}
