import Invivo
import Testing

extension SwiftAPI {
    /// The parts of a definition.
    @Suite struct DefinitionTests {
        class Horse {
            var name = "Binky"
        }

        final class Quest: Sendable {
            let aim: String
            init(aim: String = "grail") { self.aim = aim }
        }

        class Knight {
            let quest: Quest
            var horse: Horse?
            var friend: Knight?
            var title = ""
            var steps: [String] = []
            init(quest: Quest) { self.quest = quest }
            func ride(_ horse: Horse) { steps.append("ride \(horse.name)") }
        }

        final class Duke: Knight {}

        final class Scopes: Assembly {
            let each = prototype { Horse() }
            let shared = graph { Horse() }
            let pair = graph { resolver in try [resolver(\Scopes.shared), resolver(\Scopes.shared)] }
            let once = lazySingleton(confined: { Horse() })
            let eager = singleton(confined: { Horse() })
            let held = weakSingleton(confined: { Horse() })
            let named = lazySingleton { (_: Resolver, aim: String) in Quest(aim: aim) }
        }

        @Test func scopesDetermineTheSharingOfAnInstance() throws {
            try withRuntime { runtime throws in
                let scopes = try runtime.activate(Scopes())
                #expect(try scopes.each() !== scopes.each())
                #expect(try scopes.shared() !== scopes.shared())
                let pair = try scopes.pair()
                #expect(pair[0] === pair[1])
                #expect(try scopes.once() === scopes.once())
                #expect(try scopes.eager() === scopes.eager())
            }
        }

        @Test func aWeakSingletonLivesAsLongAsItIsHeld() throws {
            try withRuntime { runtime throws in
                let scopes = try runtime.activate(Scopes())
                weak var seen: Horse?
                try {
                    let held = try scopes.held()
                    seen = held
                    #expect(try scopes.held() === held)
                }()
                #expect(seen == nil)
                try scopes.held().name = "another"
                #expect(try scopes.held().name == "Binky")
            }
        }

        @Test func aSharedInstanceIsKeptForEachSetOfArguments() throws {
            try withRuntime { runtime throws in
                let scopes = try runtime.activate(Scopes())
                #expect(try scopes.named("grail") === scopes.named("grail"))
                #expect(try scopes.named("dragon") !== scopes.named("grail"))
                #expect(try scopes.named("dragon").aim == "dragon")
            }
        }

        final class Camelot: Assembly {
            let quest = lazySingleton { Quest() }
            let horse = prototype { Horse() }
            let knight = prototype(Knight.init)
                .inject(\.horse, from: \Camelot.horse)
                .inject(\.title, "Sir")
                .call { knight, horse in knight.ride(horse) }
                .before { $0.steps.append("before \($0.title)") }
                .after { $0.steps.append("after \($0.title)") }
                .afterAll { (knight, quest: Quest) in knight.steps.append("all \(quest.aim)") }
            let hero = prototype(Knight.init)
                .parameter(0, .inline(prototype { Quest(aim: "inline") }))
                .inject { knight, resolver in knight.horse = try resolver(\Camelot.horse) }
            let base = prototype(Knight.init).inject(\.title, "Duke of").inject(\.horse).abstract()
            let duke = child(of: \Camelot.base) { resolver in Duke(quest: try resolver(\Camelot.quest)) }
                .inject(\.title, "Grand Duke of")
            let other = child(of: \Camelot.knight)
        }

        @Test func propertiesMethodsAndHooksRunInTheirOrder() throws {
            try withRuntime { runtime throws in
                let camelot = try runtime.activate(Camelot())
                let knight = try camelot.knight()
                #expect(knight.horse?.name == "Binky" && knight.title == "Sir")
                #expect(knight.steps == ["before ", "ride Binky", "after Sir", "all grail"])
                #expect(try knight.quest === camelot.quest())
                #expect(try camelot.other().steps == knight.steps)
            }
        }

        final class Stable: Assembly {
            let horse = lazySingleton(confined: { Horse() })
            let knight = lazySingleton(confined: { Knight(quest: Quest()) })
                .after { (knight, horse: Horse) in knight.ride(horse) }
                .afterAll { (knight, horse: Horse) in knight.steps.append("all \(horse.name)") }
        }

        @Test func hooksAreCalledAgainWithReplacedArguments() throws {
            try withRuntime { runtime throws in
                let stable = try runtime.activate(Stable())
                let knight = try stable.knight()
                #expect(knight.steps.count == 2)
                try runtime.reset("stable.horse")
                #expect(try stable.knight() === knight)
                #expect(knight.steps.count == 4 && knight.steps[2].hasPrefix("ride"))
            }
        }

        @Test func inlineDefinitionsHaveAKeyFromTheirPosition() throws {
            try withRuntime { runtime throws in
                let camelot = try runtime.activate(Camelot())
                let hero = try camelot.hero()
                #expect(hero.quest.aim == "inline" && hero.horse != nil)
                #expect(try runtime.resolve("camelot.hero.0", as: Quest.self).aim == "inline")
            }
        }

