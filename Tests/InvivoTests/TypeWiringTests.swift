import Invivo
import Testing

extension SwiftAPI {
    /// Initializers that are injected by the types of their parameters.
    @Suite struct TypeWiringTests {
        protocol Ticker: Sendable { var name: String { get } }
        final class Quartz: Ticker { let name = "quartz" }
        struct Sundial: Ticker { let name = "sundial" }
        class Instrument: @unchecked Sendable { init() {} }
        final class Organ: Instrument, @unchecked Sendable {}

        final class Desk: Sendable {
            let ticker: any Ticker
            let missing: Desk?
            let all: [any Ticker]
            let make: Provider<Instrument>
            let later: Lazy<Instrument>
            let rate: Int
            init(
                ticker: any Ticker, missing: Desk?, all: [any Ticker], make: Provider<Instrument>,
                later: Lazy<Instrument>, rate: Int
            ) {
                self.ticker = ticker
                self.missing = missing
                self.all = all
                self.make = make
                self.later = later
                self.rate = rate
            }
        }

        final class Studio: Assembly {
            let quartz = lazySingleton { Quartz() }.rank(1)
            let sundial = lazySingleton { Sundial() }
            let organ = prototype(Organ.init)
            let rate = constant(48_000)
            let desk = prototype(Desk.init)
        }

        @Test func everyKindOfParameterIsFoundByItsType() throws {
            try withRuntime { runtime throws in
                let studio = try runtime.activate(Studio())
                let desk = try studio.desk()
                #expect(desk.ticker.name == "quartz" && desk.missing == nil && desk.rate == 48_000)
                #expect(desk.all.map(\.name) == ["quartz", "sundial"])
                #expect(try desk.make() is Organ)
                #expect(try desk.make() !== desk.make())
                #expect(try desk.later() === desk.later())
            }
        }

        @Test func aProviderOfAllOfATypeAsksEachTime() throws {
            final class Hall: Sendable {
                let all: Provider<[any Ticker]>
                let perhaps: Provider<[Instrument]>?
                init(all: Provider<[any Ticker]>, perhaps: Provider<[Instrument]>?) {
                    self.all = all
                    self.perhaps = perhaps
                }
            }
            final class Town: Assembly {
                let quartz = lazySingleton { Quartz() }.rank(1)
                let organ = prototype(Organ.init)
                let hall = lazySingleton(Hall.init)
            }
            try withRuntime { runtime throws in
                let hall = try runtime.activate(Town()).hall()
                #expect(try hall.all().map(\.name) == ["quartz"])
                try runtime.define("town.dial") { _ in Sundial() }
                #expect(try hall.all().map(\.name) == ["quartz", "sundial"])
                #expect(try hall.perhaps?().count == 1)
                #expect(failure { _ = try hall.all(1) }.code == .arity)
            }
        }

