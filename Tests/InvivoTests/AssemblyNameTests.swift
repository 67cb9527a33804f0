import Glibc
import Invivo
import Testing

/// Classes with the names in Tests/Cases/assembly_names.txt.
private enum Named {
    final class Synth: Assembly {}
    final class SynthVoice: Assembly {}
    final class SynthAssembly: Assembly {}
    final class HTTPServer: Assembly {}
    final class MyHTTPServer: Assembly {}
    final class SynthHTTP: Assembly {}
    final class X: Assembly {}
    final class XRay: Assembly {}
    final class Osc2: Assembly {}
    final class Osc2Bank: Assembly {}
    final class H2O: Assembly {}
    final class V2HTTPServer: Assembly {}
    final class lower: Assembly {}
    final class snake_case: Assembly {}
    final class Snake_Case: Assembly {}
    final class _Private: Assembly {}
    final class __Inner__: Assembly {}
    final class ÄnderungsPlan: Assembly {}
}

extension SwiftAPI {
    @Suite struct AssemblyNameTests {
        @Test func aClassGivesItsAssemblyTheNameThatItHasInPython() throws {
            let assemblies = [
                Named.Synth(), Named.SynthVoice(), Named.SynthAssembly(), Named.HTTPServer(), Named.MyHTTPServer(),
                Named.SynthHTTP(), Named.X(), Named.XRay(), Named.Osc2(), Named.Osc2Bank(), Named.H2O(),
                Named.V2HTTPServer(), Named.lower(), Named.snake_case(), Named.Snake_Case(), Named._Private(),
                Named.__Inner__(), Named.ÄnderungsPlan(),
            ]
            let found = assemblies.map { "\(type(of: $0)) \($0.name)" }
            #expect(try found == table())
        }

        private func table() throws -> [String] {
            let folder = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
            let file = try #require(fopen("\(folder)/Cases/assembly_names.txt", "r"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = fread(&bytes, 1, bytes.count, file)
            let text = String(decoding: bytes.prefix(count), as: UTF8.self)
            return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        }
    }
}
