import ArgumentParser
import Invivo

@main
struct InvivoCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "invivo", abstract: "Runs applications whose wiring, tuning and code change while they live.",
            version: Runtime.version,
            subcommands: [RunCommand.self, CheckCommand.self, GraphCommand.self, KeysCommand.self, SchemaCommand.self])
    }
}
