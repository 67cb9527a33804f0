import ArgumentParser
import Glibc
import Invivo

/// `invivo run APP.yaml`: lives until SIGINT or SIGTERM, and prints a line for each reload.
struct RunCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "run", abstract: "Run what a manifest describes, and apply every edit of its documents.",
            discussion: """
                Prints one line for each reload. A broken edit prints where and why, and changes nothing.
                Ends with SIGINT or SIGTERM (status 0); a second one ends it at once (status 128 + its number, so 130 for \
                Ctrl-C). A manifest or document that is wrong at the start prints every error and ends with status 2.
                """)
    }

    @Argument(help: ArgumentHelp("The application's manifest.", valueName: "APP.yaml"))
    var manifest: String

    @Flag(help: "Wait for good documents instead of ending when one is missing or wrong at the start.")
    var wait = false

    @Option(help: "The least level that is logged, to standard error: trace, debug, info, warning, error or silent.")
    var logLevel: LogLevel = .warning

    @Flag(help: "Run modules and manifests that other users own or can write.")
    var foreignFiles = false

    func run() throws {
        let output = Output()
        let signals = StopSignals()
        guard let application = try open(output, signals) else { return output.line("ending on a signal") }
        // Closed with the application, so that the line of a reload that is under way then is printed too.
        let observer = try application.runtime.observe { output.reload($0) }
        defer { withExtendedLifetime(observer) {} }
        output.line("running \(manifest), generation \(try application.runtime.info.generation); end with Ctrl-C")
        let signal = signals.await()
        output.line("ending on \(signal)")
        try application.close()
    }

    /// Starts the application; with `--wait`, as often as it takes. nil when a signal came first.
    private func open(_ output: Output, _ signals: StopSignals) throws -> Application? {
        var options = Runtime.Options.application
        options.logLevel = logLevel
        options.allowsForeignFiles = foreignFiles
        options.log = { output.log($0) }
        var told: InvivoError?
        while true {
            do throws(InvivoError) {
                if try Application.needsPython(manifest) { throw handOver(signals) }
                let application = try Application(manifest, options, waiting: wait)
                output.started(true)
                return application
            } catch {
                output.started(false)
                if error != told { output.problem(error) }
                guard wait else { throw ExitCode(2) }
                if told == nil { output.problem("invivo: waiting for it to be mended") }
                told = error
            }
            if signals.came(within: .milliseconds(250)) { return nil }
        }
    }

    /// Becomes `python3 -m invivo run`; answers why it could not.
    private func handOver(_ signals: StopSignals) -> InvivoError {
        let arguments =
            ["run", manifest, "--log-level", "\(logLevel)"] + (wait ? ["--wait"] : [])
            + (foreignFiles ? ["--foreign-files"] : [])
        return signals.unblocked { Python.run(arguments, for: manifest) }
    }
}

extension LogLevel: ExpressibleByArgument {
    public init?(argument: String) {
        guard let level = LogLevel.allCases.first(where: { "\($0)" == argument }) else { return nil }
        self = level
    }

    public static var allValueStrings: [String] { allCases.map { "\($0)" } }
}
