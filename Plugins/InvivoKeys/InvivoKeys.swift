import Foundation
import PackagePlugin

/// Writes the typed functions for the keys of each manifest `NAME.invivo.yaml` of a target, and adds the file to the target.
@main
struct InvivoKeys: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let target = target as? SourceModuleTarget else { return [] }
        let tool = try Self.tool(context)
        let files = target.sourceFiles.map(\.url)
        // The module of a manifest is often a file beside it.
        let modules = files.filter { ["so", "dylib"].contains($0.pathExtension) }
        return files.filter { $0.lastPathComponent.hasSuffix(".invivo.yaml") }.map { manifest in
            let name = manifest.lastPathComponent.dropLast(".invivo.yaml".count)
            let output = context.pluginWorkDirectoryURL.appending(path: "\(name)Keys.swift")
            return .buildCommand(
                displayName: "Writing the keys of \(manifest.lastPathComponent)", executable: tool,
                arguments: ["keys", manifest.path, "--wait", "--language", "swift", "--output", output.path],
                inputFiles: [manifest] + modules, outputFiles: [output])
        }
    }

    /// The tool: an installed one that the environment names, or that of the package.
    private static func tool(_ context: PluginContext) throws -> URL {
        if let path = ProcessInfo.processInfo.environment["INVIVO_TOOL"] { return URL(fileURLWithPath: path) }
        return try context.tool(named: "InvivoTool").url
    }
}
