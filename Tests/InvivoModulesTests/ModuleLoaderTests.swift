import CInvivo
import Glibc
import InvivoBase
import Testing

@testable import InvivoModules

struct ModuleLoaderTests {
    private func refusal(of path: String) -> Failure? {
        do {
            _ = try ModuleLoader().load(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func aModulesEntryRunsWithTheTableItIsHanded() throws {
        let workshop = try Workshop()
        let path = try workshop.module(status: 7)
        let module = try ModuleLoader().load(path: path)
        #expect(module.name == "small")
        #expect(module.path == path)
        #expect(module.entry(nil, invivo_runtime(), nil) == INVIVO_E_ARGUMENT)
        var table = invivo_table()
        table.struct_size = MemoryLayout<invivo_table>.size
        table.abi_version = UInt32(INVIVO_ABI_VERSION)
        // The table outlives the module's code, as the library's own does.
        let kept = UnsafeMutablePointer<invivo_table>.allocate(capacity: 1)
        kept.initialize(to: table)
        #expect(module.entry(kept, invivo_runtime(), nil) == 7)
        kept.pointee.abi_version += 1
        #expect(module.entry(kept, invivo_runtime(), nil) == INVIVO_E_VERSION)
    }

    @Test func aRebuiltFileOfTheSameNameIsLoadedAgain() throws {
        let workshop = try Workshop()
        let loader = ModuleLoader()
        let table = UnsafeMutablePointer<invivo_table>.allocate(capacity: 1)
        table.initialize(to: invivo_table())
        table.pointee.struct_size = MemoryLayout<invivo_table>.size
        table.pointee.abi_version = UInt32(INVIVO_ABI_VERSION)
        for status in 1...3 {
            let module = try loader.load(path: workshop.module(status: status))
            #expect(module.entry(table, invivo_runtime(), nil) == status)
        }
    }

    @Test func aModuleSharesNoSymbolWithAnother() throws {
        let workshop = try Workshop()
        let loader = ModuleLoader()
        _ = try loader.load(path: workshop.module("first"))
        #expect(dlsym(nil, "invivo_module_entry") == nil)
        _ = try loader.load(path: workshop.module("second"))
    }

    @Test func thePrivateCopyIsForThisUserAloneAndGoesWithTheLoader() throws {
        let workshop = try Workshop()
        let before = Set(copies())
        var loader: ModuleLoader? = ModuleLoader()
        _ = try loader?.load(path: workshop.module())
        let made = Set(copies()).subtracting(before)
        #expect(!made.isEmpty)
        for directory in made {
            var status = stat()
            #expect(stat(directory, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o700)
        }
        loader = nil
        #expect(Set(copies()).intersection(made).isEmpty)
    }

    @Test func copiesThatAKilledProcessLeftAreRemovedAndThoseOfALivingOneAreNot() throws {
        let workshop = try Workshop()
        let abandoned = workshop.path("invivo-modules-1-abcdef")
        let used = workshop.path("invivo-modules-1-ghijkl")
        let other = workshop.path("other-1-abcdef")
        for directory in [abandoned, used, other] {
            #expect(mkdir(directory, 0o700) == 0)
            try Workshop.write("ELF".utf8, to: "\(directory)/module.1.so")
        }
        let lock = open(used, O_RDONLY | O_DIRECTORY)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        PrivateDirectory.sweep(workshop.directory)
        #expect(Workshop.list(workshop.directory).sorted() == ["invivo-modules-1-ghijkl", "other-1-abcdef"])
        close(lock)
        PrivateDirectory.sweep(workshop.directory)
        #expect(Workshop.list(workshop.directory) == ["other-1-abcdef"])
        unlink("\(other)/module.1.so")
        rmdir(other)
    }

    private func copies() -> [String] {
        Workshop.list(Workshop.temporary).filter { $0.hasPrefix("invivo-modules-\(getpid())-") }.map {
            "\(Workshop.temporary)/\($0)"
        }
    }

    @Test func aMissingFileADirectoryAFIFOAndADeviceAreRefusedAtOnce() throws {
        let workshop = try Workshop()
        let gone = workshop.path("gone.so")
        #expect(refusal(of: gone)?.text == "\(gone): module \(gone) cannot be read: No such file or directory")
        #expect(
            refusal(of: workshop.directory)?.message.contains("is a directory; a shared library is expected") == true)
        let fifo = workshop.path("fifo.so")
        #expect(mkfifo(fifo, 0o600) == 0)
        #expect(refusal(of: fifo)?.message == "module \(fifo) is a FIFO; a shared library is expected")
        #expect(refusal(of: "/dev/null")?.code == .file)
        let dangling = workshop.path("dangling.so")
        #expect(symlink(gone, dangling) == 0)
        #expect(refusal(of: dangling)?.code == .file)
    }

    @Test func textAnEmptyFileAndAProgramAreNoModules() throws {
        let workshop = try Workshop()
        let text = workshop.path("text.so")
        try Workshop.write("int main(void) { return 0; }\n".utf8, to: text)
        #expect(
            refusal(of: text)?.message == "module \(text) is no shared library: it does not begin as an ELF file does")
        let empty = workshop.path("empty.so")
        try Workshop.write([], to: empty)
        #expect(refusal(of: empty)?.message == "module \(empty) is empty")
        let program = try workshop.library(
            "program", "int main(void) { return 0; }", stubs: false, flags: ["-no-pie", "-fno-pic"], shared: false)
        #expect(refusal(of: program)?.message.contains("but no shared library") == true)
    }

    @Test func aHalfCopiedModuleNeverReachesTheDynamicLinker() throws {
        let workshop = try Workshop()
        let whole = try Workshop.bytes(workshop.module())
        let half = workshop.path("half.so")
        for part in 1...9 {
            try Workshop.write(whole[..<(whole.count * part / 10)], to: half)
            #expect(
                refusal(of: half)?.message == "module \(half) is cut off or still being written: a table of it "
                    + "lies outside the file")
        }
    }

