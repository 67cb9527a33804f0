import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

extension LoopRoom {
    /// Each way of saving takes effect, each content once, and following continues.
    @Suite struct SavingTests {
        struct Way: Sendable, CustomTestStringConvertible {
            let name: String
            var program: String?
            /// Whether the file is closed empty before it is written.
            var hasGap = false
            /// Saves `text` (which needs no quoting) at `path`, in its own directory.
            let save: @Sendable (_ text: String, _ path: String) -> Void
            var testDescription: String { name }
        }

        static let ways: [Way] = [
            Way(name: "in place") { put($0, $1, flags: O_WRONLY | O_TRUNC) },
            Way(name: "in place without truncation") { put($0, $1, flags: O_WRONLY) },
            Way(name: "truncated, then written") { text, path in
                let descriptor = open(path, O_WRONLY)
                ftruncate(descriptor, 0)
                usleep(20_000)  // a slow editor
                append(String(text.prefix(2)), descriptor)
                usleep(20_000)
                append(String(text.dropFirst(2)), descriptor)
                close(descriptor)
            },
            Way(name: "truncated and closed, then written", hasGap: true) { text, path in
                put("", path)
                put(text, path)
            },
            Way(name: "temporary file and rename") { text, path in
                put(text, path + ".tmp")
                rename(path + ".tmp", path)
            },
            Way(name: "backup, rename, create") { text, path in
                rename(path, path + "~")
                put(text, path)
                unlink(path + "~")
            },
            Way(name: "backup by link, then rename") { text, path in
                link(path, path + "~")
                put(text, path + ".new")
                rename(path + ".new", path)
                unlink(path + "~")
            },
            Way(name: "made elsewhere and linked") { text, path in
                put(text, path + ".new")
                unlink(path)
                link(path + ".new", path)
                unlink(path + ".new")
            },
            Way(name: "deleted and made again later") { text, path in
                unlink(path)
                usleep(400_000)
                put(text, path)
            },
            Way(name: "the directory moved away and back") { text, path in
                let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
                rename(directory, directory + ".away")
                put(text, directory + ".away/" + path.dropFirst(directory.count + 1))
                rename(directory + ".away", directory)
            },
            Way(name: "the directory deleted and made again") { text, path in
                let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
                unlink(path)
                rmdir(directory)
                mkdir(directory, 0o755)
                put(text, path)
            },
            Way(name: "the directory switched for another") { text, path in
                let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
                mkdir(directory + ".new", 0o755)
                put(text, directory + ".new/" + path.dropFirst(directory.count + 1))
                shell("rm -rf \(directory).old; mv \(directory) \(directory).old; mv \(directory).new \(directory)")
            },
            Way(name: "mapped memory") { text, path in
                let descriptor = open(path, O_RDWR)
                ftruncate(descriptor, off_t(text.utf8.count))
                let memory = mmap(nil, text.utf8.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                if let memory {
                    _ = text.withCString { memcpy(memory, $0, text.utf8.count) }
                    munmap(memory, text.utf8.count)
                }
                close(descriptor)
            },
            Way(name: "sed -i", program: "sed") { shell("sed -i 's/.*/\($0)/' \($1)") },
            Way(name: "cp", program: "cp") { shell("printf %s \($0) > \($1).new; cp \($1).new \($1)") },
            Way(name: "cp --remove-destination", program: "cp") {
                shell("printf %s \($0) > \($1).new; cp --remove-destination \($1).new \($1)")
            },
            Way(name: "mv", program: "mv") { shell("printf %s \($0) > \($1).new; mv \($1).new \($1)") },
            Way(name: "ln -sfn", program: "ln") { shell("printf %s \($0) > \($1).\($0); ln -sfn \($1).\($0) \($1)") },
            Way(name: "vim", program: "vim") { shell("vim -u NONE -es -c '%s/.*/\($0)/' -c wq \($1)") },
            Way(name: "vim with a backup", program: "vim") {
                shell("vim -u NONE -es -c 'set backup backupcopy=no' -c '%s/.*/\($0)/' -c wq \($1)")
            },
            Way(name: "git checkout", program: "git") { text, path in
                let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
                let name = path.dropFirst(directory.count + 1)
                // Another clone commits the new text, so that only the checkout touches the followed file.
                shell(
                    """
                    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
                    [ -d .git ] || { git init -q . && git add \(name) && git commit -qm 0; }
                    rm -rf ../clone && git clone -q . ../clone && cd ../clone && printf %s \(text) > \(name) &&
                    git commit -qam 1 && cd - && git fetch -q ../clone && git checkout -qf FETCH_HEAD
                    """, in: directory)
            },
        ]

        @Test(arguments: ways, [10, 0] as [UInt64])
        func takes_effect_once_and_following_goes_on(_ way: Way, quiet: UInt64) throws {
            if let program = way.program, !has(program) {
                Issue.record("\(program) is not here: '\(way.name)' was not tried", severity: .warning)
                return
            }
            let following = try Following(quiet: quiet)
            mkdir(following.path("config"), 0o755)
            put("zero", following.path("config/tuning.yaml"))
            let id = try following.follow("config/tuning.yaml")
            for text in ["three", "seven", "eight"] {
                way.save(text, following.path("config/tuning.yaml"))
                #expect(following.sees(text, of: id))
            }
            following.settleDown()
            let seen = following.contents(id)
            if quiet == 0 || way.hasGap {
                // Without quiet time, or on a busier machine, a file that is written in two steps may be seen empty
                // between them.
                #expect(seen.filter { !$0.isEmpty } == ["zero", "three", "seven", "eight"])
            } else {
                #expect(seen == ["zero", "three", "seven", "eight"])
            }
            #expect(following.heard.value.troubles.allSatisfy { $0.code == .notFound })
        }

        @Test(arguments: [10, 0] as [UInt64])
        func a_switched_link_of_a_directory_takes_effect(quiet: UInt64) throws {
            let following = try Following(quiet: quiet)
            // As Kubernetes mounts a volume: file -> ..data/file, ..data -> ..version.
            func version(_ text: String) {
                mkdir(following.path("..\(text)"), 0o755)
                put(text, following.path("..\(text)/tuning.yaml"))
            }
            version("zero")
            symlink("..zero", following.path("..data"))
            symlink("..data/tuning.yaml", following.path("tuning.yaml"))
            let id = try following.follow("tuning.yaml")
            var former = "zero"
            for text in ["first", "second", "third"] {
                version(text)
                symlink("..\(text)", following.path("..data_tmp"))
                rename(following.path("..data_tmp"), following.path("..data"))
                shell("rm -rf \(following.path("..\(former)"))")
                #expect(following.sees(text, of: id))
                former = text
            }
            // An edit of the file behind the links.
            put("fourth", following.path("..third/tuning.yaml"))
            #expect(following.sees("fourth", of: id))
            following.settleDown()
            #expect(following.contents(id) == ["zero", "first", "second", "third", "fourth"])
        }

        @Test func a_file_that_was_not_there_takes_effect_when_its_directories_come() throws {
            let following = try Following()
            let id = try following.follow("a/b/c/tuning.yaml")
            shell("mkdir -p \(following.path("a/b/c")) && printf here > \(following.path("a/b/c/tuning.yaml"))")
            #expect(following.sees("here", of: id))
            shell("rm -rf \(following.path("a"))")
            #expect(following.heard.wait { $0.troubles.map(\.code) == [.notFound] })
            shell("mkdir -p \(following.path("a/b/c")) && printf again > \(following.path("a/b/c/tuning.yaml"))")
            #expect(following.sees("again", of: id))
        }

        @Test func relative_paths_with_dots_and_links_are_followed() throws {
            let following = try Following()
            mkdir(following.path("real"), 0o755)
            mkdir(following.path("real/deep"), 0o755)
            symlink("real/deep", following.path("link"))
            put("zero", following.path("real/tuning.yaml"))
            // "link/.." is the parent of the link's target.
            let id = try following.follow("./link/../tuning.yaml")
            put("first", following.path("real/tuning.yaml"))
            #expect(following.sees("first", of: id))
        }
    }
}
