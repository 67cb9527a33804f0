import ArgumentParser
import Invivo

@main
struct InvivoCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "invivo", abstract: "Runs and checks applications that change while they run.",
            discussion: """
                The status is 0 after success, 1 if a file is out of date (--check of keys and schema), 2 if the application has \
                errors, and 64 for wrong arguments.
                """,
            version: Runtime.version,
            subcommands: [RunCommand.self, CheckCommand.self, GraphCommand.self, KeysCommand.self, SchemaCommand.self])
    }

    /// All errors of the tool begin with a source location, or with its name.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error as InvivoError {
            Output().problem(error)
            exit(withError: ExitCode(2))
        } catch {
            let text = fullMessage(for: error)
            let prefix = "Error: "
            guard text.hasPrefix(prefix) else { exit(withError: error) }
            Output().problem("invivo: error: " + text.dropFirst(prefix.count))
            exit(withError: exitCode(for: error))
        }
    }
}
