import Glibc
import Testing

extension SwiftAPI {
    /// The command-line tool, as its user sees it.
    @Suite struct ToolTests {
        private func application() throws -> (Scratch, manifest: String) {
            let scratch = try Scratch()
            scratch.write("tuning.yaml", "traits: {}\n")
            return (scratch, scratch.write("app.yaml", "components: {}\nspecs: [tuning.yaml]\n"))
        }

        @Test func theVersionIsTheLibrarys() {
            let child = Child(["--version"])
            #expect(child.end() == 0)
            #expect(child.lines == ["0.1.0"])
        }

        @Test(arguments: [SIGINT, SIGTERM]) func itLivesUntilASignalAndEndsWell(signal: Int32) throws {
            let (scratch, manifest) = try application()
            let child = Child(["run", manifest])
            child.line(with: "running \(manifest)")
            child.send(signal)
            #expect(child.end() == 0)
            withExtendedLifetime(scratch) {}
        }

        @Test func aBrokenEditSaysWhereAndWhyAndThatTheGenerationStays() throws {
            let (scratch, manifest) = try application()
            let child = Child(["run", manifest])
            child.line(with: "running")
            scratch.write("tuning.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 1 }\n")
            #expect(child.line(with: "tuning.yaml:2:3:").contains("synth.lead"))
            child.line(with: "tuning.yaml: not applied, generation 1 stays")
            scratch.write("tuning.yaml", "{}\n")
            child.line(with: "generation 2")
            child.send(SIGTERM)
            #expect(child.end() == 0)
        }

        @Test func everyErrorAtTheStartIsPrintedOnceAndTheStatusIsTwo() throws {
            let scratch = try Scratch()
            let manifest = scratch.write(
                "app.yaml",
                "modules: { one: one.so, two: two.so }\ncomponents: {}\n")
            let child = Child(["run", manifest])
            #expect(child.end() == 2)
            #expect(child.lines.count { $0.contains("one.so") } == 1)
            #expect(child.lines.count { $0.contains("two.so") } == 1)
            let missing = Child(["run", "/nonexistent/app.yaml"])
            #expect(missing.end() == 2)
            #expect(missing.lines == ["invivo: /nonexistent/app.yaml: no such file"])
        }

        @Test func withWaitAGoodFileIsWaitedFor() throws {
            let scratch = try Scratch()
            let manifest = scratch.write("app.yaml", "components: {\n")
            let child = Child(["run", "--wait", manifest])
            child.line(with: "waiting for it to be mended")
            scratch.write("app.yaml", "components: {}\nspecs: [tuning.yaml]\n")
            child.line(with: "running")
            scratch.write("tuning.yaml", "traits: {}\n")
            child.line(with: "tuning.yaml")
            child.send(SIGINT)
            #expect(child.end() == 0)
            let never = Child(["run", "--wait", "/nonexistent/app.yaml"])
            never.line(with: "waiting")
            never.send(SIGTERM)
            #expect(never.end() == 0)
        }

        @Test func aManifestWithPythonModulesIsHandedOver() throws {
            let scratch = try Scratch()
            let manifest = scratch.write("app.yaml", "modules: { tune: tune.py }\n")
            scratch.write("python3", "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"handed $*\"\nexit 7\n")
            chmod("\(scratch.path)/python3", 0o755)
            let child = Child(["run", manifest, "--log-level", "debug", "--wait"], path: "\(scratch.path):/usr/bin")
            #expect(child.end() == 7)
            #expect(child.lines == ["handed -m invivo run \(manifest) --log-level debug --wait"])
        }

        @Test func withoutThePythonPackageTheErrorSaysWhatToInstall() throws {
            let scratch = try Scratch()
            let manifest = scratch.write("app.yaml", "modules: { tune: tune.py }\n")
            scratch.write("python3", "#!/bin/sh\nexit 1\n")
            chmod("\(scratch.path)/python3", 0o755)
            let child = Child(["run", manifest], path: "\(scratch.path):/usr/bin:/bin")
            #expect(child.end() == 2)
            #expect(child.lines.first?.contains("pip install") == true)
        }
    }
}
