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
}