        @Test func aLazyOfAllOfATypeSuggestsAnAlternative() throws {
            final class Hall: Sendable { init(all: Lazy<[any Ticker]>) {} }
            final class Town: Assembly { let hall = prototype(Hall.init) }
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Town()) }
                #expect(error.code == .argument && error.message.contains("a list of them is asked for by a resolver"))
            }
        }

        final class Watcher: Sendable {
            let organ: Weak<Organ>
            let quartz: Weak<any Ticker>
            let missing: Weak<Desk>?
            let none: Weak<Desk?>
            init(organ: Weak<Organ>, quartz: Weak<any Ticker>, missing: Weak<Desk>?, none: Weak<Desk?>) {
                self.organ = organ
                self.quartz = quartz
                self.missing = missing
                self.none = none
            }
        }
        final class Listener: @unchecked Sendable {
            @Injected var organ: Weak<Organ>
            var pipes: Weak<Pipe>?
            init() {}
        }
        final class Pipe: Sendable {
            let length: Int
            init(_ length: Int) { self.length = length }
        }
        final class Church: Assembly {
            let quartz = lazySingleton { Quartz() }
            let organ = weakSingleton(Organ.init)
            let pipe = weakSingleton { (_, length: Int) in Pipe(length) }
            let watcher = lazySingleton(Watcher.init)
            let listener = lazySingleton { Listener() }
                .inject(\.pipes, .weak(of: .member(\Church.pipe)))
        }

        @Test func aWeakReferenceReturnsTheExistingObjectAndKeepsNothing() throws {
            try withRuntime { runtime throws in
                let church = try runtime.activate(Church())
                let (watcher, listener) = (try church.watcher(), try church.listener())
                #expect(watcher.missing == nil)
                #expect(try watcher.none() == nil && watcher.organ() == nil && watcher.quartz() == nil)
                #expect(try listener.organ() == nil && listener.pipes?(3) == nil)
                let quartz = try church.quartz()
                #expect(try watcher.quartz() as AnyObject? === quartz)
                weak var gone: Organ?
                func hold() throws {
                    let organ = try church.organ()
                    gone = organ
                    #expect(try watcher.organ() === organ && listener.organ() === organ)
                }
                try hold()
                #expect(try gone == nil && watcher.organ() == nil && listener.organ() == nil)
                let pipe = try church.pipe(3)
                #expect(try listener.pipes?(3) === pipe && listener.pipes?(4) == nil)
                withExtendedLifetime(pipe) {}
            }
        }

        final class Fickle: Assembly {
            let organ = prototype(Organ.init)
            let listener = lazySingleton { Listener() }
        }

        @Test func aWeakReferenceToAnUnsharedObjectIsRefused() throws {
            try withRuntime { runtime throws in
                let error = failure { _ = try runtime.activate(Fickle()) }
                #expect(error.code == .argument)
                #expect(error.message.contains("use a provider"), "\(error.message)")
                let early = Listener()
                #expect(failure { _ = try early.organ() }.code == .notReady)
                #expect(failure { _ = try runtime.resolve(Weak<Organ>.self) }.code == .unsupported)
            }
        }

        final class Node: @unchecked Sendable {
            @Injected var later: Lazy<Leaf>
            init() {}
        }
        final class Leaf: @unchecked Sendable {
            @Injected var node: Node?
            init() {}
        }
        final class Ring: Assembly {
            let node = lazySingleton { Node() }
            let leaf = prototype { Leaf() }
        }

        @Test func aCycleThroughALazyEndsWithItsReplacement() throws {
            try withRuntime { runtime throws in
                let ring = try runtime.activate(Ring())
                weak var node: Node?
                weak var leaf: Leaf?
                func use() throws {
                    let now = try ring.node()
                    node = now
                    let later = try now.later()
                    leaf = later
                    #expect(try now.later() === later && later.node === now)
                }
                try use()
                // The leaf's property leads back to the node: Swift must end that cycle, and the runtime its holds on
                // both.
                leaf?.node = nil
                try runtime.reset("ring.node")
                #expect(node == nil && leaf == nil)
            }
        }

        @Test func aProtocolIsLookedUpInExistingDefinitions() throws {
            try withRuntime { runtime throws in
                let studio = try runtime.activate(Studio())
                #expect(try runtime.resolve((any Ticker).self).name == "quartz")
                #expect(try runtime.all(of: (any Ticker).self).count == 2)
                #expect(try runtime.resolve(Instrument.self) is Organ)
                #expect(try runtime.resolve((any Ticker).self, named: "sundial").name == "sundial")
                #expect(failure { _ = try runtime.resolve(Instrument.self, named: nil, exact: true) }.code == .notFound)
                #expect(try runtime.resolve(Desk?.self) != nil)
                #expect(try runtime.resolve(String?.self) == nil)
                #expect(try runtime.resolve([String].self) == [])
                _ = studio
            }
        }

        /// At equal rank, in any assembly; a higher rank has precedence over the class.
        @Test func theClassItselfComesBeforeThoseDerivedFromIt() throws {
            final class Loft: Assembly {
                let organ = lazySingleton { Organ() }
                let plain = lazySingleton { Instrument() }
                let user = prototype { (instrument: Instrument) in [instrument] }
            }
            final class Church: Assembly {
                let organ = lazySingleton { Organ() }.rank(1)
                let plain = lazySingleton { Instrument() }
            }
            try withRuntime { runtime throws in
                let loft = try runtime.activate(Loft())
                #expect(try runtime.resolve(Instrument.self) === loft.plain())
                #expect(try loft.user()[0] === loft.plain())
            }
            try withRuntime { runtime throws in
                let church = try runtime.activate(Church())
                #expect(try runtime.resolve(Instrument.self) === church.organ())
                #expect(try runtime.resolve(Instrument.self, named: nil, exact: true) === church.plain())
            }
        }

        @Test func theClosestOfSeveralIsTaken() throws {
            final class Band: Assembly {
                let ticker = lazySingleton { Quartz() }
                let pair = prototype { (resolver: Resolver) in try resolver(Quartz.self) }.hidden()
                let wired = prototype { (quartz: Quartz) in [quartz] }
            }
            try withRuntime { runtime throws in
                let (one, two) = (Band(name: "one"), Band(name: "two"))
                try runtime.activate(one, two)
                #expect(try one.pair() === one.ticker() && two.pair() === two.ticker())
                #expect(try two.wired()[0] === two.ticker())
                #expect(failure { _ = try runtime.resolve(Quartz.self) }.code == .ambiguous)
            }
        }

        /// Used long after its maker returned: it has the same result as in the maker.
        @Test func aProviderOrLazyIsClosestToItsMakerLaterToo() throws {
            final class Band: Assembly {
                let ticker = lazySingleton { Quartz() }
                let make = prototype { (quartz: Provider<Quartz>) in quartz }.hidden()
                let later = prototype { (quartz: Lazy<Quartz>) in quartz }.hidden()
                let asked = prototype { (resolver: Resolver) in try resolver(Provider<Quartz>.self) }.hidden()
            }
            try withRuntime { runtime throws in
                let (one, two) = (Band(name: "one"), Band(name: "two"))
                try runtime.activate(one, two)
                for band in [one, two] {
                    let (provider, lazy, asked) = (try band.make(), try band.later(), try band.asked())
                    #expect(try provider() === band.ticker() && lazy() === band.ticker() && asked() === band.ticker())
                }
            }
        }

        @Test func hiddenDefinitionsAreNotFoundByType() throws {
            final class Hiding: Assembly {
                let quartz = lazySingleton { Quartz() }.hidden(.interfaces)
                let organ = prototype(Organ.init).hidden()
                let sundial = lazySingleton { Sundial() }.hidden(.ownType)
            }
            try withRuntime { runtime throws in
                try runtime.activate(Hiding())
                #expect(try runtime.resolve((any Ticker).self).name == "sundial")
                #expect(try runtime.resolve(Quartz.self).name == "quartz")
                #expect(failure { _ = try runtime.resolve(Sundial.self) }.code == .notFound)
                #expect(try runtime.all(of: Instrument.self).isEmpty)
            }
        }

        @Test func aTypeThatComesLaterIsFoundByAProtocolThatWasAskedForBefore() throws {
            try withRuntime { runtime throws in
                #expect(try runtime.resolve((any Ticker)?.self) == nil)
                try runtime.define("late.quartz") { _ in Quartz() }
                #expect(try runtime.resolve((any Ticker).self).name == "quartz")
            }
        }
    }
}
