import CInvivo
import Glibc
import Invivo
import Testing

extension SwiftAPI {
    /// Typed settings: sections of the configuration as values of Swift types.
    @Suite(.serialized) struct SettingsTests {
        struct Host: Decodable, Sendable, Equatable {
            var name: String
            var port: Int?
        }

        enum Wave: String, Decodable, Sendable { case sine, saw }

        struct Audio: Decodable, Sendable, Equatable {
            var rate: Double
            var voices: UInt8
            var device: String?
            var isLoud: Bool?
            var wave: Wave?
            var hosts: [Host]?
            var limits: [String: Int]?
            var timeout: Duration?
        }

        private static func document(_ runtime: Runtime, _ text: String) throws {
            try runtime.changes { try $0.document("a.yaml", text) }
        }

        private static func open() throws -> Runtime {
            var options = Runtime.Options()
            options.log = { _ in }
            return try Runtime(options)
        }

        @Test func aSectionIsAValueOfEachGeneration() throws {
            let runtime = try Self.open()
            try Self.document(
                runtime,
                "config: { audio: { rate: 8, voices: 2, isLoud: true, wave: saw, hosts: [{ name: a, port: 1 }], "
                    + "limits: { x: 1 }, timeout: 250 ms } }")
            try runtime.bindSettings(Audio.self, to: "audio")
            let first = try runtime.settings(Audio.self)
            #expect(
                first
                    == Audio(
                        rate: 8, voices: 2, device: nil, isLoud: true, wave: .saw, hosts: [Host(name: "a", port: 1)],
                        limits: ["x": 1], timeout: .milliseconds(250)))
            let key = try runtime.settingsKey(Audio.self)
            try runtime.view { view throws in
                try Self.document(runtime, "config: { audio: { rate: 9, voices: 2 } }")
                #expect(view[key] == first)
            }
            #expect(try runtime.settings(Audio.self).rate == 9)
            try runtime.pinned { () throws in
                try Self.document(runtime, "config: { audio: { rate: 10, voices: 2 } }")
                #expect(try runtime.settings(Audio.self).rate == 9)
            }
            #expect(try runtime.settings(Audio.self).rate == 10)
            try runtime.unbindSettings(Audio.self)
            #expect(throws: InvivoError.self) { try runtime.settings(Audio.self) }
            try runtime.close()
        }

