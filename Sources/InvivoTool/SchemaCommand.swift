import ArgumentParser
import Invivo

/// `invivo schema APP.yaml`: the JSON Schema of the spec files of an application.
struct SchemaCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "schema",
            abstract: "Write the JSON Schema of the spec files of a manifest, for editors and checks.",
            discussion: """
                Creates no object: the modules are loaded, and register their types. An editor that knows JSON Schema then \
                completes and checks keys, properties, trait types, settings and choices. A file that has this content \
                already is not written.
                """)
    }

    @Argument(help: ArgumentHelp("The application's manifest.", valueName: "APP.yaml"))
    var manifest: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write; standard output without it.", valueName: "FILE"))
    var output: String?

    @Flag(help: "Write nothing: end with status 1 if the file of --output is missing or out of date.")
    var check = false

    @Flag(help: "With --check: write the errors as JSON to standard output, as 'invivo check --json' does.")
    var json = false

    @Flag(help: "Read no spec files: they may be missing or wrong.")
    var wait = false

    @Flag(help: "Load modules and manifests that other users own or can write.")
    var foreignFiles = false

    @Option(
        help: ArgumentHelp("The prefix of environment variables that set configuration values.", valueName: "prefix"))
    var environmentPrefix: String?

    func validate() throws {
        guard !check || output != nil else { throw ValidationError("--check needs --output: the file to compare") }
        guard !json || check else { throw ValidationError("--json needs --check: the output is the file otherwise") }
    }

    func run() throws {
        let messages = Output()
        let findings = Findings(output: messages, asJson: json)
        do {
            if try Application.needsPython(manifest) { throw Python.run(arguments, for: manifest) }
            var options = Runtime.Options.application
            options.allowsForeignFiles = foreignFiles
            options.environmentPrefix = environmentPrefix
            let text = try Application.check(manifest, options, waiting: wait, as: .schema)
            guard let output, check else { return try messages.write(text, to: output) }
            guard messages.has(text, in: output) else {
                throw findings.report(outdated: output, "write it with 'invivo schema \(manifest) --output \(output)'")
            }
            findings.report()
        } catch let error as InvivoError { throw findings.report(error) }
    }

    private var arguments: [String] {
        ["schema", manifest] + (output.map { ["--output", $0] } ?? []) + (check ? ["--check"] : [])
            + (wait ? ["--wait"] : []) + (foreignFiles ? ["--foreign-files"] : [])
            + environmentArguments(environmentPrefix)
    }
}
