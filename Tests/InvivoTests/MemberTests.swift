import Invivo
import Testing

extension SwiftAPI {
    /// Definitions as methods of their assembly: typed factories with labels.
    @Suite struct MemberTests {
        final class Quest: Sendable {
            let aim: String
            init(_ aim: String) { self.aim = aim }
        }
        final class Table: Sendable {}
        class Knight {
            let quest: Quest
            let table: Table
            var title = ""
            init(quest: Quest, table: Table) {
                self.quest = quest
                self.table = table
            }
        }
        final class Duke: Knight {}
        final class Round: Sendable {
            let table: Table
            init(_ table: Table) { self.table = table }
        }

        class Camelot: Assembly {
            let _table = lazySingleton(Camelot.table)
            func table() throws -> Table { try _table { Table() } }

            let _knight = prototype(Camelot.knight).taking("quest").inject(\.title, "Sir")
            func knight(quest: Quest) throws -> Knight {
                try _knight(quest) { try Knight(quest: quest, table: table()) }
            }

            let _champion = graph(Camelot.champion).taking("aim", "rank")
            func champion(aim: String, rank: Int) throws -> Knight {
                try _champion(aim, rank) { try knight(quest: Quest("\(aim) \(rank)")) }
            }

            let _round = lazySingleton(Camelot.round)
            func round() throws -> Round { try _round { try Round(table()) } }

            let plain = lazySingleton { Quest("plain") }
            let _named = lazySingleton(Camelot.named)
            func named() throws -> Quest { try _named { try Quest("named \(plain().aim)") } }
        }

        final class Dukedom: Camelot {
            override func knight(quest: Quest) throws -> Knight {
                try _knight(quest) {
                    let knight = try super.knight(quest: quest)
                    return Duke(quest: quest, table: knight.table)
                }
            }
        }

        @Test func aMethodIsAFactoryWithLabels() throws {
            try withRuntime { runtime throws in
                let camelot = try runtime.activate(Camelot())
                let quest = Quest("grail")
                let knight = try camelot.knight(quest: quest)
                #expect(knight.quest === quest && knight.title == "Sir")
                #expect(try knight.table === camelot.table())
                #expect(try camelot.knight(quest: quest) !== knight)
                #expect(try camelot.champion(aim: "cup", rank: 2).quest.aim == "cup 2")
                #expect(try runtime.resolve("camelot.table", as: Table.self) === camelot.table())
            }
        }

        @Test func beforeActivationItIsARecipe() throws {
            let error = failure { _ = try Camelot().knight(quest: Quest("grail")) }
            #expect(error.code == .notReady && error.message.contains("activate"))
        }

        @Test func overridingTheMethodOverridesTheDefinition() throws {
            try withRuntime { runtime throws in
                let camelot = try runtime.activate(Dukedom())
                #expect(camelot.name == "camelot")
                let duke = try camelot.knight(quest: Quest("grail"))
                #expect(duke is Duke && duke.title == "Sir")
                #expect(try camelot.champion(aim: "cup", rank: 1) is Duke)
                #expect(try runtime.activate(Camelot()).knight(quest: Quest("grail")) is Duke == false)
            }
        }

        @Test func aCallInAMethodIsADependency() throws {
            try withRuntime { runtime throws in
                let camelot = try runtime.activate(Camelot())
                let (round, named) = (try camelot.round(), try camelot.named())
                // Both are built by now, and others read them without a resolve.
                try runtime.changes { changes in
                    try changes.define("camelot.table") { _ in Table() }
                    try changes.define("camelot.plain") { _ in Quest("other") }
                }
                #expect(try camelot.round() !== round && camelot.round().table === camelot.table())
                #expect(try camelot.named() !== named && camelot.named().aim == "named other")
            }
        }

        @Test func aMethodThatNeedsItselfIsACircle() throws {
            final class Circle: Assembly {
                let _one = lazySingleton(Circle.one)
                func one() throws -> Quest { try _one { try two() } }
                let _two = lazySingleton(Circle.two)
                func two() throws -> Quest { try _two { try one() } }
                let _own = lazySingleton(Circle.own)
                func own() throws -> Quest { try _own { try own() } }
            }
            try withRuntime { runtime throws in
                let circle = try runtime.activate(Circle())
                for error in [failure { _ = try circle.one() }, failure { _ = try circle.own() }] {
                    var causes = [error]
                    while let cause = causes.last?.cause { causes.append(cause) }
                    #expect(causes.contains { $0.code == .cycle })
                }
            }
        }

        @Test func argumentsHaveTheirNamesInOtherLanguages() throws {
            try withRuntime { runtime throws in
                try runtime.activate(Camelot())
                let text = try runtime.wiring(as: .keysPython)
                #expect(text.contains("quest") && text.contains("aim") && text.contains("rank"))
            }
        }

        @Test func aSchemaHasTheKeysOfSpecFiles() throws {
            try withRuntime { runtime throws in
                try runtime.activate(Camelot())
                let text = try runtime.schemaText()
                #expect(text == (try runtime.wiring(as: .schema)))
                #expect(text.contains("\"camelot."))
            }
        }

        @Test func theAssemblyItselfIsInjected() throws {
            final class Guild: Assembly {
                let table = lazySingleton { Table() }
                let master = lazySingleton(confined: Master.init)
                let squire = lazySingleton { (resolver: Resolver) in
                    try Round(resolver.assembly(Guild.self).table())
                }
            }
            final class Master {
                let guild: Guild
                init(guild: Guild) { self.guild = guild }
            }
            try withRuntime { runtime throws in
                let guild = try runtime.activate(Guild())
                #expect(try guild.master().guild === guild)
                let squire = try guild.squire()
                #expect(try squire.table === guild.table())
                try runtime.define("guild.table") { _ in Table() }
                #expect(try guild.squire() !== squire)
            }
        }

        @Test func aMountedOneRefersToItsOwn() throws {
            try withRuntime { runtime throws in
                let left = try runtime.mount(Camelot(), as: "left")
                let right = try runtime.mount(Camelot(), as: "right")
                #expect(try left.round().table === left.table() && left.table() !== right.table())
                #expect(try right.knight(quest: Quest("grail")).table === right.table())
            }
        }
    }
}