    @Test func theErrorForALibraryWithoutTheNoteNamesTheStubLibrary() throws {
        let workshop = try Workshop()
        let path = try workshop.library("plain", "int plain;", stubs: false)
        let failure = try #require(refusal(of: path))
        #expect(failure.code == .module)
        #expect(failure.message.contains("carries no Invivo note. Link it with the stub library"))
    }

    @Test func aModuleOfAnotherVersionIsRefusedBeforeItRuns() throws {
        let workshop = try Workshop()
        let path = try workshop.library(
            "newer",
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void run(void) { abort(); }
            __attribute__((used, section(".note.invivo"), aligned(4)))
            static const struct { unsigned a, b, c; char name[8]; unsigned version; } note = {7, 4, 1, "Invivo", 2};
            """, stubs: false)
        let failure = try #require(refusal(of: path))
        #expect(failure.code == .version)
        #expect(failure.message.contains("is built for version 2 of the module interface; this runtime has version 1"))
    }

    @Test func aModuleWithoutAnEntryIsRefusedBeforeItRuns() throws {
        let workshop = try Workshop()
        let path = try workshop.library(
            "entryless",
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void run(void) { abort(); }
            """)
        #expect(refusal(of: path)?.message.contains("exports no invivo_module_entry") == true)
    }

    @Test func aModuleThatLinksTheLibraryItselfIsRefused() throws {
        let workshop = try Workshop()
        _ = try workshop.library("invivo", "int engine;", stubs: false, flags: ["-Wl,-soname,libinvivo.so.0"])
        let path = try workshop.module("second", flags: ["-Wl,--no-as-needed", "-L\(workshop.directory)", "-linvivo"])
        #expect(refusal(of: path)?.message.contains("links libinvivo.so.0, a second copy of the runtime") == true)
    }

    @Test func missingSymbolsNameTheOriginalFile() throws {
        let workshop = try Workshop()
        let path = try workshop.library(
            "lacking",
            """
            #include <invivo/invivo.h>
            int nowhere(void);
            INVIVO_MODULE(runtime, error) { (void)runtime, (void)error; return nowhere(); }
            """)
        let message = try #require(refusal(of: path)).message
        #expect(message == "module \(path) cannot be loaded: \(path): undefined symbol: nowhere")
    }
}
