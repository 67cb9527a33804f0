import Foundation
import Glibc
import Testing

extension SwiftAPI {
    /// The command-line tool from the view of its user.
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

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func itLivesUntilASignalAndEndsWell(signal: Int32) throws {
            let (scratch, manifest) = try application()
            let child = Child(["run", manifest])
            child.line(with: "running \(manifest)")
            child.send(signal)
            #expect(child.end() == 0)
            withExtendedLifetime(scratch) {}
        }

        @Test func anInvalidEditNamesLocationReasonAndGeneration() throws {
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
            #expect(missing.lines == ["/nonexistent/app.yaml: error: no such file"])
        }

        @Test func errorsOfModulesWiringAndDocumentsAreAllPrintedEachOnce() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            scratch.write("tuning.yaml", "traits: { a.one: [Set: { gian: 1 }], a.nobody: [Set: { gain: 1 }] }\n")
            scratch.write("broken.yaml", "traits: [\n")
            let manifest = scratch.write(
                "app.yaml",
                """
                modules: { osc: osc.so }
                components:
                  a.one: { type: Os }
                  a.two: { type: Osc, init: { input: $a.tree }, properties: { gian: 1, gain: 7 } }
                  a.three: { type: Osc, init: { input: $a.one }, properties: { gain: 0.5 } }
                specs: [tuning.yaml, broken.yaml, missing.yaml]

                """)
            let child = Child(["run", manifest])
            #expect(child.end() == 2)
            let expected = [
                "app.yaml:3:18: error: components.a.one: no type 'Os'",
                "components.a.two.properties.gian: Osc has no property",
                "components.a.two.properties.gain: 7 is outside", "a.two: initializer parameter 'input' needs 'a.tree'",
                "no target has the key 'a.nobody'", "broken.yaml:2:1: error: ",
                "missing.yaml: error: no such file",
            ]
            for text in expected { #expect(child.lines.count { $0.contains(text) } == 1, "\(text) in \(child.lines)") }
            #expect(child.lines.count == expected.count, "\(child.lines)")
        }

