import Invivo
import Testing

private final class Voice: Sendable {
    let count: Int
    init(_ count: Int) { self.count = count }
}

private final class Synth: Assembly {
    let voice = singleton(wired(.config("count"), by: Voice.init))
}

extension SwiftAPI {
    /// Assemblies and their required files as one reload.
    @Suite struct WatchTests {
        struct Tuning { var gain = 1.0 }

        func text(_ count: Int, _ gain: Double) -> String {
            "config: { synth: { count: \(count) } }\ntraits:\n  synth.lead:\n    - Set: { gain: \(gain) }\n"
        }

        @Test func aRuntimeOpensWithAssembliesAndTheirFile() throws {
            let before = Live.now
            do {
                let scratch = try Scratch()
                let file = scratch.write("settings.yaml", "config: { synth: { count: 3 } }")
                let synth = Synth()
                let runtime = try Runtime(synth, watching: file)
                #expect(try synth.voice().count == 3)
                #expect(try runtime.info.generation == 1)
                scratch.write("settings.yaml", "config: { synth: { count: 4 } }")
                try eventually(runtime) { try synth.voice().count == 4 }
                try runtime.close()
            }
            #expect(Live.now == before)
        }

        @Test func aFailingActivationLeavesNothing() throws {
            let scratch = try Scratch()
            let before = Live.now
            let missing = failure { _ = try Runtime(Synth(), watching: "\(scratch.path)/none.yaml") }
            #expect(missing.code == .notFound && missing.description.contains("none.yaml"))
            let other = scratch.write("other.yaml", text(3, 1))
            var strict = Runtime.Options()
            strict.pendingTargets = false
            // no definition has the key synth.lead
            #expect(failure { _ = try Runtime(Synth(), options: strict, watching: other) }.code == .spec)
            #expect(failure { _ = try Runtime(Synth()) }.code == .notConfigured)
            #expect(Live.now == before)
        }

        @Test func traitsOfABlockThatComesLaterWaitForIt() throws {
            let scratch = try Scratch()
            let file = scratch.write("settings.yaml", text(3, 0.5))
            let synth = Synth()
            let runtime = try Runtime(synth, watching: file)
            let lead = try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain, in: 0...2) })
            #expect(try synth.voice().count == 3 && runtime[lead].gain == 0.5)
            try runtime.close()
        }

        @Test func aChangeSetTakesAFile() throws {
            let scratch = try Scratch()
            let file = scratch.write("settings.yaml", text(3, 0.5))
            try withRuntime { runtime throws in
                let synth = Synth()
                let (lead, source) = try runtime.changes { changes in
                    try changes.activate(synth)
                    let lead = try changes.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain, in: 0...2) })
                    let source = try changes.watch(file)
                    try changes.check()
                    #expect(failure { try source.refresh() }.code == .notReady)
                    #expect(try runtime.sources.isEmpty)
                    return (lead, source)
                }
                #expect(try synth.voice().count == 3 && runtime[lead].gain == 0.5)
                scratch.write("settings.yaml", text(4, 0.25))
                try source.refresh()
                #expect(try synth.voice().count == 4 && runtime[lead].gain == 0.25)
                let later = try runtime.changes { try $0.watch("\(scratch.path)/none.yaml", waiting: true) }
                #expect(try runtime.sources.count == 2)
                scratch.write("none.yaml", text(5, 2))
                try later.refresh()
                #expect(try synth.voice().count == 5 && runtime[lead].gain == 2)
                try later.close()
                #expect(try synth.voice().count == 4 && runtime[lead].gain == 0.25)
            }
        }

        @Test func aSourceThatIsClosedBeforeTheCommitIsAnError() throws {
            let scratch = try Scratch()
            let file = scratch.write("settings.yaml", text(3, 0.5))
            try withRuntime { runtime throws in
                let failed = failure {
                    try runtime.changes { changes in
                        try changes.activate(Synth())
                        try changes.watch(file).close()
                    }
                }
                #expect(failed.code == .argument && "\(failed)".contains("closed before its change set was committed"))
                #expect(try runtime.sources.isEmpty)
            }
        }

        @Test func aSetThatFailsFollowsNothing() throws {
            let scratch = try Scratch()
            let file = scratch.write("settings.yaml", text(3, 7))
            try withRuntime { runtime throws in
                var sources: [Source] = []
                _ = failure {
                    try runtime.changes { changes in
                        try changes.activate(Synth())
                        sources.append(try changes.watch(file))
                    }
                }
                #expect(try runtime.sources.isEmpty)
                #expect(failure { try sources[0].refresh() }.code == .handle)
            }
        }

        @Test func aCacheIsNotifiedOfCommits() throws {
            try withRuntime { runtime throws in
                let calls = Log<Bool>()
                let observer = try runtime.observePublishing { calls.add($0) }
                try runtime.define("a.voice") { _ in Voice(1) }
                #expect(calls.all == [false, true])
                _ = failure { try runtime.define("a.voice", type: "Nobody") }
                #expect(calls.all == [false, true])
                try observer.close()
                try runtime.define("a.voice") { _ in Voice(2) }
                #expect(calls.all == [false, true])
            }
        }
    }
}
