import ArgumentParser
import Invivo

/// `invivo check APP.yaml`: everything that starting it would find wrong, without making anything.
struct CheckCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "check",
            abstract: "Report all errors and warnings of a manifest and its documents, without creating objects.",
            discussion: """
                Loads the modules and calls the functions that register their types, and the rules and checks that these \
                functions add. Modules are code: check a manifest of unknown origin with --no-modules. Prints every error, errors of \
                the wiring with their rule in brackets, and every warning. The status is 2 if there are errors, and 0 otherwise: \
                warnings do not change it. A configuration value \
                that nothing reads, and whose name is similar to that of one that is read, is an error; --unread lists all other \
                values that nothing reads. --json writes one object to standard output instead: {"version": 1, "errors": [...]}, \
                where each error has the members file, line, column, path, code, rule and message, null if there is none; \
                "warnings", each with file, line, column and message; and "unread", with --unread.
                """)
    }

    @Argument(help: ArgumentHelp("The application's manifest.", valueName: "APP.yaml"))
    var manifest: String

    @Flag(help: "Check the wiring alone: the documents may be missing or wrong.")
    var wait = false

    @Flag(
        help:
            "Load no module: check the form of the manifest, of its documents and of the files that they include alone."
    )
    var noModules = false

    @Flag(help: "Load modules and manifests that other users own or can write.")
    var foreignFiles = false

    @Option(
        help: ArgumentHelp("The prefix of environment variables that set configuration values.", valueName: "prefix"))
    var environmentPrefix: String?

    @Flag(help: "List the unused values of the configuration.")
    var unread = false

    @Flag(help: "Write the errors and warnings as JSON to standard output.")
    var json = false

    func validate() throws {
        guard !unread || !wait && !noModules else {
            throw ValidationError(
                "--unread needs the modules and the documents: it cannot be combined with --wait or --no-modules")
        }
    }

    func run() throws {
        let output = Output()
        let findings = Findings(output: output, asJson: json, warnings: Warnings())
        let unreadValues: String
        do throws(InvivoError) {
            let needsPython = try Application.needsPython(manifest)
            if needsPython && !noModules {
                throw Python.run(
                    ["check", manifest] + (wait ? ["--wait"] : []) + (foreignFiles ? ["--foreign-files"] : [])
                        + environmentArguments(environmentPrefix)
                        + (unread ? ["--unread"] : []) + (json ? ["--json"] : []),
                    for: manifest)
            }
            var options = Runtime.Options.application
            options.allowsForeignFiles = foreignFiles
            options.environmentPrefix = environmentPrefix
            options.logLevel = .warning
            options.log = { findings.report($0) }
            let text = try Application.check(
                manifest, options, waiting: wait, withoutModules: noModules, as: unread ? .unread : .json)
            unreadValues = unread ? text : ""
        } catch { throw findings.report(error) }
        let lines = unreadValues.split(separator: "\n")
        let verdict =
            noModules
            ? "\(manifest): its form is OK; types, properties and traits were not checked (--no-modules)"
            : "\(manifest): OK"
        findings.report(
            success: lines.map { "\($0) is not read by anything" } + [verdict],
            unread: unread ? lines.map(UnreadValue.init) : nil)
    }
}
