import Invivo
import Testing

extension SwiftAPI {
    /// Observers of keys, types and objects.
    @Suite struct ObserverTests {
        final class Theme: Sendable {}
        final class Panel: Named, Sendable {
            let theme: Theme
            init(theme: Theme) { self.theme = theme }
        }
        protocol Named: AnyObject {}

        final class App: Assembly {
            let theme = lazySingleton(wired(by: { Theme() }))
            let panel = lazySingleton(
                wired(Injection.reference("app.theme"), by: { (theme: Theme) in Panel(theme: theme) }))
        }

        @Test func eachHearsOfItsOwnChanges() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                let panel = try app.panel()
                let heard = Locked<[String]>([])
                @Sendable func hear(_ name: String) -> @Sendable (Reload) throws -> Void {
                    { report in
                        heard.withLock { $0.append(name + report.changes.map { " \($0.key)" }.joined()) }
                    }
                }
                let observers = [
                    try runtime.observe(key: "app.panel", hear("key")),
                    try runtime.observe(type: Theme.self, hear("type")),
                    try runtime.observe(type: (any Named).self, hear("protocol")),
                    try runtime.observe(object: panel, hear("object")),
                ]
                #expect(try runtime.generation == observers[0].generation)
                try runtime.reset("app.theme")
                #expect(
                    heard.withLock(\.self) == [
                        "type app.theme", "protocol app.panel", "object app.panel", "key app.panel",
                    ])
                heard.withLock { $0 = [] }
                for observer in observers { try observer.close() }
                try runtime.reset("app.theme")
                #expect(heard.withLock(\.self).isEmpty)
            }
        }

        @Test func theFirstReloadIsAnnouncedOnce() throws {
            try withRuntime { runtime throws in
                let heard = Locked<[UInt64?]>([])
                try runtime.onReady { result in heard.withLock { $0.append(try? result.get()) } }
                #expect(heard.withLock(\.self).isEmpty)
                try runtime.activate(App())
                try runtime.configure("a.n", 1)
                #expect(heard.withLock(\.self) == [1])
            }
        }

        @Test func reportsAreData() throws {
            try withRuntime { runtime throws in
                let document = try runtime.source("a.yaml", "config: {n: 1}")
                let report = try #require(try runtime.reports.last)
                #expect(report.causes.map(\.kind) == [.document])
                #expect(report.causes.map(\.name) == ["a.yaml"])
                let origin = try #require(report.changes.first?.origin)
                #expect(origin.kind == .document && origin.layer == "a.yaml" && origin.file == "a.yaml")
                #expect(origin.line == 1 && origin.column == 13)
                #expect(report.warningDetails.map(\.text) == report.warnings)
                try runtime.configure("n", 2)
                #expect(try runtime.reports.last?.changes.first?.origin.kind == .call)
                try document.close()
            }
        }

        @Test func phasesAreAnnounced() throws {
            try withRuntime { runtime throws in
                let heard = Locked<[ReloadProgress]>([])
                let observer = try runtime.onProgress { progress in
                    heard.withLock { $0.append(progress) }
                    // Logged, and changes nothing.
                    throw InvivoError(.host, "on purpose")
                }
                try runtime.configure("a.n", 1)
                let found = heard.withLock(\.self)
                #expect(found.map(\.phase) == [.detected, .planned, .committed, .retired])
                #expect(Set(found.prefix(3).map(\.reload)).count == 1)
                #expect(found.prefix(3).allSatisfy { $0.cause == "configure a.n" && $0.error == nil })
                #expect(found.map(\.generation) == [0, 0, 1, 0])
                try observer.close()
                try runtime.configure("a.n", 2)
                #expect(heard.withLock(\.count) == 4)
            }
        }
    }
}