        @Test func aChildInheritsUndeclaredParts() throws {
            try withRuntime { runtime throws in
                let camelot = try runtime.activate(Camelot())
                let duke = try camelot.duke()
                #expect(duke.title == "Grand Duke of" && duke.horse != nil)
                #expect(failure { _ = try camelot.base() }.code == .abstract)
            }
        }

        final class Friends: Assembly {
            let quest = lazySingleton { Quest() }
            let left: Definition<Knight> = graph(Knight.init).inject(\.friend, from: \Friends.right)
            let right: Definition<Knight> = graph(Knight.init).inject(\.friend, from: \Friends.left)
        }

        @Test func membersMayReferToEachOtherInACircle() throws {
            try withRuntime { runtime throws in
                let friends = try runtime.activate(Friends())
                let left = try friends.left()
                #expect(left.friend?.friend === left)
                left.friend?.friend = nil
                left.friend = nil
            }
        }

        final class Aliases: Assembly {
            let quest = prototype { (_: Resolver, aim: String) in Quest(aim: aim) }
            let same = alias(of: \Aliases.quest)
            let grail = alias(of: \Aliases.quest, "grail")
            let again = alias(of: \Aliases.grail)
            let pair = prototype { (_: Resolver, aim: String, number: Int) in Quest(aim: "\(aim) \(number)") }
            let turned = alias(of: \Aliases.pair, passing: .argument(1), .argument(0), taking: Int.self, String.self)
            let third = alias(of: \Aliases.pair, passing: .argument(0), .value(3), taking: String.self)
            let fixed = constant(Quest(aim: "fixed"))
            let number = constant(42)
            let library = lazySingleton { Quest(aim: "library") }
            let book = made(by: \Aliases.library) { (library, title: String) in "\(title) of the \(library.aim)" }
            let knight = prototype(wired(Knight.init, taking: Quest.self))
        }

        @Test func aliasesConstantsAndMakersAreDefinitionsToo() throws {
            try withRuntime { runtime throws in
                let aliases = try runtime.activate(Aliases())
                #expect(try aliases.same("dragon").aim == "dragon")
                #expect(try aliases.grail().aim == "grail")
                #expect(try aliases.again().aim == "grail")
                #expect(try aliases.turned(7, "cup").aim == "cup 7" && aliases.third("cup").aim == "cup 3")
                #expect(try aliases.fixed() === aliases.fixed())
                #expect(try aliases.number() == 42)
                #expect(try aliases.book("Fame") == "Fame of the library")
                let quest = Quest(aim: "own")
                #expect(try aliases.knight(quest).quest === quest)
            }
        }

        final class Doubtful: Assembly {
            let none: Definition<Quest?> = lazySingleton { _ in nil }
            let given = prototype { (_: Resolver, quest: Quest?) in [quest?.aim ?? "none"] }
            let some: Definition<Quest?> = lazySingleton { _ in Quest() }
            let knight = prototype { resolver in Knight(quest: try resolver(\Doubtful.none) ?? Quest(aim: "own")) }
        }

        @Test func aRecipeMayAnswerNothingWhereThatIsItsType() throws {
            try withRuntime { runtime throws in
                let doubtful = try runtime.activate(Doubtful())
                #expect(try doubtful.none() == nil)
                #expect(try doubtful.given(nil) == ["none"] && doubtful.given(Quest(aim: "given")) == ["given"])
                let other = failure { _ = try runtime.resolve("doubtful.knight", as: Quest.self) }
                #expect(other.path == "doubtful.knight")
                #expect(try doubtful.some() === doubtful.some())
                #expect(try doubtful.knight().quest.aim == "own")
            }
        }

        @Test func aPropertySetTwiceAndAWeakValueAreErrorsAtActivation() throws {
            final class Twice: Assembly {
                let horse = prototype { Horse() }.inject(\.name, "a").inject(\.name, "b")
                let number = weakSingleton { 3 }
            }
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Twice()) }
                #expect(error.errors.count == 2)
                #expect(error.description.contains("set twice") && error.description.contains("no class"))
                #expect(error.errors.allSatisfy { $0.file.hasSuffix("DefinitionTests.swift") && $0.line > 0 })
            }
        }

        @Test func aFailingHookLeavesNothingHalfMade() throws {
            final class Failing: Assembly {
                let count = lazySingleton(confined: { Horse() }).after { _ in throw InvivoError(.system, "lame") }
            }
            try withRuntime { runtime throws in
                let failing = try runtime.activate(Failing())
                for _ in 1...2 { #expect(failure { _ = try failing.count() }.description.contains("lame")) }
                #expect(try runtime.info.objects == 0)
            }
        }
    }
}
