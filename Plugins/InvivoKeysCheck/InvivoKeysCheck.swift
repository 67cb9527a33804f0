import Foundation
import PackagePlugin

/// `swift package check-invivo-keys MANIFEST FILE`: fails if a file of keys is missing or out of date.
@main
struct InvivoKeysCheck: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        guard arguments.count >= 2, !arguments[0].hasPrefix("-") else {
            throw Refusal(
                text:
                    "expected a manifest and the file of its keys: swift package check-invivo-keys app.yaml Sources/App/Keys.swift"
            )
        }
        let process = Process()
        process.executableURL = try Self.tool(context)
        process.arguments = ["keys", arguments[0], "--check", "--output", arguments[1]] + arguments.dropFirst(2)
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Refusal(text: "the keys were not checked, or are out of date")
        }
    }

    /// The tool: an installed one that the environment names, or that of the package.
    private static func tool(_ context: PluginContext) throws -> URL {
        if let path = ProcessInfo.processInfo.environment["INVIVO_TOOL"] { return URL(fileURLWithPath: path) }
        return try context.tool(named: "InvivoTool").url
    }
}

struct Refusal: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