        @Test func aCheckPrintsEveryErrorWithItsRuleAndMakesNothing() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            scratch.write("tuning.yaml", "traits: { a.one: [Set: { gian: 1 }] }\n")
            let wrong = scratch.write(
                "app.yaml",
                """
                modules: { osc: osc.so }
                components:
                  a.one: { type: Osc, properties: { slow: 0 } }
                  a.two: { type: Osc, init: { input: $a.tree } }
                  a.three: { type: Osc, init: { input: $a.two } }
                specs: [tuning.yaml]

                """)
            let child = Child(["check", wrong])
            #expect(child.end() == 2)
            #expect(child.lines.count == 2, "\(child.lines)")
            #expect(
                child.lines.count { $0.contains("'a.tree'") && $0.hasSuffix("(needed by a.three) [wiring.missing]") }
                    == 1)
            #expect(child.lines.count { $0.contains("gian") } == 1)
            let waiting = Child(["check", "--wait", wrong])
            #expect(waiting.end() == 2)
            #expect(waiting.lines.count == 1)
            // Its setter would print, and wait forever.
            let right = scratch.write(
                "right.yaml",
                "modules: { osc: osc.so }\ncomponents: { a.one: { type: Osc, scope: singleton, properties: { slow: 1 } } }\n"
            )
            let well = Child(["check", right])
            #expect(well.end() == 0)
            #expect(well.lines == ["\(right): OK"])
        }

        @Test func aCheckFindsValuesThatNothingReads() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            let manifest = scratch.write(
                "app.yaml",
                """
                modules: { osc: osc.so }
                components:
                  audio.lead: { type: Osc, properties: { gain: $config.volume } }
                specs: [values.yaml]

                """)
            scratch.write("values.yaml", "config:\n  audio: { volume: 0.5, volum: 3 }\n  other: [1, 2]\n")
            for arguments in [["check", manifest], ["check", "--unread", manifest]] {
                let child = Child(arguments)
                #expect(child.end() == 2)
                #expect(
                    child.lines == [
                        "\(scratch.path)/values.yaml:2:32: error: config.audio.volum: 'audio.volum' is not read by anything; "
                            + "did you mean 'audio.volume'? [config.unread]"
                    ], "\(child.lines)")
            }
            scratch.write("values.yaml", "config:\n  audio: { volume: 0.5, pan: 3 }\n  other: [1, 2]\n")
            let well = Child(["check", manifest])
            #expect(well.end() == 0 && well.lines == ["\(manifest): OK"], "\(well.lines)")
            let list = Child(["check", "--unread", manifest])
            #expect(list.end() == 0)
            #expect(
                list.lines == [
                    "\(scratch.path)/values.yaml:2:30: audio.pan is not read by anything",
                    "\(scratch.path)/values.yaml:3:10: other is not read by anything", "\(manifest): OK",
                ], "\(list.lines)")
            let both = Child(["check", "--unread", "--wait", manifest])
            #expect(both.end() == 64)
            #expect(both.lines.first?.hasPrefix("invivo: error: --unread needs the modules") == true, "\(both.lines)")
        }

        @Test func errorsAreWrittenAsJson() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            let manifest = scratch.write(
                "app.yaml",
                """
                modules: { osc: osc.so }
                components:
                  audio.lead: { type: Osc, properties: { gain: $config.volume } }
                specs: [values.yaml]

                """)
            scratch.write("values.yaml", "config:\n  audio: { volume: 0.5, volum: 3 }\n")
            let wrong = Child(["check", "--json", manifest])
            #expect(wrong.end() == 2)
            #expect(
                wrong.lines == [
                    "{\"version\": 1, \"errors\": [{\"file\": \"\(scratch.path)/values.yaml\", \"line\": 2, \"column\": 32, "
                        + "\"path\": \"config.audio.volum\", \"code\": \"not_configured\", \"rule\": \"config.unread\", "
                        + "\"message\": \"'audio.volum' is not read by anything; did you mean 'audio.volume'?\"}], \"warnings\": []}"
                ], "\(wrong.lines)")
            scratch.write("values.yaml", "config:\n  audio: { volume: 0.5, pan: 3 }\n")
            let well = Child(["check", "--json", manifest])
            #expect(well.end() == 0)
            #expect(well.lines == ["{\"version\": 1, \"errors\": [], \"warnings\": []}"], "\(well.lines)")
            let unread = Child(["check", "--json", "--unread", manifest])
            #expect(unread.end() == 0)
            #expect(
                unread.lines == [
                    "{\"version\": 1, \"errors\": [], \"warnings\": [], \"unread\": [{\"file\": \"\(scratch.path)/values.yaml\", \"line\": 2, "
                        + "\"column\": 30, \"path\": \"audio.pan\"}]}"
                ], "\(unread.lines)")
            let keys = "\(scratch.path)/keys.h"
            let stale = Child(["keys", "--check", "--json", "-o", keys, manifest])
            #expect(stale.end() == 1)
            #expect(
                stale.lines.first?.contains(
                    "{\"file\": \"\(keys)\", \"line\": null, \"column\": null, \"path\": null, \"code\": \"stale\"")
                    == true, "\(stale.lines)")
            let missing = Child(["check", "--json", "/nonexistent/\"app\".yaml"])
            #expect(missing.end() == 2)
            #expect(missing.lines.first?.contains("\"/nonexistent/\\\"app\\\".yaml\"") == true, "\(missing.lines)")
            let together = Child(["keys", "--json", manifest])
            #expect(together.end() == 64)
        }

        @Test func aCheckShowsWarnings() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            let manifest = scratch.write(
                "app.yaml",
                """
                modules: { osc: osc.so }
                components:
                  audio.lead: { type: Osc }
                specs: [{ file: values.yaml, keep_going: true }]

                """)
            let values = scratch.write("values.yaml", "traits:\n  audio.lead: [Sett: { gain: 2 }]\n")
            let message = "traits.audio.lead[0]: unknown trait 'Sett'; did you mean 'Set'?; skipped"
            let plain = Child(["check", manifest])
            #expect(plain.end() == 0)
            #expect(plain.lines == ["\(values):2:16: warning: \(message)", "\(manifest): OK"], "\(plain.lines)")
            let json = Child(["check", "--json", manifest])
            #expect(json.end() == 0)
            #expect(
                json.lines == [
                    "{\"version\": 1, \"errors\": [], \"warnings\": [{\"file\": \"\(values)\", \"line\": 2, \"column\": 16, "
                        + "\"message\": \"\(message)\"}]}"
                ], "\(json.lines)")
        }

        @Test func everyCommandTakesFilesOfOthersWhereThatIsPermitted() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            let manifest = scratch.write("app.yaml", "modules: { osc: osc.so }\ncomponents: { a.one: { type: Osc } }\n")
            chmod("\(scratch.path)/osc.so", 0o666)
            for command in [["check"], ["graph"], ["keys"], ["graph", "--live"]] {
                let refused = Child(command + [manifest])
                let status = refused.end()
                #expect(
                    refused.lines.contains { $0.contains("osc.so: ") && $0.contains("FOREIGN_FILES") },
                    "\(refused.lines)")
                #expect(status == (geteuid() == 0 ? 2 : 0))
                let permitted = Child(command + ["--foreign-files", manifest])
                #expect(permitted.end() == 0)
                #expect(!permitted.lines.contains { $0.contains("FOREIGN_FILES") })
            }
        }

        @Test func everyCommandReadsVariablesWithThePrefix() throws {
            let (scratch, manifest) = try application()
            // An error, so that each command shows that it has read the variable.
            let variables = ["IV_TOOL__a____b=1"]
            for command in [["check"], ["check", "--no-modules"], ["graph"], ["keys"], ["run"]] {
                let child = Child(command + ["--environment-prefix", "IV_TOOL__", manifest], variables: variables)
                #expect(child.end() == 2)
                #expect(child.lines.contains { $0.contains("IV_TOOL__a____b: error: a part of the name is empty") })
            }
            for command in [["check"], ["check", "--no-modules"], ["graph"]] {
                #expect(Child(command + [manifest], variables: variables).end() == 0)
                let other = Child(command + ["--environment-prefix", "IV_OTHER__", manifest], variables: variables)
                #expect(other.end() == 0)
            }
            withExtendedLifetime(scratch) {}
        }

        @Test func graphsAndKeysReadTheSpecsAsCheckDoes() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            let manifest = scratch.write(
                "app.yaml",
                """
                modules: { osc: osc.so }
                components:
                  a.one: { type: Osc }
                  a.two: { type: Osc, properties: { gain: $config.gain } }
                specs: [tuning.yaml]

                """)
            scratch.write("tuning.yaml", "config: { a: { gain: 0.5 } }\n")
            for command in [["check"], ["graph"], ["keys"]] {
                let read = Child(command + [manifest])
                #expect(read.end() == 0, "\(read.lines)")
                let unread = Child(command + ["--wait", manifest])
                #expect(unread.end() == 2)
                #expect(unread.lines.contains { $0.contains("needs the configuration 'gain'") }, "\(unread.lines)")
            }
            let both = Child(["graph", "--live", "--wait", manifest])
            #expect(both.end() == 64)
        }

        @Test func aGraphIsWrittenAsTextAndAsAPictureWhereGraphvizIs() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            let manifest = scratch.write(
                "app.yaml",
                """
                modules: { osc: osc.so }
                components:
                  a.one: { type: Osc, scope: singleton }
                  a.two: { type: Osc, init: { input: $a.one } }

                """)
            let dot = Child(["graph", manifest])
            #expect(dot.end() == 0)
            #expect(dot.lines.first == "digraph wiring {")
            #expect(dot.lines.contains { $0.contains("a.one\\nOsc, singleton\\n") && !$0.contains("live") })
            let live = Child(["graph", "--live", "--format", "mermaid", manifest])
            #expect(live.end() == 0)
            #expect(live.lines.contains { $0.contains("a.one<br/>Osc, singleton<br/>generation 1, 1 live, ") })
            let file = "\(scratch.path)/graph.svg"
            let picture = Child(["graph", manifest, "-o", file])
            if access("/usr/bin/dot", X_OK) == 0 {
                #expect(picture.end() == 0)
                #expect(try String(contentsOfFile: file, encoding: .utf8).contains("</svg>"))
            } else {
                #expect(picture.end() == 2)
                #expect(picture.lines.contains { $0.contains("install Graphviz, or write --format dot") })
            }
        }

        @Test func keysAreWrittenAsFunctionsThatTheCompilerChecks() throws {
            let scratch = try Scratch()
            try module(in: scratch)
            let manifest = scratch.write(
                "app.yaml",
                "modules: { osc: osc.so }\nassemblies: [{ mount: band, as: left }]\ncomponents: { a.one: { type: Osc } }\n"
            )
            let header = "\(scratch.path)/keys.h"
            for _ in 0..<2 {
                let child = Child(["keys", manifest, "-o", header])
                #expect(child.end() == 0)
                #expect(child.lines == [])
            }
            scratch.write(
                "use.c",
                """
                #include "keys.h"
                invivo_status use(invivo_runtime runtime, invivo_error **error) {
                    Osc_object one, lead;
                    invivo_status status = a_one(runtime, &one, error);
                    return status ? status : left_lead(runtime, &lead, one, error);
                }
                """)
            scratch.write(
                "misuse.c",
                "#include \"keys.h\"\nint use(invivo_runtime r) { Osc_object o; return left_lead(r, &o, 5, NULL); }\n")
            let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
            func compiles(_ name: String) -> Bool {
                let command =
                    "cc -Wall -Wextra -Werror -fsyntax-only '-I\(root)/include' '\(scratch.path)/\(name)' 2>/dev/null"
                return popen(command, "r").map { pclose($0) } == 0
            }
            #expect(compiles("use.c"))
            #expect(!compiles("misuse.c"))
            let swift = Child(["keys", manifest, "--language", "swift"])
            #expect(swift.end() == 0)
            #expect(swift.lines.contains { $0.contains("public func lead(input: OscHandle) throws(InvivoError)") })
        }

        @Test func anErrorOfADocumentAtTheStartIsPrintedOnce() throws {
            let scratch = try Scratch()
            scratch.write("tuning.yaml", "traits: { a.nobody: [Set: { gain: 1 }] }\n")
            let manifest = scratch.write("app.yaml", "components: {}\nspecs: [tuning.yaml]\n")
            let child = Child(["run", manifest])
            #expect(child.end() == 2)
            #expect(
                child.lines == [
                    "\(scratch.path)/tuning.yaml:1:11: error: traits.a.nobody: no target has the key 'a.nobody' "
                        + "(pending_targets, or --wait, permits keys that are defined later)"
                ])
            let waiting = Child(["run", "--wait", manifest])
            waiting.line(with: "running")
            waiting.send(SIGTERM)
            #expect(waiting.end() == 0)
            #expect(waiting.lines.count { $0.contains("a.nobody: no target") } == 1, "\(waiting.lines)")
        }

        /// A module with a type whose setter of `slow` waits until a file exists.
        private func module(in scratch: Scratch) throws {
            scratch.write(
                "osc.c",
                """
                #include <invivo/invivo.h>
                #include <stdio.h>
                #include <unistd.h>
                typedef struct { double gain; } osc;
                static invivo_status get(void *i, void *u, invivo_value *out, invivo_error **e) {
                    (void)i, (void)u, (void)e; *out = invivo_double(0); return INVIVO_OK;
                }
                static invivo_status set(void *i, void *u, const invivo_value *v, invivo_error **e) {
                    (void)i, (void)u, (void)e; puts("setting"), fflush(stdout);
                    while (v->as.number > 0 && access("\(scratch.path)/go", F_OK) != 0) usleep(1000);
                    return INVIVO_OK;
                }
                static const invivo_property properties[] = {INVIVO_FIELD(osc, gain, .initial = 1, .min = 0, .max = 2),
                    {.struct_size = sizeof(invivo_property), .name = "slow", .kind = INVIVO_KIND_DOUBLE, .get = get, .set = set}};
                static const invivo_parameter parameters[] = {
                    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
                static const invivo_type_options type = {.struct_size = sizeof(type), .name = "Osc", .size = sizeof(osc),
                    .properties = properties, .property_count = 2, .parameters = parameters, .parameter_count = 1};
                static const invivo_definition definitions[] = {INVIVO_PROTOTYPE("lead", "Osc",
                    INVIVO_PARAMETERS({.name = "input", .kind = INVIVO_KIND_OBJECT, .type_name = "Osc"}),
                    INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_ARG(0))))};
                static const invivo_assembly band = INVIVO_ASSEMBLY("band", definitions, .flags = 0);
                INVIVO_MODULE(runtime, error) {
                    invivo_status status = invivo_type_register(runtime, &type, NULL, error);
                    return status ? status : invivo_assembly_describe(runtime, &band, error);
                }
                """)
            let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
            let command =
                "cc -shared -fPIC '-I\(root)/include' -o '\(scratch.path)/osc.so' '\(scratch.path)/osc.c' "
                + "'\(root)/Sources/InvivoStubs/stubs.c'"
            guard let stream = popen(command, "r"), pclose(stream) == 0 else { throw Trouble() }
        }
        private struct Trouble: Error {}

        /// The tool in the middle of a reload, in a setter that waits.
        private func hanging(_ scratch: Scratch) throws -> Child {
            try module(in: scratch)
            scratch.write("tuning.yaml", "traits: {}\n")
            let child = Child([
                "run",
                scratch.write(
                    "app.yaml",
                    "modules: { osc: osc.so }\ncomponents: { a.one: { type: Osc, scope: singleton } }\nspecs: [tuning.yaml]\n"
                ),
            ])
            child.line(with: "running")
            scratch.write("tuning.yaml", "traits: { a.one: [Set: { slow: 1 }] }\n")
            child.line(with: "setting")
            child.send(SIGINT)
            child.line(with: "ending on SIGINT")
            return child
        }

        @Test func theLineOfAReloadThatASignalMeetsIsStillPrinted() throws {
            let scratch = try Scratch()
            let child = try hanging(scratch)
            scratch.write("go", "")
            child.line(with: "generation 2: ")
            #expect(child.end() == 0)
        }

        @Test func aSecondSignalEndsAToolThatHangs() throws {
            let scratch = try Scratch()
            let child = try hanging(scratch)
            #expect(child.end(bySending: SIGINT) == 130)
        }

        @Test func withWaitAGoodFileIsWaitedFor() throws {
            let scratch = try Scratch()
            let manifest = scratch.write("app.yaml", "components: {\n")
            let child = Child(["run", "--wait", manifest])
            child.line(with: "waiting until the file is corrected")
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

        @Test func withoutThePythonPackageTheErrorNamesIt() throws {
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