        @Test func allErrorsAreReportedAtTheirLines() throws {
            let runtime = try Self.open()
            try Self.document(runtime, "config: { audio: { rate: 8, voices: 2 } }")
            try runtime.bindSettings(Audio.self, to: "audio")
            let error = #expect(throws: InvivoError.self) {
                try Self.document(
                    runtime,
                    "config:\n  audio:\n    rate: fast\n    voises: 3\n    device: 7\n    isLoud: 3\n"
                        + "    hosts: [{ name: a, prot: 1 }, { port: b, name: c }]\n    limits: { x: y }\n")
            }
            let lines = (error?.description ?? "").split(separator: "\n").map(String.init)
            for line in [
                "a.yaml:3:11: config.audio.rate: expected a number, got 'fast'",
                "a.yaml:4:5: config.audio.voises: there is no field 'voises'; did you mean 'voices'?",
                "a.yaml:3:5: config.audio.voices: 'voices' is not set",
                "a.yaml:5:13: config.audio.device: expected a string, got 7",
                "a.yaml:6:13: config.audio.isLoud: expected true or false, got 3",
                "a.yaml:7:24: config.audio.hosts[0].prot: there is no field 'prot'; did you mean 'port'?",
                "a.yaml:7:43: config.audio.hosts[1].port: expected an integer, got 'b'",
                "a.yaml:8:18: config.audio.limits.x: expected an integer, got 'y'",
            ] {
                #expect(lines.contains(line), "\(line) is missing in \(lines)")
            }
            #expect(lines.count == 8)
            #expect(try runtime.settings(Audio.self).rate == 8)
            let other = #expect(throws: InvivoError.self) {
                try Self.document(runtime, "config:\n  audio: { rate: 1, voices: 300, wave: swa }\n")
            }
            #expect(
                other?.description.contains(
                    "a.yaml:2:29: config.audio.voices: expected an integer from 0 to 255, got 300") == true)
            #expect(other?.description.contains("a.yaml:2:40: config.audio.wave: ") == true)
            try runtime.close()
        }

        @Test func aCheckRefusesAValue() throws {
            let runtime = try Self.open()
            try Self.document(runtime, "config: { audio: { rate: 8, voices: 2 } }")
            try runtime.bindSettings(Audio.self, to: "audio", named: "Checked") { audio in
                guard audio.voices < 9 else { throw InvivoError(.range, "too many", path: "voices") }
            }
            let error = #expect(throws: InvivoError.self) {
                try Self.document(runtime, "config:\n  audio: { rate: 8, voices: 9 }\n")
            }
            #expect(error?.description == "a.yaml:2:29: config.audio.voices: too many")
            #expect(error?.code == .range)
            #expect(try runtime.settings(Audio.self, named: "Checked").voices == 2)
            #expect(throws: InvivoError.self) { try runtime.settings(Host.self, named: "Checked") }
            try runtime.close()
        }

        @Test func theTypeDecidesTheKindOfAVariable() throws {
            setenv("IV_SETTINGS_SWIFT", "007", 1)
            defer { unsetenv("IV_SETTINGS_SWIFT") }
            let runtime = try Self.open()
            try Self.document(
                runtime,
                #"config: { audio: { rate: "${IV_SETTINGS_SWIFT}", voices: 1, device: "${IV_SETTINGS_SWIFT}" } }"#)
            try runtime.bindSettings(Audio.self, to: "audio")
            #expect(try runtime.settings(Audio.self).rate == 7)
            #expect(try runtime.settings(Audio.self).device == "007")
            setenv("IV_SETTINGS_SWIFT", "hidden", 1)
            let error = #expect(throws: InvivoError.self) { try runtime.refreshEnvironment() }
            #expect(error?.description.contains("hidden") == false)
            #expect(error?.description.contains("got the value of an environment variable") == true)
            try runtime.close()
        }

        @Test func secretPartsOfASectionAreNotShown() throws {
            setenv("IV_SETTINGS_SECRET", "canary", 1)
            defer { unsetenv("IV_SETTINGS_SECRET") }
            let runtime = try Self.open()
            try Self.document(runtime, "config: { audio: { rate: 8, voices: 2, device: fine, limits: { x: 1 } } }")
            try runtime.bindSettings(Audio.self, to: "audio", secrets: ["device", "limits.x"]) { audio in
                if audio.device == "canary" {
                    throw InvivoError(.range, "\(audio.device ?? "") is refused", path: "device")
                }
            }
            #expect(try runtime.isSecret("audio.device"))
            #expect(try runtime.isSecret("audio.limits.x"))
            #expect(try runtime.isSecret("audio.limits"))
            #expect(try !runtime.isSecret("audio.rate"))
            #expect(try runtime.settings(Audio.self).device == "fine")
            for (section, message) in [
                ("device: [canary]", "a.yaml:1:48: config.audio.device: expected a string, got list"),
                ("limits: { x: canary }", "a.yaml:1:53: config.audio.limits.x: expected an integer, got string"),
                (
                    "device: '${IV_SETTINGS_SECRET}', isLoud: '${IV_SETTINGS_SECRET}'",
                    "a.yaml:1:81: config.audio.isLoud: expected true or false, got the value of an environment variable"
                ),
                (
                    "device: canary",
                    "config.audio: the check refuses the values (its message is not shown, because it could quote a hidden value)"
                ),
                ("wave: canary", "a.yaml:1:46: config.audio.wave: the value is not accepted"),
            ] {
                let error = #expect(throws: InvivoError.self) {
                    try Self.document(runtime, "config: { audio: { rate: 8, voices: 2, \(section) } }")
                }
                let text = error?.description ?? ""
                #expect(text.contains(message), "\(text)")
                #expect(!text.contains("canary"), "\(text)")
                #expect(!"\(try runtime.reports)".contains("canary"))
            }
            try runtime.unbindSettings(Audio.self)
            #expect(try !runtime.isSecret("audio.device"))
            try runtime.close()
        }

        final class Store: Assembly {
            override var secretPaths: [String] { ["db.password"] }
        }

        @Test func anAssemblyDeclaresSecretsWhileItIsActive() throws {
            let runtime = try Self.open()
            let store = Store()
            try runtime.activate(store)
            #expect(try runtime.isSecret("db.password"))
            #expect(try !runtime.isSecret("db.host"))
            try runtime.remove(store)
            #expect(try !runtime.isSecret("db"))
            try runtime.close()
        }

        @Test func aMemberReceivesTheSettings() throws {
            let runtime = try Self.open()
            try Self.document(runtime, "config: { audio: { rate: 8, voices: 2 } }")
            try runtime.bindSettings(Audio.self, to: "audio")
            let deck = try runtime.activate(Deck())
            let first = try deck.player()
            #expect(first.audio.rate == 8)
            try Self.document(runtime, "config: { audio: { rate: 8, voices: 2 }, other: 1 }")
            #expect(try deck.player() === first)
            try Self.document(runtime, "config: { audio: { rate: 9, voices: 2 } }")
            #expect(try deck.player().audio.rate == 9)
            #expect(try deck.audio() == runtime.settings(Audio.self))
            try runtime.close()
        }

        /// A module of a manifest adds the type.
        @Test func aManifestNamesAType() throws {
            let folder = "/tmp/invivo-settings-\(getpid())"
            mkdir(folder, 0o700)
            defer { for file in ["app.yaml", "m.py", ""] { remove("\(folder)/\(file)") } }
            func write(_ name: String, _ text: String) {
                let file = fopen("\(folder)/\(name)", "w")
                fputs(text, file)
                fclose(file)
            }
            func check() -> String {
                var silent = invivo_runtime_options()
                invivo_runtime_options_init(&silent)
                silent.log_level = UInt32(INVIVO_LOG_SILENT)
                var options = invivo_app_options()
                options.struct_size = MemoryLayout<invivo_app_options>.size
                options.load_module = { _, runtime, _, _, error in
                    Module.enter(invivo_table_get(), runtime, error) { runtime in
                        try runtime.addSettingsType(Host.self) { host in
                            if host.port == 13 { throw InvivoError(.range, "13 brings bad luck", path: "port") }
                        }
                    }
                }
                var error: OpaquePointer?
                defer { invivo_error_release(error) }
                return "\(folder)/app.yaml".withCString { path in
                    options.manifest = path
                    return withUnsafePointer(to: &silent) { silent in
                        options.runtime = silent
                        return invivo_app_check(&options, 0, nil, &error) == 0
                            ? "" : String(cString: invivo_error_text(error))
                    }
                }
            }
            write("m.py", "")
            let head = "modules: { m: m.py }\nsettings: { server: Host }\n"
            write("app.yaml", head + "config: { server: { name: a, port: 80 } }\n")
            #expect(check() == "")
            write("app.yaml", head + "config: { server: { name: a, port: 13 } }\n")
            #expect(check().contains("app.yaml:3:36: config.server.port: 13 brings bad luck"))
            write("app.yaml", head + "config: { server: { nmae: a } }\n")
            #expect(
                check().contains("app.yaml:3:21: config.server.nmae: there is no field 'nmae'; did you mean 'name'?"))
        }
    }
}

private final class Speaker: Sendable {
    let audio: SwiftAPI.SettingsTests.Audio
    init(_ audio: SwiftAPI.SettingsTests.Audio) { self.audio = audio }
}

private final class Deck: Assembly {
    let audio = lazySingleton(settings(SwiftAPI.SettingsTests.Audio.self, at: "audio"))
    let player = singleton(Speaker.init)
}
