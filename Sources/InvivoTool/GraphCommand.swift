import ArgumentParser
import Glibc
import Invivo

/// `invivo graph APP.yaml`: the wiring as a picture, or as data.
struct GraphCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case svg, dot, mermaid, json
    }

    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "graph", abstract: "Write the wiring of a manifest as SVG, DOT, Mermaid or JSON.",
            discussion: """
                Creates no objects without --live. With it, the application is started, and the graph shows the existing objects \
                and the time of their creation. SVG is drawn by the program dot of Graphviz, which has to be installed.
                """)
    }

    @Argument(help: ArgumentHelp("The application's manifest.", valueName: "APP.yaml"))
    var manifest: String

    @Option(help: "svg, dot, mermaid or json; by default from the file's extension, or dot.")
    var format: Format?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write; standard output without it.", valueName: "FILE"))
    var output: String?

    @Flag(help: "Start the application and show its live objects.")
    var live = false

    @Flag(help: "Read no spec files: they may be missing or wrong.")
    var wait = false

    @Flag(help: "Load modules and manifests that other users own or can write.")
    var foreignFiles = false

    @Option(
        help: ArgumentHelp("The prefix of environment variables that set configuration values.", valueName: "prefix"))
    var environmentPrefix: String?

    func validate() throws {
        guard !live || !wait else { throw ValidationError("--live starts the application: it does not go with --wait") }
        guard format != nil || formatOfName != nil else {
            throw ValidationError(
                "'\(output ?? "")' does not say which format: name it .svg, .dot, .gv, .mmd, .mermaid or .json, or add --format"
            )
        }
    }

    func run() throws {
        let messages = Output()
        do throws(InvivoError) {
            if try Application.needsPython(manifest) { throw Python.run(arguments, for: manifest) }
            let text = try text(chosen)
            if chosen == .svg { try Graphviz.svg(text, to: output) } else { try messages.write(text, to: output) }
        } catch {
            throw Findings(output: messages, asJson: false).report(error)
        }
    }

    private var chosen: Format { format ?? formatOfName ?? .dot }

    /// The format that the file name's extension stands for.
    private var formatOfName: Format? {
        switch output.map(fileEnding) {
        case nil, "", "gv": .dot
        case "mmd": .mermaid
        case let ending?: Format(rawValue: ending)
        }
    }

    private var arguments: [String] {
        ["graph", manifest, "--format", chosen.rawValue] + (output.map { ["--output", $0] } ?? [])
            + (live ? ["--live"] : []) + (wait ? ["--wait"] : []) + (foreignFiles ? ["--foreign-files"] : [])
            + environmentArguments(environmentPrefix)
    }

    private func text(_ format: Format) throws(InvivoError) -> String {
        let text: WiringGraph.Format =
            switch format {
            case .json: .json
            case .mermaid: .mermaid
            case .svg, .dot: .dot
            }
        var options = Runtime.Options.application
        options.allowsForeignFiles = foreignFiles
        options.environmentPrefix = environmentPrefix
        guard live else { return try Application.check(manifest, options, waiting: wait, as: text) }
        let application = try Application(manifest, options)
        do throws(InvivoError) {
            let drawn = try application.runtime.wiring(as: text)
            try application.close()
            return drawn
        } catch {
            try? application.close()
            throw error
        }
    }
}

/// The program `dot`, which draws graphs.
enum Graphviz {
    /// Draws a digraph, to a file or to standard output.
    static func svg(_ digraph: String, to output: String?) throws(InvivoError) {
        // A file without a name: what is written waits there, however much it is.
        guard let input = tmpfile() else { throw .system("a temporary file cannot be created") }
        defer { fclose(input) }
        guard fputs(digraph, input) >= 0, fflush(input) == 0, lseek(fileno(input), 0, SEEK_SET) == 0 else {
            throw .system("a temporary file cannot be written")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO)
        var child = pid_t()
        let arguments = ["dot", "-Tsvg"] + (output.map { ["-o", $0] } ?? [])
        let status = Python.withCStrings(arguments) { posix_spawnp(&child, "dot", &actions, nil, $0, environ) }
        guard status == 0 else {
            throw InvivoError(
                .system,
                "the program dot cannot be run: \(String(cString: strerror(status))); install Graphviz, or write --format dot, "
                    + "mermaid or json")
        }
        var result: Int32 = 0
        while waitpid(child, &result, 0) < 0 {
            guard errno == EINTR else { throw .system("the program dot was lost") }
        }
        guard result == 0 else { throw InvivoError(.system, "the program dot failed; see its messages above") }
    }
}

extension InvivoError {
    static func system(_ what: String) -> InvivoError {
        InvivoError(.system, "\(what): \(String(cString: strerror(errno)))")
    }
}
