import CInvivo
import InvivoBase
import InvivoGraph
import InvivoWiring
import Testing

@testable import InvivoDescribe

/// A registry without a runtime: it numbers keys and knows no type.
final class Registry: DefinitionRegistry {
    let names = KeyNames()
    var scopes: Set<String> = []

    func intern(_ name: String) throws(Failure) -> UInt32 {
        try names.intern(name)
    }
    func type(named name: String) throws(Failure) -> ObjectType { throw Failure(.notFound, "no type '\(name)'") }
    func requireScope(_ scope: Scope, named name: String) throws(Failure) {
        if !scopes.contains(name) { throw Failure(.notFound, "no scope '\(name)'") }
    }
}

/// C tables as definitions, without a runtime.
@Suite struct DefinitionReaderTests {
    /// Reads a definition whose strings and tables live as long as `strings`.
    private static func read(
        _ key: String = "app.part", type: String? = "Part", strings: CStrings = CStrings(),
        with change: (inout invivo_definition, CStrings) -> Void
    ) throws(Failure) -> (definition: Definition, inlines: [Definition]) {
        var given = invivo_definition()
        given.struct_size = MemoryLayout<invivo_definition>.size
        given.key = strings.string(key)
        given.type_name = strings.string(type)
        change(&given, strings)
        let inlines = InlineDefinitions()
        let definition = try DefinitionReader(Registry(), inlines).definition(&given)
        withExtendedLifetime(strings) {}
        return (definition, inlines.definitions)
    }

    /// The failure of reading such a definition.
    private static func failure(_ change: (inout invivo_definition, CStrings) -> Void) -> Failure? {
        do throws(Failure) { _ = try read(with: change) } catch { return error }
        return nil
    }

    private static func injection(
        _ strings: CStrings, _ how: Int, _ reference: String? = nil, name: String? = nil, flags: Int = 0,
        index: UInt64 = 0,
        items: [invivo_injection] = []
    ) -> invivo_injection {
        var given = invivo_injection()
        given.how = UInt32(how)
        given.reference = strings.string(reference)
        given.name = strings.string(name)
        given.flags = UInt32(flags)
        given.index = index
        given.items = strings.table(items)
        given.item_count = UInt64(items.count)
        return given
    }

    @Test func plainFieldsAreCopied() throws {
        let (definition, inlines) = try Self.read { given, strings in
            given.scope = UInt32(INVIVO_SCOPE_LAZY_SINGLETON)
            given.flags = UInt32(INVIVO_DEFINITION_ABSTRACT | INVIVO_DEFINITION_NULLABLE)
            given.parent = strings.string("app.base")
            given.file = strings.string("app.c")
            (given.line, given.column, given.rank) = (7, 3, -2)
            (given.start_timeout_ms, given.stop_timeout_ms) = (5, .max)
        }
        #expect(definition.key == "app.part" && definition.id == 0 && inlines.isEmpty)
        #expect(definition.body.typeName == "Part" && definition.body.scope == .lazySingleton)
        #expect(definition.body.flags == [.abstract, .nullable] && definition.body.parent == "app.base")
        #expect(definition.body.location == Location(file: "app.c", line: 7, column: 3) && definition.body.rank == -2)
        #expect(definition.body.startTimeout == 5_000_000 && definition.body.stopTimeout == .max)
    }

    @Test func parametersHaveDefaultsInTheirKind() throws {
        let (definition, _) = try Self.read { given, strings in
            given.parameters = strings.table([
                invivo_parameter(
                    name: strings.string("note"), kind: ValueKind.int32.rawValue, flags: 0, type_name: nil),
                invivo_parameter(
                    name: strings.string("rate"), kind: ValueKind.double.rawValue, flags: 0, type_name: nil),
            ])
            given.parameter_count = 2
            given.defaults = strings.table([invivo_null(), invivo_int64(2)])
        }
        let parameters = definition.body.parameters?.parameters ?? []
        #expect(parameters.map(\.name) == ["note", "rate"])
        #expect(parameters.first?.defaultValue == nil)
        guard case .double(2)? = parameters.last?.defaultValue else {
            Issue.record("\(String(describing: parameters.last?.defaultValue))")
            return
        }
    }

    @Test(arguments: [
        (["note", "note"], [false, false], "two parameters are named 'note'"),
        (["note", "rate"], [true, false], "the parameter 'rate' is required, but follows an optional one"),
    ])
    func wrongParametersAreRefused(names: [String], optional: [Bool], message: String) {
        let failure = Self.failure { given, strings in
            given.parameters = strings.table(
                zip(names, optional).map { name, isOptional in
                    invivo_parameter(
                        name: strings.string(name) as UnsafePointer<CChar>, kind: ValueKind.any.rawValue,
                        flags: isOptional ? 1 : 0,
                        type_name: nil)
                })
            given.parameter_count = UInt64(names.count)
        }
        #expect(failure?.message == message && failure?.path == "app.part" && failure?.code == .argument)
    }

