import Invivo
import Testing

extension SwiftAPI {
    /// The options of an open runtime.
    @Suite struct OptionsTests {
        @Test func theOptionsInForceAreShown() throws {
            try withRuntime { runtime throws in
                let options = try runtime.options
                #expect(options.quiet == .milliseconds(10) && options.settleMaximum == .milliseconds(250))
                #expect(options.commitTimeout == .seconds(5) && options.stopGrace == .seconds(30))
                #expect(options.startTimeout == .seconds(60) && options.stopTimeout == .seconds(60))
                #expect(options.maximumDocumentSize == 1 << 20 && options.maximumDocumentNodes == 50_000)
                #expect(options.maximumEachEntries == 10_000 && options.pinMaximumAge == .seconds(60))
                #expect(options.history == 16 && options.ruleTimeout == .seconds(1))
                #expect(options.loadTimeout == .seconds(10) && options.logLevel == .info)
            }
        }

        @Test func everyOptionChanges() throws {
            var given = Runtime.Options()
            given.logLevel = .silent
            try withRuntime(given) { runtime throws in
                var expected = try runtime.options
                expected.quiet = .milliseconds(2)
                expected.settleMaximum = .milliseconds(100)
                expected.commitTimeout = .seconds(Int64.max)
                expected.startTimeout = .seconds(2)
                expected.stopTimeout = .seconds(3)
                expected.stopGrace = nil
                expected.maximumDocumentSize = 1000
                expected.maximumDocumentNodes = 100
                expected.maximumEachEntries = 10
                expected.pinMaximumAge = .seconds(Int64.max)
                expected.history = 0
                expected.ruleTimeout = .milliseconds(500)
                expected.loadTimeout = .seconds(Int64.max)
                expected.logLevel = .error
                try runtime.change { $0 = expected }
                #expect(try runtime.options == expected)
                #expect(try runtime.info.generation == 0)
            }
        }

        @Test func aRefusedChangeChangesNothing() throws {
            let closed = try Runtime()
            try withRuntime { runtime throws in
                let before = try runtime.options
                let error = failure {
                    try runtime.change {
                        $0.quiet = .zero
                        $0.history = 2000
                    }
                }
                #expect(error.code == .argument && error.message.hasPrefix("options.history is 2000"))
                #expect(try runtime.options == before)
            }
            try closed.close()
            #expect(failure { try closed.change { $0.quiet = .zero } }.code == .closed)
            #expect(failure { _ = try closed.options }.code == .closed)
        }

        @Test func aChangeIsMadeAgainWhenAnotherCameFirst() throws {
            try withRuntime { runtime throws in
                var calls = 0
                try runtime.change {
                    calls += 1
                    if calls == 1 { #expect(throws: Never.self) { try runtime.change { $0.history = 3 } } }
                    $0.quiet = .milliseconds(5)
                }
                #expect(calls == 2)
                let options = try runtime.options
                #expect(options.quiet == .milliseconds(5) && options.history == 3)
            }
        }

        @Test func theLogHasTheChangesFromTheNewLevelOn() throws {
            let lines = Log<String>()
            var options = Runtime.Options()
            options.logLevel = .warning
            options.log = { lines.add($0.message) }
            try withRuntime(options) { runtime throws in
                try runtime.configure("a.n", 1)
                #expect(lines.all.isEmpty)
                try runtime.change {
                    $0.logLevel = .info
                    $0.pinMaximumAge = .seconds(Int64.max)
                }
                #expect(lines.all == ["options: log_level warning -> info, pin_max_age_ms 60000 -> unlimited"])
                try runtime.configure("a.n", 2)
                #expect(lines.all.count == 2)
            }
        }
    }
}
