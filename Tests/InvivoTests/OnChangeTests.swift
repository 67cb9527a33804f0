import Invivo
import Testing

extension SwiftAPI {
    /// How definitions follow changes of their dependencies: they keep what they have, are rebuilt, or refuse a change.
    @Suite struct OnChangeTests {
        final class Theme: Sendable {
            let name: String
            init(name: String) { self.name = name }
        }
        final class Panel: Sendable {
            let theme: Theme
            init(theme: Theme) { self.theme = theme }
        }

        final class App: Assembly {
            let theme = lazySingleton(
                wired(.config("theme", default: "light"), by: { (name: String) in Theme(name: name) }))
            let panel = lazySingleton(
                wired(Injection.reference("app.theme").onChange(.keep), by: { (theme: Theme) in Panel(theme: theme) }))
            let whole = lazySingleton(
                wired(Injection.reference("app.theme"), by: { (theme: Theme) in Panel(theme: theme) })
            )
            .onChange(.keep)
        }

        @Test func anObjectKeepsTheFormerOneUntilItIsRebuilt() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                let panels = [try app.panel(), try app.whole()]
                let reports = Locked<[Reload]>([])
                let observer = try runtime.observe { report in reports.withLock { $0.append(report) } }
                defer { try? observer.close() }
                try runtime.configure("app.theme", "dark")
                #expect(try app.theme().name == "dark")
                for (panel, key) in zip(panels, ["panel", "whole"]) {
                    #expect(try runtime.resolve("app.\(key)", as: Panel.self) === panel)
                    #expect(panel.theme.name == "light")
                    let need = try runtime.wiring.nodes.first { $0.key == "app.\(key)" }?.needs.first {
                        $0.key == "app.theme"
                    }
                    #expect(need?.keptSince != nil && need?.onChange == .keep)
                }
                let last = try #require(reports.withLock(\.last))
                #expect(last.changes.filter { $0.kind == .kept }.map(\.key).sorted() == ["app.panel", "app.whole"])
                #expect(last.warnings.count == 2)
                try runtime.reset("app.panel")
                #expect(try app.panel().theme.name == "dark")
            }
        }

        final class Studio: Assembly {
            let theme = lazySingleton(
                wired(.config("theme", default: "light"), by: { (name: String) in Theme(name: name) }))
            let recorder = lazySingleton(
                wired(Injection.reference("studio.theme"), by: { (theme: Theme) in Panel(theme: theme) })
            )
            .onChange(.refuse, reason: "a recording is under way")
        }

        @Test func aChangeIsRefusedWithAReason() throws {
            try withRuntime { runtime throws in
                let studio = try runtime.activate(Studio())
                try runtime.configure("studio.theme", "blue")
                let recorder = try studio.recorder()
                let error = #expect(throws: InvivoError.self) { try runtime.configure("studio.theme", "dark") }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("refuses a change of 'studio.theme': a recording is under way") == true)
                #expect(try studio.recorder() === recorder && recorder.theme.name == "blue")
            }
        }

        @Test func aChangeWaitsForARestart() throws {
            try withRuntime { runtime throws in
                func define(_ name: String) throws {
                    let source = Injection.config("theme", default: name)
                    try runtime.define(
                        "app.device",
                        as: lazySingleton(wired(source, by: { (name: String) in Theme(name: name) })).restart())
                }
                func device() throws -> Theme { try runtime.resolve("app.device", as: Theme.self) }
                try define("first")
                let first = try device()
                #expect(try runtime.status.restart.isEmpty)
                try define("second")
                #expect(try device() === first)
                let generation = try runtime.status.generation
                let pending = try runtime.status.restart
                #expect(pending.map(\.key) == ["app.device"] && pending.map(\.since) == [generation])
                try runtime.reset("app.device")
                #expect(try device().name == "second")
                #expect(try runtime.status.restart.isEmpty)
            }
        }
    }
}
