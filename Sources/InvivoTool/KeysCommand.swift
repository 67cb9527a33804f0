import ArgumentParser
import Glibc
import Invivo

/// `invivo keys APP.yaml`: a typed function for each key.
struct KeysCommand: ParsableCommand {
    enum Language: String, ExpressibleByArgument, CaseIterable {
        case c, swift, python
    }

    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "keys", abstract: "Write a typed function for each key of a manifest: for C, Swift or Python.",
            discussion: """
                Loads the modules to find the keys, and creates no objects. The functions resolve their keys, with names, \
                arguments and results checked by the compiler (by mypy in Python). A file that is up to date is not written.
                """)
    }

    @Argument(help: ArgumentHelp("The application's manifest.", valueName: "APP.yaml"))
    var manifest: String

    @Option(help: "c, swift or python; by default from the file's extension, or c.")
    var language: Language?

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
        guard language != nil || chosen != nil else {
            throw ValidationError(
                "'\(output ?? "")' does not say which language: name it .h, .c, .hpp, .swift, .py or .pyi, or add --language"
            )
        }
    }

    func run() throws {
        let messages = Output()
        let findings = Findings(output: messages, asJson: json)
        do {
            if try Application.needsPython(manifest) { throw Python.run(arguments, for: manifest) }
            var options = Runtime.Options.application
            options.allowsForeignFiles = foreignFiles
            options.environmentPrefix = environmentPrefix
            let text = try Application.check(manifest, options, waiting: wait, as: format)
            guard let output, check else { return try messages.write(text, to: output) }
            guard messages.has(text, in: output) else {
                throw findings.report(outdated: output, "write it with 'invivo keys \(manifest) --output \(output)'")
            }
            findings.report()
        } catch let error as InvivoError { throw findings.report(error) }
    }

    private var chosen: Language? {
        if let language { return language }
        return switch output.map(fileEnding) {
        case "swift": .swift
        case "py", "pyi": .python
        case nil, "", "h", "c", "hpp", "hh", "cpp": .c
        default: nil
        }
    }

    private var format: WiringGraph.Format {
        switch chosen ?? .c {
        case .c: .keysC
        case .swift: .keysSwift
        case .python: .keysPython
        }
    }

    private var arguments: [String] {
        ["keys", manifest, "--language", (chosen ?? .c).rawValue] + (output.map { ["--output", $0] } ?? [])
            + (check ? ["--check"] : []) + (json ? ["--json"] : []) + (wait ? ["--wait"] : [])
            + (foreignFiles ? ["--foreign-files"] : [])
            + environmentArguments(environmentPrefix)
    }
}

/// The extension of a file name, without the dot; empty without one.
func fileEnding(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? ""
}

extension Output {
    /// Whether a file has exactly this content.
    func has(_ text: String, in path: String) -> Bool {
        guard let file = fopen(path, "r") else { return false }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: text.utf8.count + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        return bytes.prefix(count).elementsEqual(text.utf8)
    }

    /// Writes a file unless it has this content already, so that watchers and builds are not triggered.
    func write(_ text: String, to path: String?) throws(InvivoError) {
        guard let path else { return print(text, terminator: "") }
        guard !has(text, in: path) else { return }
        guard let file = fopen(path, "w") else { throw .system("\(path) cannot be written") }
        let isWhole = fputs(text, file) >= 0
        guard fclose(file) == 0, isWhole else { throw .system("\(path) cannot be written") }
    }
}
