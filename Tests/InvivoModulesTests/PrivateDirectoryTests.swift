import Glibc
import Testing

@testable import InvivoModules

extension Tag {
    @Tag static var concurrent: Self
}

@Suite(.tags(.concurrent)) struct PrivateDirectoryTests {
    @Test func aDirectoryIsThereWhileOthersSweep() async throws {
        let workshop = try Workshop()
        let base = workshop.directory
        let sweeper = Task.detached { while !Task.isCancelled { PrivateDirectory.sweep(base) } }
        for _ in 0..<3000 {
            let directory = try PrivateDirectory(in: base)
            var status = stat()
            #expect(stat(directory.path, &status) == 0)
        }
        sweeper.cancel()
        await sweeper.value
    }
}
