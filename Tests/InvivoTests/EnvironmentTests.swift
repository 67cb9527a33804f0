import Glibc
import Invivo
import Testing

extension SwiftAPI {
    /// The environment as a layer of the configuration, and in documents.
    @Suite(.serialized) struct EnvironmentTests {
        @Test func aRefreshIsOneReload() throws {
            setenv("IV_SWIFT__audio__rate", "44100", 1)
            setenv("IV_SWIFT_NAME", "saw", 1)
            defer {
                unsetenv("IV_SWIFT__audio__rate")
                unsetenv("IV_SWIFT_NAME")
            }
            var options = Runtime.Options()
            options.environmentPrefix = "IV_SWIFT__"
            options.log = { _ in }
            let runtime = try Runtime(options)
            #expect(try runtime.configuration("audio.rate") as Int == 44_100)
            #expect(try runtime.generation == 0)
            try runtime.changes { try $0.document("a.yaml", #"config: { audio: { name: "${IV_SWIFT_NAME}" } }"#) }
            setenv("IV_SWIFT__audio__rate", "48000", 1)
            setenv("IV_SWIFT_NAME", "sine", 1)
            #expect(try runtime.configuration("audio.name") as String == "saw")
            try runtime.refreshEnvironment()
            #expect(try runtime.generation == 2)
            #expect(try runtime.configuration("audio.rate") as Int == 48_000)
            #expect(try runtime.configuration("audio.name") as String == "sine")
            let report = try #require(try runtime.reports.last)
            #expect(report.causes.map(\.kind) == [.environment])
            #expect(report.cause == "environment")
            let rate = try #require(report.changes.first { $0.key == "audio.rate" })
            #expect(rate.origin.kind == .environment)
            #expect(rate.origin.layer == "IV_SWIFT__" && rate.origin.file == "IV_SWIFT__audio__rate")
            unsetenv("IV_SWIFT_NAME")
            let error = #expect(throws: InvivoError.self) { try runtime.refreshEnvironment() }
            #expect(error?.message.contains("the environment variable 'IV_SWIFT_NAME' is not set") == true)
            #expect(try runtime.configuration("audio.name") as String == "sine")
            try runtime.close()
        }

        @Test func anEmptyPrefixIsRefused() {
            var options = Runtime.Options()
            options.environmentPrefix = ""
            #expect(throws: InvivoError.self) { try Runtime(options) }
        }
    }
}
