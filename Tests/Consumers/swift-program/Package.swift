// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "program",
    dependencies: [.package(name: "invivo", path: Context.environment["INVIVO_PACKAGE"] ?? "../../..")],
    targets: [
        .executableTarget(
            name: "program", dependencies: [.product(name: "Invivo", package: "invivo")],
            // Writes the keys of app.invivo.yaml, whose module must be beside it.
            plugins: [.plugin(name: "InvivoKeys", package: "invivo")])
    ]
)
