import CInvivo
import CPlatform
import Glibc
import InvivoBase
import InvivoGraph
import InvivoReload
import InvivoWiring
import Testing

@testable import InvivoApp

/// Manifests and documents in a directory of their own, with modules that the test scripts.
@Suite struct ApplicationTests {
    /// A directory that ends with its test.
    private final class Folder {
        let path: String
        private var files: [String] = []

        init() throws {
            var template = Array("/tmp/invivo-app-XXXXXX".utf8CString)
            _ = try #require(mkdtemp(&template))
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        deinit {
            for file in files { unlink(file) }
            rmdir(path)
        }

        @discardableResult func write(_ name: String, _ content: String) throws -> String {
            let file = "\(path)/\(name)"
            let stream = try #require(fopen(file, "w"))
            fputs(content, stream)
            fclose(stream)
            if !files.contains(file) { files.append(file) }
            return file
        }
    }

    /// Registers the type "Part" with the property `gain`, as a module would.
    private static func load(_ engine: Engine, _ path: String) throws(Failure) {
        guard path.hasSuffix("libparts.so") else { throw Failure(.notFound, "no such library") }
        let (name, gain) = (strdup("Part"), strdup("gain"))
        defer {
            free(name)
            free(gain)
        }
        var property = invivo_property()
        property.struct_size = MemoryLayout<invivo_property>.size
        property.name = UnsafePointer(gain)
        property.kind = invivo_kind(INVIVO_KIND_DOUBLE)
        property.size = 8
        var options = invivo_type_options()
        options.struct_size = MemoryLayout<invivo_type_options>.size
        options.name = UnsafePointer(name)
        (options.size, options.alignment) = (8, 8)
        let description = try withUnsafePointer(to: &property) { (property) throws(Failure) in
            options.properties = property
            options.property_count = 1
            return try TypeTables.type(&options)
        }
        let _: ObjectType = try engine.container.register(description)
    }

    private func options(_ manifest: String) -> Application.Options {
        Application.Options(manifest: manifest, engine: EngineOptions()) { (engine, path) throws(Failure) in
            try Self.load(engine, path)
        }
    }

    private func failure(_ body: () throws(Failure) -> Void) -> Failure? {
        do throws(Failure) {
            try body()
            return nil
        } catch { return error }
    }

    /// The gain of the shared object of a key.
    private func gain(of key: String, in application: Application) throws -> Double {
        let container = application.engine.container
        let object = try container.resolve(try container.definedKey(key))
        defer { _ = ObjectTable.release(object) }
        let record = try #require(ObjectTable.record(object))
        return try #require(record.pointee.instance).load(as: Double.self)
    }

    @Test func aManifestLoadsItsModulesDefinesItsComponentsAndAppliesItsSpecs() throws {
        let folder = try Folder()
        try folder.write("a.yaml", "traits: { app.part: [Set: { gain: 0.5 }] }\n")
        let manifest = try folder.write(
            "app.yaml",
            "modules: { parts: libparts.so }\nspecs: [a.yaml]\ncomponents:\n  app.part: { type: Part, scope: singleton }\n"
        )
        let application = try Application.open(options(manifest))
        #expect(try gain(of: "app.part", in: application) == 0.5)
        try application.close()
    }

    @Test func theReportOfAStartNamesTheManifest() throws {
        let folder = try Folder()
        let manifest = try folder.write(
            "app.yaml",
            "modules: { parts: libparts.so }\ncomponents:\n  app.part: { type: Part, scope: singleton }\nconfig: { n: 1 }\n"
        )
        let application = try Application.open(options(manifest))
        let report = try #require(application.engine.reports.last)
        let cause = try #require(report.causes.parts.first)
        #expect(cause.kind == .manifest)
        #expect(cause.name == report.cause)
        #expect(report.changes.map(\.key) == ["n", "app.part"])
        #expect(report.changes.map(\.origin.kind) == [.manifest, .manifest])
        #expect(report.changes.map(\.location.line) == [4, 3])
        #expect(report.changes.allSatisfy { $0.origin.layer == cause.name && $0.location.file == cause.name })
        try application.close()
    }

