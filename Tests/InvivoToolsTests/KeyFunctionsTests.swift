import InvivoBase
import InvivoReload
import Testing

@testable import InvivoTools

/// The key functions, from facts that are written by hand.
@Suite struct KeyFunctionsTests {
    private static func node(_ key: String, _ change: (inout WiringFacts.Node) -> Void = { _ in }) -> WiringFacts.Node {
        var node = WiringFacts.Node(key: key)
        node.type = "Knight"
        node.scope = "prototype"
        change(&node)
        return node
    }

    private static func functions(_ nodes: WiringFacts.Node...) throws(Failure) -> KeyFunctions {
        try KeyFunctions(WiringFacts(generation: 1, nodes: nodes))
    }

    private static func parameter(
        _ name: String, _ kind: ValueKind, isOptional: Bool = false, type: String? = nil, default value: Value? = nil
    ) -> Signature.Parameter {
        Signature.Parameter(name: name, kind: kind, isOptional: isOptional, typeName: type, defaultValue: value)
    }

    private static let parameters = [
        parameter("quest", .object, type: "Thing"),
        parameter("class", .uint8),
        parameter("rate", .double, default: .double(0.5)),
        parameter("level", .int32, isOptional: true),
    ]

    @Test func abstractInlineAndBlockKeysHaveNoFunction() throws {
        let functions = try Self.functions(
            Self.node("a.pattern") { $0.isAbstract = true },
            Self.node("a.settings") { $0.members = TypeMembers(isBlockOnly: true) },
            Self.node("a.whole") { $0.dependencies = [.init(key: "a.whole.part", how: .injection)] },
            Self.node("a.whole.part") { $0.isInline = true },
            // An inline alias does not say that it is inline.
            Self.node("a.whole.other") { $0.alias = "a.thing" },
            Self.node("a.thing") { $0.dependencies = [.init(key: "a.thing.left.again", how: .initializer)] },
            Self.node("a.thing.left.again") { $0.alias = "a.whole" })
        #expect(functions.functions.map(\.key) == ["a.thing", "a.whole", "a.whole.other"])
    }

    @Test func anAliasTakesTheArgumentsThatItDoesNotBind() throws {
        let functions = try Self.functions(
            Self.node("knight") { $0.call = .init(parameters: Self.parameters) },
            Self.node("galahad") { ($0.alias, $0.call, $0.type) = ("knight", .init(boundArguments: 1), "") },
            Self.node("kay") { ($0.alias, $0.call) = ("galahad", .init(boundArguments: 1)) },
            Self.node("own") { ($0.alias, $0.call) = ("knight", .init(parameters: [])) })
        let names = functions.functions.map {
            "\($0.key)(\($0.parameters.map(\.name).joined(separator: ", "))): \($0.type)"
        }
        #expect(
            names == [
                "galahad(class, rate, level): Knight", "kay(rate, level): Knight",
                "knight(quest, class, rate, level): Knight", "own(): Knight",
            ])
        #expect(functions.functions[0].summary == "stands for knight")
        #expect(functions.typeNames == ["Knight", "Thing"])
    }

    @Test func keysWithTheSameIdentifierAreRefused() {
        #expect { try Self.functions(Self.node("a.b"), Self.node("a_b")) } throws: { error in
            guard let failure = error as? Failure else { return false }
            return failure.code == .exists && failure.path == "a_b"
                && failure.message
                    == "the keys 'a.b' and 'a_b' would both be 'a_b'; name one of them otherwise"
        }
        #expect {
            try Self.functions(Self.node("a") { $0.type = "T<A>" }, Self.node("b") { $0.type = "T_A_" })
        } throws: { ($0 as? Failure)?.message.hasPrefix("the types") == true }
    }

    @Test func aCFunctionTakesOptionalParametersAsPointers() throws {
        let text = try Self.functions(Self.node("camelot.knight") { $0.call = .init(parameters: Self.parameters) }).c
        #expect(
            text.hasSuffix(
                """

                /* camelot.knight: prototype. */
                static inline invivo_status camelot_knight(invivo_runtime runtime, Knight_object *out, Thing_object quest, \
                uint8_t class_, double rate, const int32_t *level, invivo_error **error) {
                    static uint64_t known;
                    const invivo_value arguments[] = {invivo_object_value(quest.object), invivo_uint64(class_), \
                invivo_double(rate), level ? invivo_int64(*level) : invivo_null()};
                    return invivo_keys_resolve(runtime, &known, "camelot.knight", false, arguments, 4, \
                out ? &out->object : NULL, error);
                }

                """), "\(text)")
    }

    @Test func aSwiftFunctionHasDefaultsAndQuotesKeywords() throws {
        let text = try Self.functions(
            Self.node("camelot.left_knight") { node in
                node.call = .init(parameters: Self.parameters, isNullable: true)
            }
        ).swift
        #expect(
            text.contains(
                """
                    /// `camelot.left_knight`: prototype.
                    public func leftKnight(quest: ThingHandle, `class`: UInt8, rate: Double = 0.5, level: Int32? = nil) \
                throws(InvivoError)
                        -> KnightHandle?
                    {
                        try runtime.objectIfAny(Known.leftKnight, with: [quest.object, `class`, rate, level]).map(KnightHandle.init)
                    }

                """), "\(text)")
    }

    @Test func pythonClassesComeAfterTheirBases() throws {
        let text = try Self.functions(
            Self.node("a") { node in
                node.type = "Child"
                node.members = TypeMembers(
                    supertypes: ["Parent", "Thing"], methods: [("play", [Self.parameter("note", .int32)], .null)])
            },
            Self.node("b") { node in
                node.type = "Parent"
                node.members = TypeMembers(supertypes: ["Thing"], properties: [("lambda", .list)])
            }
        ).python
        #expect(
            text.contains(
                """
                    class Thing: ...

                    class Parent(Thing):
                        lambda_: list[Any]

                    class Child(Parent):
                        def play(self, note: int) -> None: ...


                class RootKeys:
                """), "\(text)")
    }

    @Test func keysEndUpInLiteralsAndCommentsOnly() throws {
        let key = "a.\"*/ /* \\\n\u{7f}"
        let functions = try Self.functions(Self.node(key))
        #expect(functions.c.contains("/* a.\"* / / * \\  : prototype. */"))
        #expect(functions.c.contains(#""a.\"*/ /* \\\012\177""#))
        #expect(functions.swift.contains(#""a.\"*/ /* \\\u{a}\u{7f}""#))
        #expect(functions.python.contains(#""a.\"*/ /* \\\x0a\x7f""#))
    }
}
