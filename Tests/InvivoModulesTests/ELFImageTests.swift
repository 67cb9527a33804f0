import Testing

@testable import InvivoModules

struct ELFImageTests {
    @Test func aModuleShowsItsNoteEntryAndDependencies() throws {
        let workshop = try Workshop()
        let image = try ELFImage(Workshop.bytes(workshop.module()))
        #expect(image.abiVersion == 1)
        #expect(image.exports?.contains("invivo_module_entry") == true)
        #expect(image.needed == ["libc.so.6"])
    }

    @Test func theStubsExportNothing() throws {
        let workshop = try Workshop()
        let image = try ELFImage(Workshop.bytes(workshop.module()))
        #expect(image.exports?.filter { $0.hasPrefix("invivo_") } == ["invivo_module_entry"])
    }

    @Test func aModuleCutAtAnyLengthIsRefused() throws {
        let workshop = try Workshop()
        for flags in [[], ["-s"], ["-fuse-ld=lld"]] {
            let whole = try Workshop.bytes(workshop.module(flags: flags))
            _ = try ELFImage(whole)
            let lengths = Array(stride(from: 0, to: whole.count, by: 16)) + Array(whole.count - 80..<whole.count)
            for length in lengths {
                #expect(throws: ELFImage.Defect.self, "cut at \(length) of \(whole.count)") {
                    try ELFImage(Array(whole[..<length]))
                }
            }
        }
    }

    @Test func aModuleWrittenOnlyUpToSomewhereInAFileOfFullLengthIsRefused() throws {
        let workshop = try Workshop()
        let whole = try Workshop.bytes(workshop.module())
        for length in stride(from: 0, to: whole.count - 64, by: 64) {
            let holed = whole[..<length] + [UInt8](repeating: 0, count: whole.count - length)
            #expect(throws: ELFImage.Defect.self, "zeros from \(length) of \(whole.count)") {
                try ELFImage(Array(holed))
            }
        }
    }

    @Test func checksOfArbitraryBytesReadInsideTheFile() throws {
        let workshop = try Workshop()
        let whole = try Workshop.bytes(workshop.module())
        var random = Lehmer(state: 0x1234_5678_9abc_def1)
        let tables = Array(0..<1024) + Array((whole.count - 2048)..<whole.count)
        var refused = 0
        for _ in 0..<3_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[tables.randomElement(using: &random) ?? 0] = UInt8.random(in: .min ... .max, using: &random)
            }
            // A read outside would end the test process.
            do { _ = try ELFImage(bytes) } catch { refused += 1 }
        }
        #expect(refused > 0)
    }
}

/// The same numbers in every run.
struct Lehmer: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 0xda94_2042_e4dd_58b5 &+ 0x2545_f491_4f6c_dd1d
        return state ^ (state >> 29)
    }
}
