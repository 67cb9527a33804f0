import ArgumentParser
import Glibc
import Invivo

/// `invivo run APP.yaml`: lives until SIGINT, SIGTERM or SIGHUP, and prints a line for each reload.
struct RunCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "run", abstract: "Run the application of a manifest, and apply every edit of its spec files.",
            discussion: """
                Prints one line for each reload. Edits of the manifest and of its modules take effect at the next start. A \
                broken edit changes nothing; where and why is printed to standard error.
                Ends with SIGINT, SIGTERM or SIGHUP, and stops what it has started (status 0); a second one ends it at once \
                (status 128 + its number, so 130 for Ctrl-C). A SIGHUP that is ignored from the start, as below nohup, stays \
                ignored. A manifest or document that is wrong at the start prints every error and ends with status 2.
                """)
    }

    @Argument(help: ArgumentHelp("The application's manifest.", valueName: "APP.yaml"))
    var manifest: String

    @Flag(help: "Accept missing or invalid spec files at the start; each applies as soon as it is valid.")
    var wait = false

    @Option(help: ArgumentHelp("The least level that is logged, to standard error.", valueName: "level"))
    var logLevel: LogLevelName = .warning

    @Flag(help: "Run modules and manifests that other users own or can write.")
    var foreignFiles = false

    @Option(
        help: ArgumentHelp("The prefix of environment variables that set configuration values.", valueName: "prefix"))
    var environmentPrefix: String?

    func run() throws {
        let output = Output()
        let signals = StopSignals()
        guard let application = try open(output, signals) else { return output.line("ending on a signal") }
        // Closed with the application, so that the line of a reload that is under way then is printed too.
        let observer = try application.runtime.observe { output.reload($0) }
        defer { withExtendedLifetime(observer) {} }
        output.line("running \(manifest), generation \(try application.runtime.info.generation); end with Ctrl-C")
        if try application.runtime.info.objects == 0 {
            output.problem(
                "invivo: warning: nothing is created: only components with 'scope: singleton', and their dependencies, are created at the start"
            )
        }
        let signal = signals.await()
        output.line("ending on \(signal)")
        try application.close()
    }

    /// Starts the application; with `--wait`, repeatedly until it succeeds. nil after a signal.
    private func open(_ output: Output, _ signals: StopSignals) throws -> Application? {
        var options = Runtime.Options.application
        options.logLevel = logLevel.level
        options.allowsForeignFiles = foreignFiles
        options.environmentPrefix = environmentPrefix
        options.log = { output.log($0) }
        var reported: InvivoError?
        while true {
            do throws(InvivoError) {
                if try Application.needsPython(manifest) { throw handOver(signals) }
                let application = try Application(manifest, options, waiting: wait)
                output.started(true)
                return application
            } catch {
                output.started(false)
                if error != reported { output.problem(error) }
                guard wait else { throw ExitCode(2) }
                if reported == nil { output.problem("invivo: waiting until the file is corrected") }
                reported = error
            }
            if signals.came(within: .milliseconds(250)) { return nil }
        }
    }

    /// Replaces this process by `python3 -m invivo run`. Returns only on failure, with the error.
    private func handOver(_ signals: StopSignals) -> InvivoError {
        let arguments =
            ["run", manifest, "--log-level", logLevel.rawValue] + (wait ? ["--wait"] : [])
            + (foreignFiles ? ["--foreign-files"] : []) + environmentArguments(environmentPrefix)
        return signals.unblocked { Python.run(arguments, for: manifest) }
    }
}

/// The values of `--log-level`: names instead of the numbers of `LogLevel`, for the help.
enum LogLevelName: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, warning, error, silent

    var level: LogLevel {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        case .silent: .silent
        }
    }
}
