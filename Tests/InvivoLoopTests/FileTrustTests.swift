import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

extension LoopRoom {
    /// Detects files that other users can change and that are loaded as code.
    @Suite struct FileTrustTests {
        let workshop = Workshop()
        private var file: String { workshop.path("module.so") }
        private func weakness(user: uid_t = geteuid()) -> String? { FileTrust.weakness(file, user: user) }

        @Test func what_only_this_user_can_write_is_safe_also_in_a_sticky_directory() {
            put("", file)
            #expect(weakness() == nil)
            // The workshop is in /tmp, which everyone can write; other users cannot replace this user's files there.
            chmod(workshop.directory, 0o1777)
            #expect(weakness() == nil)
        }

        @Test func what_a_group_or_everybody_can_write_is_named() {
            put("", file)
            chmod(file, 0o664)
            #expect(weakness() == "it can be written by its group (mode 664)")
            chmod(file, 0o646)
            #expect(weakness() == "it can be written by everybody (mode 646)")
            chmod(file, 0o644)
            chmod(workshop.directory, 0o775)
            #expect(weakness() == "the directory \(workshop.directory) can be written by its group (mode 775)")
        }

        @Test func what_belongs_to_another_user_is_named() {
            put("", file)
            guard geteuid() == 0 else { return }
            chmod(workshop.directory, 0o755)
            chown(file, 12_345, 12_345)
            #expect(weakness() == "it belongs to the user 12345")
            #expect(weakness(user: 12_345) == nil)
            chmod(workshop.directory, 0o1777)
            #expect(weakness() == "the directory \(workshop.directory) can be written by everybody (mode 1777)")
        }

        @Test func a_link_is_followed_through_every_directory() {
            let other = Workshop()
            put("", other.path("module.so"))
            symlink(other.path("module.so"), file)
            #expect(weakness() == nil)
            chmod(other.directory, 0o777)
            #expect(weakness() == "the directory \(other.directory) can be written by everybody (mode 777)")
        }

        @Test func a_process_of_roots_refuses_and_the_error_names_what_permits_it() throws {
            put("", file)
            #expect(try FileTrust.check(FilePath(file), "module") == nil)
            chmod(file, 0o666)
            do throws(Failure) {
                let warning = try FileTrust.check(FilePath(file), "module")
                #expect(geteuid() != 0 && warning?.text.contains("INVIVO_RUNTIME_FOREIGN_FILES") == true)
            } catch {
                #expect(geteuid() == 0 && error.code == .file && error.text.contains("--foreign-files"))
            }
        }
    }
}
