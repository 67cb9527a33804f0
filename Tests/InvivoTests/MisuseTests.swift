import Invivo
import Testing

private final class Leaf: Sendable {
    let number: Int
    init(_ number: Int = 0) { self.number = number }
}
/// An open class: key paths to its properties have no names.
private class Shelf {
    var left: Leaf?
    var right: Leaf?
    init() {}
}
private final class Missing: Sendable {}

private class Garden: Assembly {
    var leaf = lazySingleton { Leaf(1) }
    let grown = lazySingleton { resolver in try Leaf(resolver(\Garden.leaf).number + 10) }
}

extension SwiftAPI {
    /// Unexpected calls of programs: they return errors, and leave nothing.
    @Suite struct MisuseTests {
        @Test func aDefinitionAtAReusedAddressIsAnotherOne() throws {
            try withRuntime { runtime throws in
                let garden = try runtime.activate(Garden())
                for number in 0..<100 {
                    garden.leaf = lazySingleton { Leaf(-1) }
                    garden.leaf = lazySingleton { Leaf(number) }
                    try runtime.activate(garden)
                    #expect(try garden.leaf().number == number)
                    #expect(try garden.grown().number == number + 10)
                }
            }
        }

        @Test func oneDefinitionIsOneMember() throws {
            final class Twice: Assembly {
                let first: Definition<Leaf>
                let second: Definition<Leaf>
                init() {
                    first = lazySingleton { Leaf(1) }
                    second = first
                    super.init()
                }
            }
            try withRuntime { runtime throws in
                let twice = Twice()
                let error = failure { try runtime.activate(twice) }
                #expect(error.code == .exists && error.path == "twice.second")
                #expect(error.message.contains("'twice.first'"))
                #expect(failure { _ = try twice.first() }.code == .notReady)
            }
        }

        @Test func anAssemblyOutlivesItsRuntime() throws {
            let (garden, mounted) = (Garden(), Garden())
            for number in 0..<3 {
                try withRuntime { runtime throws in
                    try runtime.activate(garden)
                    try runtime.mount(mounted, as: "left\(number)")
                    #expect(try garden.grown().number == 11)
                    #expect(try runtime.resolve("left\(number).grown", as: Leaf.self) === mounted.grown())
                }
                #expect(throws: InvivoError.self) { _ = try garden.leaf() }
            }
            // An active one stays.
            try withRuntime { first throws in
                try first.activate(garden)
                try withRuntime { second throws in
                    #expect(failure { try second.activate(garden) }.code == .exists)
                }
                #expect(try garden.leaf().number == 1)
            }
        }

        @Test func aChangeSetThatDefinesAKeyTwiceIsRefusedAndLosesNothing() throws {
            try withRuntime { runtime in
                for _ in 0..<20 {
                    let error = failure {
                        try runtime.changes { changes in
                            try changes.define("a.leaf") { _ in Leaf(1) }
                            try changes.define("a.leaf") { _ in Leaf(2) }
                        }
                    }
                    #expect(error.code == .exists)
                }
                try runtime.define("a.leaf") { _ in Leaf(3) }
                #expect(try runtime.resolve("a.leaf", as: Leaf.self).number == 3)
            }
        }