    @Test func anInlineDefinitionIsNamedByItsPathAndMayUseTheArgumentsOfItsOwner() throws {
        let (definition, inlines) = try Self.read { given, strings in
            var inner = invivo_definition()
            inner.struct_size = MemoryLayout<invivo_definition>.size
            inner.type_name = strings.string("Inner")
            inner.initializer = strings.table([Self.injection(strings, Int(INVIVO_INJECT_ARGUMENT))])
            inner.initializer_count = 1
            var reference = Self.injection(strings, Int(INVIVO_INJECT_REFERENCE), name: "left")
            reference.definition = strings.table([inner])
            given.properties = strings.table([reference])
            given.property_count = 1
            given.parameters = strings.table([
                invivo_parameter(name: strings.string("note"), kind: ValueKind.any.rawValue, flags: 0, type_name: nil)
            ])
            given.parameter_count = 1
        }
        #expect(inlines.map(\.key) == ["app.part.left"])
        #expect(inlines.first?.body.owner == "app.part")
        #expect(inlines.first?.body.flags == [.hiddenClass, .hiddenInterface])
        #expect(inlines.first?.body.parameters?.parameters.map(\.name) == ["note"])
        #expect(
            definition.body.properties.first?.source == .reference("app.part.left", arguments: [.argument(0)]))
    }

    @Test(
        arguments: [
            (Int(INVIVO_INJECT_REFERENCE), nil, 0, UInt64(0), "initializer[0]: reference is NULL"),
            (Int(INVIVO_INJECT_PATH), "a..b", 1, 0, "initializer[0]: 'a..b' is not a property path"),
            (Int(INVIVO_INJECT_PROVIDER), nil, 0, 0, "initializer[0]: items has 0 entries; expected 1"),
            (
                Int(INVIVO_INJECT_CONFIG), "a", 2, 0,
                "initializer[0]: items has 2 entries; expected at most 1, the default"
            ),
            (Int(INVIVO_INJECT_CONFIG), "a", 0, 200, "initializer[0].index is 200, which is no kind"),
            (
                Int(INVIVO_INJECT_ARGUMENT), nil, 0, 256,
                "initializer[0]: index is 256; it must be less than 256"
            ),
            (
                Int(INVIVO_INJECT_MAP), nil, 1, 0,
                "initializer[0]: each item of a map needs a name, and all names must differ"
            ),
            (17, nil, 0, 0, "initializer[0].how is 17, which is not one of INVIVO_INJECT_..."),
        ] as [(Int, String?, Int, UInt64, String)])
    func wrongSourcesAreRefused(how: Int, reference: String?, items: Int, index: UInt64, message: String) {
        let failure = Self.failure { given, strings in
            let inner = (0..<items).map { _ in Self.injection(strings, Int(INVIVO_INJECT_ARGUMENTS)) }
            given.initializer = strings.table([Self.injection(strings, how, reference, index: index, items: inner)])
            given.initializer_count = 1
        }
        #expect(failure?.message == message && failure?.path == "app.part" && failure?.code == .argument)
    }

    @Test func fieldsThatExcludeEachOtherAreRefused() {
        #expect(Self.failure { given, _ in given.scope = 99 }?.message.contains("definition.scope is 99") == true)
        #expect(Self.failure { given, _ in given.flags = 1 << 30 }?.message.contains("definition.flags") == true)
        #expect(
            Self.failure { given, strings in given.scope_name = strings.string("request") }?.message
                == "a scope of the host has a name, and only a scope of contexts may have one: that of their kind")
        #expect(Self.failure { given, _ in given.initializer_count = 2 }?.message.contains("is NULL") == true)
        #expect(Self.failure { given, _ in given.struct_size = 3 }?.message.contains("struct_size") == true)
        #expect(
            Self.failure { given, _ in given.type_name = nil }?.message.hasPrefix("definition.type is zero") == true)
    }

    @Test func nestedTablesHaveALimit() {
        let failure = Self.failure { given, strings in
            var inner = Self.injection(strings, Int(INVIVO_INJECT_ARGUMENTS))
            for _ in 0..<40 { inner = Self.injection(strings, Int(INVIVO_INJECT_LIST), items: [inner]) }
            given.initializer = strings.table([inner])
            given.initializer_count = 1
        }
        #expect(failure?.code == .tooLarge)
    }
}
