import InvivoBase
import InvivoSpec
import Testing

@Suite struct AppManifestTests {
    private func read(_ text: String, _ format: SpecFormat = .yaml) throws(Failure) -> AppManifest {
        try AppManifest(SpecReader.read(text, file: "app.yaml", format: format))
    }

    /// A value in one line: `$key` for references, else the reader's result.
    private func shown(_ value: ManifestValue) -> String {
        switch value {
        case .reference(let key): "$\(key)"
        case .value(let node): SpecWriter.yaml(node).trimmingSuffix(while: \.isNewline)
        case .list(let items): "[\(items.map { shown($0.value) }.joined(separator: ", "))]"
        case .form(let form): "$\(form.kind.rawValue) \(form.name)\(form.items.map { shown($0.value) })"
        case .map(let items): "{\(items.map { "\($0.name ?? "?"): \(shown($0.value))" }.joined(separator: ", "))}"
        }
    }

    @Test func readsModulesComponentsAndSpecs() throws {
        let manifest = try read(
            """
            modules: { oscillator: build/liboscillator.so, filter: build/libfilter.so }
            components:
              synth.lead:   { type: Oscillator, scope: singleton, properties: { wave: saw, gain: 0.5 } }
              synth.filter: { type: LowPass, init: { input: $synth.lead } }
              synth.mixer:
                type: Mixer
                scope: prototype
                init: [$synth.lead, [$synth.filter, $$raw, 3], { a: $synth.lead, b: $$x }, $$only, [$$a]]
            specs: [tuning.yaml, more.json]
            """)
        #expect(manifest.modules.map(\.name) == ["oscillator", "filter"])
        #expect(manifest.modules.map(\.modulePath) == ["build/liboscillator.so", "build/libfilter.so"])
        #expect(manifest.modules[1].nameLocation == Location(file: "app.yaml", line: 1, column: 48))
        #expect(manifest.specs.map(\.specPath) == ["tuning.yaml", "more.json"])
        #expect(manifest.specs[1].location == Location(file: "app.yaml", line: 9, column: 22))
        let components = manifest.components
        #expect(components.map(\.key) == ["synth.lead", "synth.filter", "synth.mixer"])
        #expect(components.map(\.type) == ["Oscillator", "LowPass", "Mixer"])
        #expect(components.map(\.scope) == [.singleton, .lazySingleton, .prototype])
        #expect(components[0].properties.map(\.name) == ["wave", "gain"])
        #expect(components[0].properties[1].path == "components.synth.lead.properties.gain")
        #expect(components[0].scopeLocation == Location(file: "app.yaml", line: 3, column: 44))
        let input = try #require(components[1].initializer.first)
        #expect(input.name == "input" && shown(input.value) == "$synth.lead")
        #expect(input.location == Location(file: "app.yaml", line: 4, column: 49))
        #expect(input.nameLocation == Location(file: "app.yaml", line: 4, column: 42))
        let arguments = components[2].initializer
        #expect(arguments.allSatisfy { $0.name == nil })
        #expect(
            arguments.map { shown($0.value) } == [
                "$synth.lead", "[$synth.filter, \"$raw\", 3]", "{a: $synth.lead, b: \"$x\"}", "\"$only\"", "- \"$a\"",
            ])
        #expect(arguments[0].path == "components.synth.mixer.init[0]")
    }

    @Test func theSameInJSON() throws {
        let text = #"{"components": {"a.b": {"type": "T", "init": ["$a.c", "$$"]}}, "specs": []}"#
        let component = try #require(try read(text, .json).components.first)
        #expect(component.initializer.map { shown($0.value) } == ["$a.c", "\"$\""])
    }

    @Test func readsFormsAndDollarSignsInKeys() throws {
        let manifest = try read(
            "components: { a: { type: X, init: [$config.b.c, { $config: d, default: 3 }, { $$e: 1 }, { $lazy: $f }] } }"
        )
        let component = try #require(manifest.components.first)
        #expect(
            component.initializer.map { shown($0.value) }
                == ["$config b.c[]", "$config d[\"3\"]", "\"$e\": 1", "$lazy [\"$f\"]"])
    }

    @Test func anEmptyMapIsAnEmptyApplication() throws {
        let manifest = try read("{}")
        #expect(manifest.modules.isEmpty && manifest.components.isEmpty && manifest.specs.isEmpty)
    }

    @Test(arguments: [
        (
            "5",
            "1:1: expected a map with the keys 'modules', 'assemblies', 'config', 'settings', 'components', 'decorators', 'secrets', 'specs' and 'contexts', found the integer 5"
        ),
        ("module: {}", "1:1: unknown key 'module'; did you mean 'modules'?"),
        (
            "traits: {}",
            "1:1: unknown key 'traits'; expected 'modules', 'assemblies', 'config', 'settings', 'components', 'decorators', 'secrets', 'specs' or 'contexts'"
        ),
        ("modules: [a]", "1:10: modules: expected a map of module names and paths, found a list"),
        (
            "modules:\n",
            "1:9: modules: expected a map of module names and paths, found nothing; write {} if there are none"
        ),
        ("modules: { a: 1 }", "1:15: modules.a: expected the path of a module, found the integer 1"),
        ("modules: { a: '' }", "1:15: modules.a: expected the path of a module, found the string ''"),
        ("specs: tuning.yaml", "1:8: specs: expected a list of paths, found the string 'tuning.yaml'"),
        (
            "specs: [a, [b]]",
            "1:12: specs[1]: expected the path of a spec, or a map such as '{ file: tuning.yaml, keep_going: true }', found a list"
        ),
        (
            "components: { a: Oscillator }",
            "1:18: components.a: expected a map such as '{ type: Oscillator }', found the string 'Oscillator'"
        ),
        ("components: { a: {} }", "1:15: components.a: the key 'type' is missing; it names the component's type"),
        ("components: { a: { typ: X } }", "1:20: components.a: unknown key 'typ'; did you mean 'type'?"),
        ("components: { a: { type: 5 } }", "1:26: components.a.type: expected the name of a type, found the integer 5"),
        (
            "components: { a: { type: X, scope: lazy_singelton } }",
            "1:36: components.a.scope: unknown scope 'lazy_singelton'; did you mean 'lazy-singleton'?"
        ),
        (
            "components: { a: { type: X, scope: lazy singleton } }",
            "1:36: components.a.scope: unknown scope 'lazy singleton'; did you mean 'lazy-singleton'?"
        ),
        (
            "components: { a: { type: X, scope: lazySingleton } }",
            "1:36: components.a.scope: unknown scope 'lazySingleton'; did you mean 'lazy-singleton'?"
        ),
        (
            "components: { a: { type: X, properties: [1] } }",
            "1:41: components.a.properties: expected a map of properties and values, found a list"
        ),
        (
            "components: { a: { type: X, parameters: [note, { name: note }] } }",
            "1:56: components.a.parameters[1].name: two runtime arguments are named 'note'"
        ),
        (
            "components: { a: { type: X, init: $b } }",
            "1:35: components.a.init: expected a map of parameters and values, or a list of values, found the string '$b'"
        ),
        (
            "components: { a: { type: X, init: [[{ x: $ }]] } }",
            "1:42: components.a.init[0][0].x: expected a key after '$'; write '$$' for a dollar sign"
        ),
        ("components: { a: { type: X, properties: { '': 1 } } }", "1:43: components.a.properties: a name is empty"),
    ])
    func refusesWithLocationAndExpectation(text: String, expected: String) {
        let found = failure { () throws(Failure) in try read(text) }
        #expect(found?.text == "app.yaml:" + expected)
        #expect(found?.code == .spec)
    }

    @Test func allErrorsAreReportedAtOnce() {
        let text = "modlues: {}\ncomponents:\n  a: { tpye: X, scope: singletn }\n  b: 3\nspecs: {}\n"
        let found = failure { () throws(Failure) in try read(text) }
        #expect(found?.all.map(\.location.line) == [1, 3, 3, 4, 5])
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, predicate(last) { text.removeLast() }
        return text
    }
}