        @Test func anOverrideThatFailsIsNoneAndLosesNothing() throws {
            try withRuntime { runtime throws in
                let garden = try runtime.activate(Garden())
                for _ in 0..<20 {
                    #expect(
                        failure {
                            _ = try runtime.override(garden.leaf, with: lazySingleton { (_: Missing) in Leaf(2) })
                        }.code == .notFound)
                    #expect(
                        failure {
                            _ = try runtime.override(
                                garden.leaf,
                                with: lazySingleton(wired(.inline(lazySingleton { Leaf(3) }), by: { (l: Leaf) in l })))
                        }.code == .argument)
                }
                #expect(try garden.grown().number == 11)
                let error = failure { _ = try runtime.override(Garden().leaf, with: Leaf(5)) }
                #expect(error.code == .notReady)
            }
        }

        @Test func aMethodThatDoesNotCallItsDefinitionIsAnError() throws {
            class Doubles: Assembly {
                let _leaf = singleton(Doubles.leaf)
                func leaf() throws -> Leaf { Leaf(1) }
            }
            final class Once: Doubles {
                override func leaf() throws -> Leaf { try _leaf { try super.leaf() } }
            }
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Doubles()) }
                #expect(error.code == .argument && error.path == "doubles.leaf")
                #expect(error.message.contains("does not call its definition"))
            }
            try withRuntime { runtime throws in
                let once = try runtime.activate(Once())
                #expect(try once.leaf() === once.leaf())
            }
        }

        @Test func moreInjectionsThanParametersAreRefusedAtActivation() throws {
            final class Surplus: Assembly {
                let leaf = lazySingleton(
                    wired(.config("a", default: 1), .config("b", default: 2), by: { (a: Int) in Leaf(a) }))
            }
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Surplus()) }
                #expect(error.code == .arity && error.message.contains("2 injections are declared"))
            }
        }

        @Test func aDefinitionOfAListIsInjectedByKey() throws {
            final class Sums: Assembly {
                let numbers = lazySingleton { [1, 2, 3] }
                let weights = lazySingleton { ["a": 2.5] }
                let sum = lazySingleton(
                    wired(
                        .member(\Sums.numbers), .member(\Sums.weights),
                        by: { (numbers: [Int], weights: [String: Double]) in
                            Leaf(numbers.reduce(0, +) + Int(weights["a"] ?? 0))
                        }))
            }
            try withRuntime { runtime throws in
                let sums = try runtime.activate(Sums())
                #expect(try sums.sum().number == 8)
                #expect(try sums.numbers() == [1, 2, 3])
            }
        }

        @Test func propertiesWithoutNamesAreErrors() throws {
            final class Shelves: Assembly {
                let base = prototype { (_: Resolver) in Shelf() }
                    .inject(\.left, .inline(lazySingleton { Leaf(1) }))
                    .inject(\.right, .inline(lazySingleton { Leaf(2) }))
                let other = child(of: \Shelves.base).inject(\.right, .inline(lazySingleton { Leaf(3) }))
            }
            try withRuntime { runtime throws in
                let shelves = try runtime.activate(Shelves())
                let base = try shelves.base()
                #expect(base.left?.number == 1 && base.right?.number == 2)
                let other = try shelves.other()
                #expect(other.left?.number == 1 && other.right?.number == 3)
                // Set once: the child's property replaces its parent's.
                let made = try runtime.wiring.nodes.filter { $0.key.hasPrefix("shelves.other.") && $0.live > 0 }
                #expect(made.count == 2)
            }
        }

        @Test func namesThatAreOnlyAskedForAreNotKept() throws {
            try withRuntime { runtime throws in
                try runtime.activate(Garden())
                let long = String(repeating: "name", count: 256)
                func ask(_ numbers: Range<Int>) throws {
                    for number in numbers {
                        #expect(try runtime.objectIfAny("a.\(long)\(number)") == nil)
                        #expect(try runtime.objectIfAny(ofType: "\(long)\(number)") == nil)
                        #expect(throws: InvivoError.self) { _ = try runtime.key("b.\(long)\(number)", as: Leaf.self) }
                    }
                }
                try ask(0..<1000)
                let before = allocatedBytes()
                try ask(1000..<11_000)
                #expect(allocatedBytes() - before < 500_000)
            }
        }

        @Test func poolsWithoutNamesEndWithTheirHolder() throws {
            try withRuntime { runtime in
                func use(_ count: Int) throws {
                    for number in 0..<count {
                        let pool = try runtime.pool(of: Leaf.self)
                        let leaf = try pool.get(number) { Leaf(number) }
                        #expect(leaf.number == number)
                    }
                }
                try use(200)
                let before = allocatedBytes()
                try use(3000)
                #expect(allocatedBytes() - before < 500_000)
                _ = try runtime.pool("named", of: Leaf.self)
                #expect(try runtime.pool(named: "named", of: Leaf.self).count == 0)
            }
        }

        @Test func anOptionalLazyOrProviderIsNoneUntilThereIsSomething() throws {
            final class Wanting: Sendable {
                let parts: (lazy: Lazy<Missing>?, provider: Provider<Missing>?)
                let answers: (lazy: Lazy<Missing?>, provider: Provider<Missing?>)
                init(
                    _ lazy: Lazy<Missing>?, _ provider: Provider<Missing>?, _ late: Lazy<Missing?>,
                    _ each: Provider<Missing?>
                ) {
                    parts = (lazy, provider)
                    answers = (late, each)
                }
            }
            final class Wishes: Assembly { let wanting = lazySingleton(Wanting.init) }
            try withRuntime { runtime throws in
                let wishes = try runtime.activate(Wishes())
                let former = try wishes.wanting()
                #expect(former.parts.lazy == nil && former.parts.provider == nil)
                #expect(try former.answers.lazy() == nil && former.answers.provider() == nil)
                let missing: Key<Missing> = try runtime.define("a.missing") { _ in Missing() }
                let wanting = try wishes.wanting()
                let found = try runtime.resolve(missing)
                #expect(try wanting.parts.lazy?() === found && wanting.parts.provider?() === found)
                #expect(try wanting.answers.lazy() === found && wanting.answers.provider() === found)
            }
        }

        @Test func anOptionalArgumentMayComeBeforeOneThatIsNeeded() throws {
            final class Said: Sendable {
                let text: String
                init(_ text: String) { self.text = text }
            }
            final class Teller {
                func tell(_ name: String?, _ number: Int, _ end: String?) -> String {
                    "\(name ?? "nobody") \(number)\(end ?? "")"
                }
            }
            final class Tellers: Assembly {
                let said = prototype { (_: Resolver, name: String?, number: Int, end: String?) in
                    Said("\(name ?? "nobody") \(number)\(end ?? "")")
                }
            }
            try withRuntime { runtime throws in
                let tellers = try runtime.activate(Tellers())
                #expect(try tellers.said(nil, 3, "!").text == "nobody 3!")
                #expect(try tellers.said("Ann", 4, nil).text == "Ann 4")
                let said = try runtime.object("tellers.said", with: [InvivoValue.null, 5]).instance(as: Said.self)
                #expect(said.text == "nobody 5")
                #expect(failure { _ = try runtime.object("tellers.said", with: ["Ann"]) }.code == .arity)
                #expect(failure { _ = try runtime.object("tellers.said", with: [1, 2]) }.code == .type)
                let type = ObjectType<Teller>(confined: "Teller") { type in
                    type.make { Teller() }
                    type.method("tell", "name", "number", "end") { teller, name, number, end in
                        teller.tell(name, number, end)
                    }
                }
                let teller = try runtime.make(runtime.register(type))
                #expect(try teller.call("tell", InvivoValue.null, 6) == .string("nobody 6"))
                #expect(try teller.call("tell", "Ann", 7, "?") == .string("Ann 7?"))
            }
        }

        @Test func anObjectOfAnotherRuntimeIsRefusedEverywhere() throws {
            try withRuntime { first throws in
                try first.activate(Garden())
                let object = try first.object("garden.leaf")
                try withRuntime { second throws in
                    try second.define("b.leaf") { _ in Leaf(1) }
                    #expect(failure { try second.inject(object) }.code == .handle)
                    #expect(failure { try second.inject(object, as: "b.leaf") }.code == .handle)
                    #expect(failure { try second.injectTree(object as AnyObject) }.code == .handle)
                    #expect(failure { try second.injectTree(object, children: { _ in [] }) }.code == .handle)
                    #expect(failure { _ = try second.attachTarget(object, "b.leaf") }.code == .handle)
                    #expect(failure { _ = try second.object("b.leaf", with: [object]) }.code == .handle)
                    let own = try second.object("b.leaf")
                    #expect(failure { try second.injectTree(own, children: { _ in [object] }) }.code == .handle)
                }
            }
        }

        @Test func aConfigurationStringIsReadByTheConverterOfItsTarget() throws {
            final class Read: Assembly {
                let leaf = lazySingleton(wired(.config("leaf"), by: { (leaf: Leaf) in Leaf(leaf.number + 1) }))
                let any = lazySingleton(wired(.config("none"), by: { (leaf: Leaf?) in Shown(leaf?.number) }))
                final class Shown: Sendable {
                    let number: Int?
                    init(_ number: Int?) { self.number = number }
                }
            }
            try withRuntime { runtime throws in
                try runtime.configure("read.leaf", "12")
                let read = Read()
                #expect(failure { try runtime.activate(read) }.description.contains("Leaf"))
                try runtime.addConverter(for: Leaf.self) { text in
                    guard let number = Int(text) else { throw InvivoError(.conversion, "'\(text)' is no number") }
                    return Leaf(number)
                }
                try runtime.activate(read)
                #expect(try read.leaf().number == 13 && read.any().number == nil)
                try runtime.configure("read.none", "4")
                #expect(try read.any().number == 4)
                let error = failure { try runtime.configure("read.leaf", "x") }
                #expect(error.description.contains("'x' is no number"))
                #expect(try read.leaf().number == 13)
            }
        }

        @Test func aRuntimeThatFillsNothingIsNotLookedIn() throws {
            final class Holder {
                @Injected var leaf: Leaf?
                @Injected var late: Lazy<Leaf>
            }
            final class Holders: Assembly {
                let leaf = lazySingleton { Leaf(1) }
                let holder = prototype { (_: Resolver) in Holder() }
            }
            var options = Runtime.Options()
            options.fillsInjected = false
            try withRuntime(options) { runtime throws in
                let holders = try runtime.activate(Holders())
                let holder = try holders.holder()
                #expect(holder.leaf == nil)
                #expect(failure { _ = try holder.$leaf.get() }.code == .notReady)
                runtime.with {
                    #expect(Holder().leaf == nil)
                    #expect(failure { _ = try Holder().late() }.code == .notReady)
                }
            }
        }

        @Test func aKeptVisitOfAProcessorHasNoEffect() throws {
            final class Keep: @unchecked Sendable { var kept: DescribedDefinition? }
            try withRuntime { runtime throws in
                let keep = Keep()
                let garden = try runtime.activate(Garden())
                try runtime.process("keeps", key: "garden.leaf") { keep.kept = $0 }
                let kept = try #require(keep.kept)
                #expect(
                    kept.key == "garden.leaf" && kept.type == nil && kept.properties.isEmpty && kept.place.file == "")
                #expect(failure { try kept.inject("number", 1) }.code == .notReady)
                #expect(failure { try kept.after(Leaf.self) { _ in } }.code == .notReady)
                kept.rank = 3
                kept.replace(with: lazySingleton { Leaf(5) })
                #expect(try garden.leaf().number == 1)
            }
        }

        @Test func aDescribedAssemblyThatOthersActivateIsAFactoryOfEveryKind() async throws {
            let runtime = try Runtime()
            let garden = Garden()
            try runtime.describe(garden)
            final class Needy: Assembly {
                let garden = collaborator(named: "garden")
                let leaf = lazySingleton { resolver in try resolver(\Needy.garden, "leaf", as: Leaf.self) }
            }
            let needy = Needy()
            try runtime.activate(needy)
            #expect(try await garden.grown.resolved().number == 11)
            let grown = try runtime.overriding(garden.leaf, with: Leaf(7)) { try garden.grown().number }
            #expect(grown == 17)
            try runtime.close()
        }
    }
}