    @Test func aStartReportsEachErrorAndLeavesNothing() throws {
        let folder = try Folder()
        try folder.write("a.yaml", "traits: { app.part: [Set: { gian: 0.5 }] }\n")
        let components = "  app.part: { type: Part, scope: singleton }\n  app.wrong: { type: Prat }\n"
        let manifest = try folder.write(
            "app.yaml", "modules: { parts: libparts.so }\nspecs: [a.yaml]\ncomponents:\n\(components)")
        func found() throws -> String {
            let failure = try #require(failure { () throws(Failure) in _ = try Application.open(options(manifest)) })
            return failure.all.map(\.text).joined(separator: "\n")
        }
        let before = iv_load_u64(iv_live_runtimes())
        let text = try found()
        #expect(text.contains("did you mean 'Part'"))
        #expect(text.contains("did you mean 'gain'"))
        // The unknown type may be one of the module that cannot be loaded.
        try folder.write(
            "app.yaml", "modules: { parts: libparts.so, other: libother.so }\ncomponents:\n\(components)")
        let unloaded = try found()
        #expect(unloaded.contains("the module 'other' cannot be loaded"))
        #expect(!unloaded.contains("Prat"))
        #expect(iv_load_u64(iv_live_runtimes()) == before)
    }

    @Test func aCheckCreatesNoObjectAndReturnsTheWiring() throws {
        let folder = try Folder()
        let manifest = try folder.write(
            "app.yaml", "modules: { parts: libparts.so }\ncomponents:\n  app.part: { type: Part, scope: singleton }\n")
        let before = ObjectTable.liveCount()
        var keys: [String] = []
        try Application.check(options(manifest)) { (facts) throws(Failure) in keys = facts.nodes.map(\.key) }
        #expect(keys == ["app.part"])
        #expect(ObjectTable.liveCount() == before)
    }

    @Test func aCheckWithoutModulesFindsErrorsInTheFormOfDocuments() throws {
        let folder = try Folder()
        try folder.write("a.yaml", "traits: [\n")
        let manifest = try folder.write("app.yaml", "modules: { parts: libmissing.so }\nspecs: [a.yaml]\n")
        var options = options(manifest)
        options.withoutModules = true
        let found = try #require(
            failure { () throws(Failure) in try Application.check(options) { (_) throws(Failure) in } })
        #expect(found.location.file.hasSuffix("a.yaml"))
        try folder.write("a.yaml", "traits: { app.part: [Set: { gain: 1 }] }\n")
        try Application.check(options) { (_) throws(Failure) in }
    }

    @Test func aPythonModuleNeedsAHostThatLoadsIt() throws {
        let folder = try Folder()
        try folder.write("parts.py", "")
        let manifest = try folder.write("app.yaml", "modules: { parts: parts.py }\n")
        #expect(try Application.needsPython(manifest))
        let found = try #require(failure { () throws(Failure) in _ = try Application.open(options(manifest)) })
        #expect(found.all.map(\.text).joined().contains("a Python module needs a Python host"))
        var hosted = options(manifest)
        var loaded: [String] = []
        hosted.loadOther = { (_, name, path) throws(Failure) in loaded.append("\(name) \(path.hasSuffix("parts.py"))")
        }
        try Application.open(hosted).close()
        #expect(loaded == ["parts true"])
    }

    @Test func aDocumentThatMayBeBadDoesNotKeepTheApplicationFromStarting() throws {
        let folder = try Folder()
        try folder.write("a.yaml", "traits: { app.part: [Set: { gian: 0.5 }] }\n")
        let manifest = try folder.write(
            "app.yaml",
            "modules: { parts: libparts.so }\nspecs: [a.yaml]\ncomponents:\n  app.part: { type: Part, scope: singleton }\n"
        )
        var options = options(manifest)
        options.waits = true
        let application = try Application.open(options)
        #expect(try gain(of: "app.part", in: application) == 0)
        try application.close()
    }
}
